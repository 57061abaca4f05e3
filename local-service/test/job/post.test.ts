import { chmodSync, existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { until } from '../../../test/support/until.ts'
import {
  clockAhead,
  importing,
  type Jobs,
  ON_LINUX,
  PASSING_SCRIPT,
  processesOf,
  SCRIPTED,
  scripted,
  serviceProcess,
  test,
} from '../support/a-job.ts'

/** There is no report, so post shows the output in the job summary too. */
const BROKEN = 'echo "Error: rain"; exit 1'

/** Node options with which a function of Node fails in post. */
function failingInPost(module: string, name: string, condition = 'true'): string {
  const code = `
    import module from '${module}'
    import { syncBuiltinESMExports } from 'node:module'
    const { ${name} } = module
    if (process.argv[1]?.includes('local-service/dist/post')) {
      module.${name} = (...args) => { if (${condition}) throw new Error('it rains'); return ${name}(...args) }
      syncBuiltinESMExports()
    }`
  return importing(code)
}

function serviceFoldersOf(tempDir: string): string[] {
  return readdirSync(tempDir).filter((name) => name.startsWith('test-run-service-'))
}

describe.skipIf(!ON_LINUX).concurrent('if one step of post fails, post warns and the other steps happen', () => {
  async function post(jobs: Jobs, NODE_OPTIONS: string) {
    const { step, post: ended } = await jobs.play(jobs.scripted(BROKEN), { inputs: SCRIPTED, env: { NODE_OPTIONS } })
    await until(() => processesOf(step).length === 0)
    const shown = {
      warnings: ended.annotations.map(({ message }) => message),
      isOutputShown: ended.log.some((line) => /^Output of run|^The output of run/.test(line)),
      isLogShown: ended.log.some((line) => line.includes('Log of the local service')),
      isSummaryWritten: ended.summary.includes('Error: rain'),
      isFolderRemoved: serviceFoldersOf(step.tempDir).length === 0,
    }
    return { conclusion: ended.conclusion, shown }
  }

  const ALL = { isOutputShown: true, isLogShown: true, isSummaryWritten: true, isFolderRemoved: true }

  test.for<[string, string, object]>([
    ['withdraw the order of the service', failingInPost('node:fs', 'rmSync'), ALL],
    ['stop the service', failingInPost('node:fs', 'readdirSync', `args[0] === '/proc'`), ALL],
    [
      'read which runs have finished',
      failingInPost('node:fs', 'lstatSync', `args[0].endsWith('runs.jsonl')`),
      { isOutputShown: false, isLogShown: false, isSummaryWritten: false, isFolderRemoved: true },
    ],
    [
      'show the output of run ',
      failingInPost(
        'node:fs',
        'lstatSync',
        `args[0].endsWith('output.txt') && !globalThis.failed && (globalThis.failed = true)`,
      ),
      { ...ALL, isOutputShown: false },
    ],
    [
      'show the log of the service',
      failingInPost('node:fs', 'lstatSync', `args[0].endsWith('log')`),
      { ...ALL, isLogShown: false },
    ],
    ['write the job summary', failingInPost('node:fs', 'appendFileSync'), { ...ALL, isSummaryWritten: false }],
    [
      'remove the folder ',
      failingInPost('node:child_process', 'execFile', `args[0] === 'rm'`),
      { ...ALL, isFolderRemoved: false },
    ],
  ])('%s', async ([what, nodeOptions, done], { jobs }) => {
    const { conclusion, shown } = await post(jobs, nodeOptions)
    expect(conclusion).toBe('success')
    expect(shown).toEqual({
      ...done,
      warnings: [expect.stringMatching(`The post step of the local service could not ${what}.*: it rains`)],
    })
  })
})

/** A git that hangs if the file `hang` lies beside it. */
function hangingGit(jobs: Jobs): string {
  const folder = jobs.folder()
  const script = `#!/bin/sh
[ -e "${folder}/hang" ] && echo > "${folder}/hangs" && exec sleep 600
PATH="\${PATH#*:}" exec git "$@"
`
  writeFileSync(join(folder, 'git'), script)
  chmodSync(join(folder, 'git'), 0o755)
  return folder
}

describe.skipIf(!ON_LINUX).concurrent('a service that hangs', () => {
  test('is killed with its commands, also with a command that belongs to no run', async ({ jobs }) => {
    const { folder } = await jobs.repository(scripted(PASSING_SCRIPT))
    const commands = hangingGit(jobs)
    const clock = clockAhead(`process.argv[1]?.includes('local-service/dist/post')`, 20_001)
    const env = { PATH: `${commands}:${process.env.PATH}`, NODE_OPTIONS: importing(clock) }
    const { step, outputs } = await jobs.start(folder, { inputs: SCRIPTED, env })
    writeFileSync(join(commands, 'hang'), '')
    const gate = jobs.gate(step, outputs).startMain()
    await until(() => existsSync(join(commands, 'hangs')))
    process.kill(serviceProcess(step), 'SIGSTOP')
    gate.signal('SIGKILL')
    await gate.result()
    expect(await step.runPost()).toMatchObject({ conclusion: 'success', annotations: [] })
    expect(processesOf(step)).toEqual([])
  })
})
