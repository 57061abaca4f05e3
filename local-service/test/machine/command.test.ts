import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { runCommand, STOPPED } from '../../src/machine/command.ts'
import { callProgram } from '../../src/machine/program.ts'
import { isAlive, PLAIN_ENV, pidsIn, temporaryFolder, until } from '../support/a-local-service.ts'

describe('a command', () => {
  const commandOf = (script: string) => ({
    argv: ['sh', '-c', script],
    folder: tmpdir(),
    env: PLAIN_ENV,
    runId: `test-${Math.random()}`,
    stopGraceMs: 300,
    logError: (text: string) => expect.unreachable(text),
  })

  const run = (script: string) => runCommand(commandOf(script), new AbortController().signal)

  it('exits with its code and its output, without colours', async () => {
    expect(await run('printf "\\033[31mred\\033[0m"; exit 3')).toEqual({ kind: 'exited', code: 3, output: 'red' })
  })

  it.runIf(process.platform === 'linux').each([
    [
      'in its group and outside, also if the leader of the group has exited',
      `for group in "" setsid; do $group sleep 600 >/dev/null 2>&1 & echo $!; done
       setsid sh -c 'sleep 600 >/dev/null 2>&1 & echo $!'`,
    ],
    [
      'without variables, if another one of its group has them',
      // The shell waits for the output of the group, which ends when all processes have begun.
      `group='for i in 1 2; do env -i sleep 600 >/dev/null 2>&1 & echo $!; done; echo $$; exec sleep 600 >/dev/null 2>&1'
       pids=$(setsid sh -c "$group" &); echo "$pids"`,
    ],
  ])('that exits by itself leaves no process %s', async (_, script) => {
    const { output } = await run(script)
    const pids = output.trim().split('\n').map(Number)
    expect(pids).toHaveLength(3)
    expect(pids.map(isAlive)).toEqual([false, false, false])
  })

  it.runIf(process.platform === 'linux')(
    'does not wait for a process that it has killed, if no parent takes its end',
    async () => {
      const file = join(temporaryFolder(), 'pid')
      // The parent has left the run.
      const parent = `sleep 600 & exec env -i setsid sh -c 'echo $$ > ${file}; exec sleep 600'`
      const end = await run(`(${parent}) >/dev/null 2>&1 & until test -s ${file}; do sleep 0.05; done`)
      process.kill(Number((await pidsIn(file))[0]), 'SIGKILL')
      expect(end).toMatchObject({ kind: 'exited', code: 0 })
    },
  )

  it.runIf(process.platform === 'linux')(
    'has its result also if a process cannot be killed, and the log names the process',
    async () => {
      onTestFinished(() => void vi.restoreAllMocks())
      const kill = vi.spyOn(process, 'kill').mockImplementation(() => {
        throw Object.assign(new Error('not permitted'), { code: 'EPERM' })
      })
      // Each wait is over when the clock is read again.
      const { now } = performance
      let reads = 0
      vi.spyOn(performance, 'now').mockImplementation(() => now.call(performance) + reads++ * 10_000)
      const log: string[] = []
      const command = {
        ...commandOf('sleep 600 >/dev/null 2>&1 & echo $!'),
        logError: (text: string) => log.push(text),
      }
      const end = await runCommand(command, new AbortController().signal)
      kill.mockRestore()
      const left = end.output.trim()
      process.kill(Number(left), 'SIGKILL')
      expect(end).toMatchObject({ kind: 'exited', code: 0 })
      expect(log).toEqual([
        expect.stringContaining(`these processes are still alive: ${left}. A process of another user`),
      ])
    },
  )

  it('is killed without /proc too, as on macOS', async () => {
    const { platform } = process
    onTestFinished(() => void Object.defineProperty(process, 'platform', { value: platform }))
    Object.defineProperty(process, 'platform', { value: 'darwin' })
    const file = join(temporaryFolder(), 'pid')
    const stop = new AbortController()
    const ended = runCommand(commandOf(`trap "" INT TERM; echo $$ > ${file}; exec sleep 600`), stop.signal)
    const [pid = 0] = await pidsIn(file)
    stop.abort()
    expect([await ended, isAlive(pid)]).toEqual([STOPPED, false])
  })

  it('is killed by a signal that somebody else sent', async () => {
    expect(await run('kill -9 $$')).toMatchObject({ kind: 'cut-off', how: 'was killed by SIGKILL' })
  })

  it('is not started if its program is not executable, and the reason says so', async () => {
    const command = { ...commandOf(''), argv: [import.meta.filename] }
    const how = `could not be started: ${import.meta.filename} is not executable, or its folder cannot be read`
    expect(await runCommand(command, new AbortController().signal)).toMatchObject({ kind: 'cut-off', how })
  })

  // One argument may have 128 KiB there.
  it.runIf(process.platform === 'linux')('is not started if its arguments are too large', async () => {
    const command = { ...commandOf(''), argv: ['true', 'x'.repeat(200_000)] }
    const how = 'could not be started: its arguments and variables are larger than this system allows'
    expect(await runCommand(command, new AbortController().signal)).toMatchObject({ kind: 'cut-off', how })
  })

  it('is stopped, also if the stop comes before its start or just after', async () => {
    expect(await runCommand(commandOf('exit 0'), AbortSignal.abort())).toEqual(STOPPED)
    const stop = new AbortController()
    const ended = runCommand(commandOf('exec sleep 600'), stop.signal)
    stop.abort()
    expect(await ended).toEqual(STOPPED)
  })

  it('leaves no process if the service is killed the moment after the start', async () => {
    const folder = temporaryFolder()
    const command = { ...commandOf('echo "$$" > started; mv started pid; exec sleep 600'), folder }
    // The process waits without an event-loop turn, so that nothing else of runCommand runs before the kill.
    const script = `
      import { existsSync } from 'node:fs'
      import { runCommand } from '${new URL('../../src/machine/command.ts', import.meta.url)}'
      void runCommand(${JSON.stringify(command)}, new AbortController().signal)
      while (!existsSync('${join(folder, 'pid')}')) {}
      process.kill(process.pid, 'SIGKILL')`
    const { signal, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', script])
    expect(signal, String(stderr)).toBe('SIGKILL')
    const [pid = 0] = await pidsIn(join(folder, 'pid'))
    await until(() => !isAlive(pid))
  })

  it('runs without its guard if the service cannot open another file', () => {
    const script = `
      import { closeSync, openSync } from 'node:fs'
      import { startGuard } from '${new URL('../../src/machine/processes.ts', import.meta.url)}'
      const files = []
      try { for (;;) files.push(openSync('/dev/null')) } catch {}
      const guard = startGuard()
      guard.watch(process.pid)
      await guard[Symbol.asyncDispose]()
      for (const file of files) closeSync(file)
      console.log('ended')`
    const limited = ['-c', 'ulimit -n 64; exec "$@"', 'sh', process.execPath, '--input-type=module', '--eval', script]
    const { stdout, stderr } = spawnSync('sh', limited, { encoding: 'utf8' })
    expect([stdout, stderr]).toEqual(['ended\n', ''])
  })

  it('keeps the last lines of a long output', async () => {
    const { output } = await run('seq 100000; echo last')
    expect(output).toMatch(/^\d+\n[\s\S]*100000\nlast\n$/)
    expect(output.length).toBeLessThanOrEqual(20_000)
  })

  it('reads nothing from the terminal', async () => {
    expect(await run('cat; echo "read"')).toMatchObject({ kind: 'exited', code: 0, output: 'read\n' })
  })

  it('gets SIGINT, then SIGTERM, and is killed with what it started if both are ignored, and no other run is', async () => {
    const folder = temporaryFolder()
    const [ofStopped, ofOther] = [join(folder, 'stopped'), join(folder, 'other')]
    const stop = new AbortController()
    const child = `sh -c 'trap "" INT TERM; exec sleep 600' >/dev/null 2>&1 & echo "$$ $!" > ${ofStopped}`
    const script = `trap "echo INT" INT; trap "echo TERM" TERM; ${child}; while true; do sleep 0.05; done`
    const ended = runCommand({ ...commandOf(script), stopGraceMs: 1500 }, stop.signal)
    const stopOther = new AbortController()
    const other = runCommand(commandOf(`echo $$ > ${ofOther}; exec sleep 600`), stopOther.signal)
    const [pids, otherPids] = [await pidsIn(ofStopped), await pidsIn(ofOther)]
    expect([...pids, ...otherPids].map(isAlive)).toEqual([true, true, true])
    stop.abort()
    // The shell may say in between that its `sleep` was terminated.
    expect(await ended).toEqual({ ...STOPPED, output: expect.stringMatching(/^INT\n[\s\S]*TERM\n/) })
    expect([...pids, ...otherPids].map(isAlive)).toEqual([false, false, true])
    stopOther.abort()
    await other
  })

  it('ends at once when it is stopped, and what it started still has the grace to clean up', async () => {
    const folder = temporaryFolder()
    const [ready, cleaned] = [join(folder, 'ready'), join(folder, 'cleaned')]
    const child = `
      const { writeFileSync } = require('node:fs')
      process.on('SIGINT', () => setTimeout(() => { writeFileSync('${cleaned}', ''); process.exit() }, 300))
      setInterval(() => {}, 1000)
      writeFileSync('${ready}', '')`
    const parent = `
      require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(child)}])
      process.on('SIGINT', () => process.exit())`
    const stop = new AbortController()
    const argv = [process.execPath, '-e', parent]
    const ended = runCommand({ ...commandOf(''), argv, stopGraceMs: 60_000 }, stop.signal)
    await until(() => existsSync(ready))
    stop.abort()
    expect(await ended).toEqual(STOPPED)
    expect(existsSync(cleaned)).toBe(true)
  })
})

describe('a program of the machine', () => {
  it.each([
    ['missing', '/', 'there is no program missing', true],
    ['git', '/missing', 'there is no folder /missing', false],
  ])('says what is missing: %s in %s', async (program, folder, message, isMissing) => {
    const call = callProgram([program], { folder, env: PLAIN_ENV, limitMs: 60_000 })
    await expect(call).rejects.toMatchObject({ message, isMissing })
  })
})
