import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { puppetProject, startService, temporaryFolder, until } from '../support/a-local-service.ts'

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

  it('is INTERRUPTED when the service stops, and who polls still learns it', async () => {
    const folder = temporaryFolder()
    const [begun, release] = [join(folder, 'begun'), join(folder, 'release')]
    const script = `trap "" INT TERM; touch ${begun}; until test -e ${release}; do sleep 0.02; done`
    const project = { ...puppetProject(), command: ['sh', '-c', script] }
    const service = await startService({ stopGraceMs: 600_000, projects: { shop: project } })
    onTestFinished(() => writeFile(release, ''))
    const runId = await service.startRun()
    await until(() => existsSync(begun))
    const closed = service.close()
    const message = 'the service was stopped'
    expect(await service.waitFor(runId)).toMatchObject({ status: 'INTERRUPTED', message })
    await writeFile(release, '')
    await closed
    await expect(service.get(runId)).rejects.toThrow('fetch failed')
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
})
