import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { aRepository } from '../../../test/support/git-repository.ts'
import {
  isAlive,
  puppet,
  puppetProject,
  readJournal,
  startService,
  temporaryFolder,
  until,
} from '../support/a-local-service.ts'

const STUBBORN = ['SIGINT', 'SIGTERM']

async function pidsNotedIn(journal: string, count: number): Promise<number[]> {
  await until(async () => (await readJournal(journal)).length >= count)
  return [...new Set((await readJournal(journal)).map(({ pid }) => pid))]
}

describe('stopping a run', () => {
  it('leaves no process of a runner that ignores SIGINT and SIGTERM, nor of what it started', async () => {
    const journal = join(temporaryFolder(), 'journal')
    const service = await startService({ stopGraceMs: 1500 })
    const runId = await service.startRun(puppet({ hangs: true, ignores: STUBBORN, leaves: 'in its group', journal }))
    const pids = await pidsNotedIn(journal, 2)
    expect(pids.map(isAlive)).toEqual([true, true])
    await service.cancel(runId)
    await until(() => !pids.some(isAlive))
    expect((await readJournal(journal)).map(({ event }) => event).filter((event) => event.startsWith('SIG'))).toEqual(
      STUBBORN,
    )
  })

  it('does not touch the processes of another run', async () => {
    const folder = temporaryFolder()
    const repository = await aRepository({ 'a.txt': 'main' })
    const service = await startService({ projects: { shop: puppetProject(repository.folder) } })
    const start = (name: string) =>
      service.startRun({ branch: 'other', ...puppet({ hangs: true, journal: join(folder, name) }) })
    const stopped = await start('stopped')
    await start('other')
    const [gone = 0] = await pidsNotedIn(join(folder, 'stopped'), 1)
    const [other = 0] = await pidsNotedIn(join(folder, 'other'), 1)
    await service.cancel(stopped)
    await until(() => !isAlive(gone))
    expect(isAlive(other)).toBe(true)
  })
})
