import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { until } from '../../../test/support/until.ts'
import {
  importing,
  type Jobs,
  ON_LINUX,
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

describe.skipIf(!ON_LINUX).concurrent('if one step of post fails, post warns and the other steps happen', () => {
  async function post(jobs: Jobs, NODE_OPTIONS: string) {
    const settings = { inputs: SCRIPTED, env: { NODE_OPTIONS } }
    const { step, post: ended } = await jobs.play(jobs.scripted(BROKEN), settings, { 'show-output': 'false' })
    await until(() => processesOf(step).length === 0)
    const messages = ended.annotations.map(({ message }) => message)
    const isAboutRest = (message: string) => message.includes('may still be on this machine')
    const shown = {
      warnings: messages.filter((message) => !isAboutRest(message)),
      warnsOfRest: messages.some(isAboutRest),
      isOutputShown: ended.log.some((line) => line.startsWith('##[group]Output of run')),
      isLogShown: ended.log.some((line) => line.includes('Log of the local service')),
      isFolderRemoved: readdirSync(serviceFolder(step)).join() === 'output',
    }
    return { conclusion: ended.conclusion, shown }
  }

  const ALL = { isOutputShown: true, isLogShown: false, isFolderRemoved: true, warnsOfRest: false }
  const NOT_STOPPED = { isOutputShown: false, isLogShown: true, isFolderRemoved: true, warnsOfRest: true }
  const KILL = failing('node:process', 'kill')
  const LIST_OF_RUNS = failing('node:fs', 'lstatSync', `args[0].endsWith('runs-at-end.json')`)
  const LOG = failing('node:fs', 'lstatSync', `args[0].endsWith('log')`)
  const FIRST_OUTPUT = `args[0].endsWith('output.txt') && !globalThis.failed && (globalThis.failed = true)`

  test.for<[string[], string[], object]>([
    [
      ['stop the service: it rains', 'remove what the service left: it rains'],
      [KILL, failing('node:child_process', 'spawnSync')],
      NOT_STOPPED,
    ],
    [['read which runs have finished: it rains'], [LIST_OF_RUNS], { ...ALL, isLogShown: true }],
    [
      ['show the output of run .*: it rains'],
      [failing('node:fs', 'lstatSync', FIRST_OUTPUT)],
      { ...ALL, isOutputShown: false },
    ],
    [['read which runs have finished: it rains', 'show the log of the service: it rains'], [LIST_OF_RUNS, LOG], ALL],
    [
      ['remove the private files in .*: it rains'],
      [failing('node:child_process', 'execFile')],
      { ...ALL, isFolderRemoved: false },
    ],
  ])('%s', async ([warnings, nodeOptions, done], { jobs }) => {
    const { conclusion, shown } = await post(jobs, nodeOptions.join(' '))
    expect(conclusion).toBe('success')
    expect(shown).toEqual({
      ...done,
      warnings: warnings.map((what) => expect.stringMatching(`^The post step of the local service could not ${what}$`)),
    })
  })
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
