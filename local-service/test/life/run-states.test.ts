import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { puppet, puppetProject, readJournal, startService, temporaryFolder, until } from '../support/a-local-service.ts'

describe('a run', () => {
  it('has one thread for its report, which starts beside the tests', async () => {
    let threads = 0
    const onWorker = () => threads++
    process.on('worker', onWorker)
    onTestFinished(() => void process.off('worker', onWorker))
    const service = await startService()
    await service.startRun()
    // Not by a poll, because each poll reads too.
    await until(() => service.log.some((line) => line.includes('PASSED')))
    expect(threads).toBe(1)
  })

  it('keeps the cases that had finished if it is cancelled, and if the service stops', async () => {
    const event = { event: 'test-finished', test: { id: '1', path: ['adds'], state: 'passed' } }
    const script = `echo '${JSON.stringify(event)}' > "$LOCAL_SERVICE_REPORT_FILE"; trap "" INT; sleep 300; sleep 300`
    const project = { ...puppetProject(), command: ['sh', '-c', script] }
    const service = await startService({ projects: { shop: project } })
    const startOne = async () => {
      const runId = await service.startRun()
      await until(async () => (await service.get(runId)).body.progress?.passed === 1)
      return runId
    }
    const results = { testCases: [{ title: 'adds', status: 'PASSED' }] }
    const cancelled = await startOne()
    await service.cancel(cancelled)
    expect((await service.get(cancelled)).body).toMatchObject({ status: 'CANCELLED', results })
    const interrupted = await startOne()
    const closed = service.close()
    const { message, ...run } = await service.waitFor(interrupted)
    expect([run, message]).toMatchObject([{ status: 'INTERRUPTED', results }, 'the service was stopped'])
    await closed
  })

  it('is TIMEDOUT if it exceeds its limit, which begins after the queue, with the cases that its runner reported', async () => {
    const service = await startService({ runLimitMinutes: 0.05 })
    const first = await service.startRun(puppet({ hangs: true }))
    const second = await service.startRun(puppet({}))
    expect(await service.waitFor(first)).toMatchObject({
      status: 'TIMEDOUT',
      startedAt: expect.any(String),
      message: expect.stringContaining('the run exceeded its limit of 0.05 min'),
      results: { testCases: [{ title: 'puppet > adds' }] },
    })
    expect(await service.waitFor(second)).toMatchObject({ status: 'PASSED' })
  })

  it('is INTERRUPTED when the service stops, running or queued, and who polls still learns it', async () => {
    const folder = temporaryFolder()
    const [begun, release] = [join(folder, 'begun'), join(folder, 'release')]
    const script = `trap "" INT TERM; touch ${begun}; until test -e ${release}; do sleep 0.02; done`
    const project = { ...puppetProject(), command: ['sh', '-c', script] }
    const service = await startService({ stopGraceMs: 600_000, projects: { shop: project } })
    onTestFinished(() => writeFile(release, ''))
    const running = await service.startRun()
    const queued = await service.startRun()
    await until(() => existsSync(begun))
    const closed = service.close()
    const stopped = { status: 'INTERRUPTED', message: 'the service was stopped', results: { testCases: [] } }
    expect(await service.waitFor(running)).toMatchObject({ ...stopped, startedAt: expect.any(String) })
    expect(await service.waitFor(queued)).toMatchObject({ ...stopped, startedAt: null })
    expect(await service.start()).toEqual({
      status: 500,
      body: { error: 'The service is stopping and takes no more runs.' },
    })
    await writeFile(release, '')
    await closed
    await expect(service.get(running)).rejects.toThrow('fetch failed')
  })

  it("writes no command to GitHub's runner into the log, whatever its tests print", async () => {
    const printed = String.raw`\n::error::one\n  ::stop-commands::two\r::error::three\nfour ##[error]four\n\033[0m::error::five\n`
    const command = ['sh', '-c', `printf '${printed}'; exit 1`]
    const service = await startService({ projects: { shop: { ...puppetProject(), command } } })
    await service.run()
    const log = service.log.join('\n')
    for (const word of ['one', 'two', 'three', 'four', 'five']) expect(log).toContain(word)
    expect(log.split(/\r\n|\r|\n/).filter((line) => /^\s*::|##\[/.test(line))).toEqual([])
  })

  // One argument may have 128 KiB there.
  it.runIf(process.platform === 'linux')('is INTERRUPTED if its arguments are too large', async () => {
    const service = await startService()
    const runId = await service.startRun({ frameworkProjectName: 'x'.repeat(200_000) })
    expect(await service.waitFor(runId)).toMatchObject({ status: 'INTERRUPTED' })
    expect(service.log.at(-1)).toMatch(
      /INTERRUPTED, 0 test cases: vitest could not be started: its arguments and variables are larger than this system allows$/,
    )
  })
})

describe('runs of one folder itself', () => {
  it('are RUNNING one after the other, but for those that are cancelled before, while runs of other folders go on', async () => {
    const journal = join(temporaryFolder(), 'journal')
    const projects = { 'web-shop': puppetProject(), other: puppetProject(temporaryFolder()) }
    const service = await startService({ projects })
    const first = await service.startRun(puppet({ hangs: true, journal }))
    const second = await service.startRun(puppet({ journal }))
    const third = await service.startRun(puppet({ journal }))
    await until(async () => (await readJournal(journal)).length > 0)
    const { body: other } = await service.send('POST', '/v1/projects/other/runs', {})
    const { body } = await until(async () => {
      const response = await service.send('GET', `/v1/projects/other/runs/${other.runId}`)
      return response.body.finishedAt !== undefined && response
    })
    expect([body.status, (await service.get(second)).body.status]).toEqual(['PASSED', 'QUEUED'])
    expect((await service.cancel(third)).status).toBe(200)
    const cancelled = {
      status: 'CANCELLED',
      startedAt: null,
      finishedAt: expect.any(String),
      results: { testCases: [] },
    }
    expect((await service.get(third)).body).toMatchObject(cancelled)
    await service.cancel(first)
    expect((await service.waitFor(second)).status).toBe('PASSED')
    // The cancelled run would be RUNNING before this one.
    expect((await service.run(puppet({}))).status).toBe('PASSED')
    expect((await service.get(third)).body).toMatchObject(cancelled)
    expect(service.log.join('\n')).not.toContain('failed to run')
    const pids = (await readJournal(journal)).map(({ event, pid }) => `${event} ${pid}`)
    expect(pids).toEqual([
      expect.stringMatching(/^begins/),
      expect.stringMatching(/^begins/),
      expect.stringMatching(/^ends/),
    ])
    expect(pids[1]?.split(' ')[1]).toBe(pids[2]?.split(' ')[1])
  })
})
