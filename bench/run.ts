// Measures what a step costs. `--write` puts the results into README.md beside this file. No test checks them.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { arch, availableParallelism, cpus, loadavg, platform, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import type { ScenarioOptions } from '../test/support/scenario.ts'
import { selfSignedCertificate } from '../test/support/self-signed-certificate.ts'
import { createProject, FRAMEWORKS, runShards, timeActions, timeByHand } from './local-service.ts'
import { observeStep, type StepUse, timeEmptyStep, timeStep } from './measured-step.ts'

const [STARTS, LARGE_RUNS, JOBS, HISTORY_FILES] = [25, 3, 9, 10]
const STATUSES = ['PASSED', 'PASSED', 'PASSED', 'FAILED', 'PASSED', 'PASSED', 'SKIPPED', 'PASSED', 'PASSED', 'PASSED']

type Row = readonly [what: string, goal: string, isReached: boolean, result: string]

const UNITS = { ms: [1, 0], s: [1_000, 2], MB: [1e6, 0] } as const

/** The value and its limit are milliseconds or bytes. */
function row(what: string, value: number, limit: number, unit: keyof typeof UNITS): Row {
  const [size, digits] = UNITS[unit]
  return [what, `≤ ${limit / size} ${unit}`, value <= limit, `${(value / size).toFixed(digits)} ${unit}`]
}

/** What a step costs without its run. The kinds of steps take turns, so that a busy moment of the machine affects all. */
async function startUp(folder: string): Promise<Row[]> {
  const tls = selfSignedCertificate()
  const authority = join(folder, 'authority.pem')
  writeFileSync(authority, tls.cert)
  const [empty, http, https, tails]: [number[], number[], number[], number[]] = [[], [], [], []]
  for (let round = 0; round < STARTS; round++) {
    empty.push(await timeEmptyStep(folder))
    http.push((await timeStep({})).startMs)
    const { startMs, tailMs } = await timeStep({ tls, env: { NODE_EXTRA_CA_CERTS: authority } })
    https.push(startMs)
    tails.push(tailMs)
  }
  const start = (service: string, sample: readonly number[], goal: number): Row => {
    const times = median(sample) / median(empty)
    const result = `${median(sample).toFixed(1)} ms, ${times.toFixed(2)} times`
    return [`Start-up, ${service}`, `≤ ${goal.toFixed(1)} times an empty script`, times <= goal, result]
  }
  return [
    ['An empty script, from its start to its end', '', true, `${median(empty).toFixed(1)} ms`],
    start('http, loopback', http, 1.7),
    start('https, test CA', https, 2.1),
    row('Tail: last poll to the end of the process', median(tails), 50, 'ms'),
  ]
}

function casesOf(length: number) {
  return Array.from({ length }, (_, index) => ({
    title: `shop ${index % 97} > checkout > pays for order ${index} with a saved card`,
    status: STATUSES[index % STATUSES.length],
    durationMs: (index * 37) % 5_000,
  }))
}

/** What a large response costs, from its arrival to the exit of the process, reports included. */
async function largeResponse(folder: string): Promise<Row[]> {
  const cases = casesOf(100_000)
  const uses = []
  for (let run = 0; run < LARGE_RUNS; run++) uses.push(await observeStep(folder, { script: { end: 'FAILED', cases } }))
  return [
    row('Processor time of 100,000 cases', median(uses.map((use) => use.cpuMs)), 1_000, 's'),
    row('Peak memory of 100,000 cases', Math.max(...uses.map((use) => use.peakBytes)), 500e6, 'MB'),
  ]
}

/** How much more a step uses with these options. The two kinds of steps take turns. */
async function moreUse(folder: string, runs: number, base: ScenarioOptions, added: ScenarioOptions) {
  const [without, withAdded]: [StepUse[], StepUse[]] = [[], []]
  for (let run = 0; run < runs; run++) {
    without.push(await observeStep(folder, base))
    withAdded.push(await observeStep(folder, { ...base, ...added }))
  }
  return (of: keyof StepUse) => median(withAdded.map((use) => use[of])) - median(without.map((use) => use[of]))
}

/** What 16 MiB of output cost, compared with the same run without output. */
async function longOutput(folder: string): Promise<Row[]> {
  const line = '\u001b[32m✓\u001b[39m e2e/pay.spec.ts > checkout > pays with a saved card \u001b[2m(1.2 s)\u001b[22m\n'
  const output = line.repeat(Math.floor((16 * 1024 * 1024) / Buffer.byteLength(line)))
  const more = await moreUse(folder, LARGE_RUNS, {}, { script: { output } })
  return [
    row('16 MiB of output, more processor time', more('totalCpuMs'), 3_000, 's'),
    row('16 MiB of output, more memory', more('peakBytes'), 150e6, 'MB'),
    row('16 MiB of output at once, later exit', more('endMs'), 10_000, 's'),
  ]
}

/** What a history of ten files with 10,000 cases each costs, compared with the same run without a baseline. */
async function history(folder: string): Promise<Row[]> {
  const baseline = join(folder, 'history')
  mkdirSync(baseline)
  const cases = casesOf(10_000)
  for (let day = 1; day <= HISTORY_FILES; day++) {
    const finishedAt = new Date(Date.UTC(2026, 0, day)).toISOString()
    const run = { status: 'FAILED', finishedAt, results: { testCases: cases } }
    writeFileSync(join(baseline, `${day}.json`), JSON.stringify(run))
  }
  const base = { script: { end: 'FAILED', cases } }
  const more = await moreUse(folder, JOBS, base, { inputs: { baseline } })
  return [
    row('Ten earlier runs of 10,000 cases, more processor time', more('totalCpuMs'), 300, 's'),
    row('Ten earlier runs of 10,000 cases, more memory', more('peakBytes'), 50e6, 'MB'),
  ]
}

/** What both actions cost in a job, compared with the command that a person would run: for one test, and for a merge. */
async function againstByHand(): Promise<Row[]> {
  const rows: Row[] = []
  for (const framework of FRAMEWORKS) {
    const { name, all, merge } = framework
    const small = await createProject(framework, 1, 1)
    const limitMs = name === 'Vitest' ? 400 : 750
    rows.push(await moreThanByHand(`Gate and local service, more than ${name} by hand`, small, all, limitMs, {}))
    const large = await createProject(framework, 20, 100)
    runShards(large, framework)
    const what = `A merge of 2,000 tests, more than ${name}'s own merge`
    rows.push(await moreThanByHand(what, large, merge, 1_000, { merge: 'all' }))
  }
  return rows
}

/** The command by hand and the job with both actions take turns. Removes the folder. */
async function moreThanByHand(
  what: string,
  folder: string,
  command: readonly string[],
  limitMs: number,
  inputs: Readonly<Record<string, string>>,
): Promise<Row> {
  const [byHand, actions]: [number[], number[]] = [[], []]
  for (let round = 0; round < JOBS; round++) {
    byHand.push(timeByHand(folder, command))
    actions.push(await timeActions(folder, inputs))
  }
  rmSync(folder, { recursive: true })
  const byHandMs = median(byHand)
  return row(`${what} (${(byHandMs / 1_000).toFixed(2)} s)`, median(actions) - byHandMs, limitMs, 's')
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[values.length >> 1] ?? Number.NaN
}

// The bench measures the committed bundle, so it must be built from the source.
execFileSync(process.execPath, [join(import.meta.dirname, '../scripts/build.ts'), '--check'], { stdio: 'inherit' })
const facts = [
  `${availableParallelism()} × ${cpus()[0]?.model.trim() ?? 'unknown processor'}`,
  `${(totalmem() / 2 ** 30).toFixed(0)} GiB of memory`,
  `${platform()} ${arch()}`,
  `Node ${process.versions.node}`,
  `load ${loadavg()[0]?.toFixed(1)} at the beginning`,
]
const folder = mkdtempSync(join(tmpdir(), 'bench-'))
const rows = [
  ...(await startUp(folder)),
  ...(await largeResponse(folder)),
  ...(await longOutput(folder)),
  ...(await history(folder)),
  ...(await againstByHand()),
]
rmSync(folder, { recursive: true })
const table = rows.map(
  ([what, goal, isReached, result]) => `| ${what} | ${goal} | ${isReached ? '✅' : '❌'} ${result} |`,
)
const results = `Measured by \`npm run bench\` on: ${facts.join(', ')}.

| What | Goal | Result |
| --- | --- | --- |
${table.join('\n')}`
console.log(results)
if (process.argv.includes('--write')) {
  const path = join(import.meta.dirname, 'README.md')
  const [before, , after] = readFileSync(path, 'utf8').split(/(?<=<!-- results -->)|(?=<!-- \/results -->)/)
  writeFileSync(path, `${before}\n\n${results}\n\n${after}`)
}
