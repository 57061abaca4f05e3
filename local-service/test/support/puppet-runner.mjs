// Stands in for Vitest's command: called with the same arguments, it does what the variable PUPPET (JSON) says and
// writes a report like the service's reporter in Vitest. So most tests of the service need no real runner.
import { appendFileSync, writeFileSync } from 'node:fs'

const {
  tellsArguments = false,
  tellsVariables = [],
  cases = tellsArguments
    ? process.argv.slice(2).map((argument) => [argument, 'PASSED'])
    : tellsVariables.length > 0
      ? tellsVariables.map((name) => [`${name}=${process.env[name]}`, 'PASSED'])
      : [['adds', 'PASSED']],
  report = 'whole',
  exitCode = 0,
  hangs = false,
  ignores = [],
  journal,
  dieBy,
} = JSON.parse(process.env.PUPPET ?? '{}')

const note = (event) => journal && appendFileSync(journal, `${JSON.stringify({ event, pid: process.pid })}\n`)
const reportFile = process.env.LOCAL_SERVICE_REPORT_FILE

function writeReport() {
  const file = `${process.cwd()}/a.test.ts`
  const tests = cases.map(([title, status]) => ({ file, path: ['puppet', title], status, durationMs: 3.4 }))
  const text = `${JSON.stringify({ event: 'finished', tests, files: [], errors: [] })}\n`
  if (report === 'whole') writeFileSync(reportFile, text)
}

for (const signal of ignores) process.on(signal, () => note(signal))
note('begins')
if (hangs) {
  if (report === 'whole') writeReport()
  setInterval(() => {}, 1000)
} else {
  writeReport()
  note('ends')
  if (dieBy !== undefined) process.kill(process.pid, dieBy)
  else process.exitCode = exitCode
}
