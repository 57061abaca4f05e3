import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { until } from '../../../test/support/until.ts'
import {
  importing,
  NOT_AWAITED,
  ON_LINUX,
  PASSING_SCRIPT,
  processesOf,
  SCRIPTED,
  serviceFolder,
  serviceProcess,
  test,
} from '../support/a-job.ts'

const BROKEN = 'echo "Error: rain"; exit 1'

/** Node options with which a function of Node fails in post. */
function failing(module: string, name: string, condition = 'true'): string {
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

const KILL = failing('node:process', 'kill')
const CLEAN_UP = failing('node:child_process', 'spawnSync')
const LIST_OF_RUNS = failing('node:fs', 'lstatSync', `args[0].endsWith('runs-at-end.json')`)
const OUTPUT = failing('node:fs', 'lstatSync', `args[0].endsWith('output.txt')`)
const LOG = failing('node:fs', 'lstatSync', `args[0].endsWith('log')`)
const REMOVAL = failing('node:child_process', 'execFile')

test.skipIf(!ON_LINUX).concurrent.for<[string, string[], string[]]>([
  [
    'the service cannot be stopped, nor what it left be removed',
    [KILL, CLEAN_UP],
    [
      'could not stop the service: it rains',
      'could not remove what the service left: it rains',
      'may still be on this machine',
    ],
  ],
  [
    'nothing can be read, and nothing be removed',
    [LIST_OF_RUNS, OUTPUT, LOG, REMOVAL],
    [
      'could not read which runs have finished: it rains',
      'could not show the output of run .*: it rains',
      'could not show the log of the service: it rains',
      'could not remove the private files in .*: it rains',
    ],
  ],
])('post warns of each step that fails, and the others happen, if %s', async ([, nodeOptions, warnings], { jobs }) => {
  const settings = { inputs: SCRIPTED, env: { NODE_OPTIONS: nodeOptions.join(' ') } }
  const { step, post } = await jobs.play(jobs.scripted(BROKEN), settings, { 'show-output': 'false' })
  await until(() => processesOf(step).length === 0)
  const messages = warnings.map((warning) => expect.stringMatching(warning))
  expect(post).toMatchObject({ conclusion: 'success', annotations: messages.map((message) => ({ message })) })
  const isLogShown = post.log.includes('##[group]Log of the local service')
  const isFolderRemoved = readdirSync(serviceFolder(step)).join() === 'output'
  expect([isLogShown, isFolderRemoved]).toEqual(nodeOptions.includes(LOG) ? [false, false] : [true, true])
})

test.skipIf(!ON_LINUX)(
  'post kills a service that hangs, with its runs and with a command that belongs to no run',
  async ({ jobs }) => {
    // A git that hangs if the file `hang` lies beside it.
    const commands = jobs.commands({
      git: `#!/bin/sh
home="$(dirname "$0")"
[ -e "$home/hang" ] && echo > "$home/hangs" && exec sleep 600
PATH="\${PATH#*:}" exec git "$@"
`,
    })
    // When post has read its clock once, every wait of post is over.
    const clock = `
      const { now } = performance
      let reads = process.argv[1]?.includes('local-service/dist/post') ? 0 : Number.NEGATIVE_INFINITY
      performance.now = () => now.call(performance) + (reads++ > 0 ? 20_001 : 0)`
    const env = { PATH: `${commands}:${process.env.PATH}`, NODE_OPTIONS: importing(clock) }
    const { step, outputs, main } = await jobs.whileScriptHangs({ env })
    writeFileSync(join(commands, 'hang'), '')
    const other = jobs.gate(step, outputs).startMain()
    await until(() => existsSync(join(commands, 'hangs')))
    process.kill(serviceProcess(step), 'SIGSTOP')
    for (const gate of [main, other]) {
      gate.signal('SIGKILL')
      await gate.result()
    }
    const post = await step.runPost()
    expect(post).toMatchObject({ conclusion: 'success', annotations: [] })
    expect(post.log.join('\n')).toContain('INTERRUPTED: it was RUNNING when the service died')
    expect(processesOf(step)).toEqual([])
    expect(readdirSync(serviceFolder(step))).toEqual(['output'])
  },
)

test('of long outputs, post prints the last 16 MiB', async ({ jobs }) => {
  // Each of the two runs writes 9 MiB.
  const lines = `line=$(printf %016383d 0); for i in $(seq 576); do echo "$line"; done; ${PASSING_SCRIPT}`
  const { step, outputs } = await jobs.start(jobs.scripted(lines), { inputs: SCRIPTED })
  for (const _ of [1, 2]) await jobs.gate(step, outputs, { inputs: { 'show-output': 'false' } }).run()
  const { log } = await step.runPost()
  // A line has 16 KiB. One line is left out, because its beginning is.
  expect(log.filter((line) => line.startsWith('000'))).toHaveLength(2 ** 10 - 1)
  expect(log).toContain('… 2.0 MiB before this line are left out.')
})

/** Puts a named pipe in place of a file at once, so that nobody finds the file missing. */
function makePipe(path: string): void {
  execFileSync('mkfifo', [`${path}.new`])
  renameSync(`${path}.new`, path)
}

// local-service/test/machine/files.test.ts tests which files are read.
test.skipIf(!ON_LINUX)('neither the service nor post waits for a named pipe in place of a file', async ({ jobs }) => {
  const { step, main } = await jobs.whileScriptHangs()
  main.signal('SIGKILL')
  await main.result()
  const folder = serviceFolder(step)
  const beside = ['', '-journal', '-wal', '-shm'].map((end) => `data/runs.sqlite${end}`)
  for (const name of ['log', 'runs-at-end.json', ...beside]) makePipe(join(folder, 'service', name))
  // The service ends by itself. Otherwise, post would warn of that too.
  expect(await step.runPost()).toMatchObject({ conclusion: 'success', annotations: [NOT_AWAITED] })
  await until(() => processesOf(step).length === 0)
  expect(readdirSync(folder)).toEqual(['output'])
})
