import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { aRepository } from '../../../test/support/git-repository.ts'
import { removeFolder } from '../../src/machine/files.ts'
import { PASSING_SCRIPT } from '../support/a-job.ts'
import { pidsIn, puppetProject, startService, temporaryFolder, until, WEB_SHOP } from '../support/a-local-service.ts'

// Whatever tests leave behind, their run finishes, the next one runs, and the service can be stopped.

describe('a service whose tests', () => {
  it('are never reached, because the checkout hangs, ends it at the limit of the run', async () => {
    const repository = await aRepository({ 'a.txt': 'main', '.gitattributes': '*.txt filter=slow' })
    await repository.git('config', 'filter.slow.smudge', 'sleep 300')
    const project = puppetProject(repository.folder)
    const service = await startService({ runLimitMinutes: 0.05, projects: { shop: project } })
    const runId = await service.startRun({ branch: 'other' })
    expect(await service.waitFor(runId)).toMatchObject({ status: 'TIMEDOUT' })
    await until(() => !existsSync(join(repository.folder, '.git/worktrees', runId)))
    expect(service.log.join('\n')).not.toContain('error')
    // The queue goes on. On a busy machine, this run may exceed the short limit too.
    await service.run()
  })

  it.runIf(process.platform === 'linux')(
    'leave a process that cannot be killed says so, and their result counts',
    async () => {
      const pid = join(temporaryFolder(), 'pid')
      const script = `sleep 600 & echo $! > ${pid}; ${PASSING_SCRIPT}`
      const project = { folder: WEB_SHOP, framework: 'vitest', command: ['sh', '-c', script, 'sh'] } as const
      const service = await startService({ projects: { shop: project }, endWaitMs: 60_000 })
      onTestFinished(() => void vi.restoreAllMocks())
      vi.spyOn(process, 'kill').mockImplementation(() => {
        throw Object.assign(new Error('not permitted'), { code: 'EPERM' })
      })
      // Each wait is over when the clock is read again.
      const { now } = performance
      let reads = 0
      vi.spyOn(performance, 'now').mockImplementation(() => now.call(performance) + reads++ * 10_000)
      const runId = await service.startRun()
      // The second response waits for the end.
      await service.get(runId)
      expect((await service.get(runId)).body).toMatchObject({ status: 'PASSED' })
      expect(await service.close()).toMatchObject({ isClean: false, hadProblem: true })
      vi.restoreAllMocks()
      const [left] = await pidsIn(pid)
      process.kill(Number(left), 'SIGKILL')
      const problem = `these processes are still alive: ${left}. A process of another user cannot be killed`
      expect(service.log.filter((line) => line.includes(`error: run ${runId}: ${problem}`))).toHaveLength(1)
      expect(service.log.join('\n')).toContain(
        `error: run ${runId}: could not remove everything that it left: ${problem}`,
      )
    },
  )

  it('make folders that nobody may write to removes them, and changes nothing behind a link in them', async () => {
    const home = temporaryFolder()
    await chmod(home, 0o777)
    // Root may write to every folder.
    const script = `
      const { removeFolder } = await import('${new URL('../../src/machine/files.ts', import.meta.url)}')
      const fs = await import('node:fs')
      if (process.getuid() === 0) { process.setgid(65534); process.setuid(65534) }
      for (const folder of ['private/file', 'output/deep/empty']) fs.mkdirSync(folder, { recursive: true })
      fs.symlinkSync('../private', 'output/report')
      for (const folder of ['private/file', 'private', 'output/deep', 'output']) fs.chmodSync(folder, 0o555)
      const error = await removeFolder(process.cwd() + '/output/report').catch((error) => error)
      const modes = ['private', 'private/file'].map((folder) => (fs.statSync(folder).mode & 0o777).toString(8))
      await removeFolder(fs.realpathSync('output'))
      console.log(modes.join(' '), fs.existsSync('private/file'), fs.existsSync('output'), String(error.message))`
    const { stdout, stderr } = spawnSync(process.execPath, ['--eval', script], { cwd: home, encoding: 'utf8' })
    expect(stderr).toBe('')
    expect(stdout).toMatch(/^555 555 true false .*output\/report.*: Permission denied/s)
  })

  it('make a path that is longer than the system takes removes it', async () => {
    const folder = temporaryFolder()
    const deep = 'for i in $(seq 30); do mkdir -p $(printf "%0200d" 0) && cd -P *; done'
    spawnSync('sh', ['-c', deep], { cwd: folder })
    expect(await readdir(folder)).toHaveLength(1)
    await removeFolder(folder)
    expect(existsSync(folder)).toBe(false)
  })
})
