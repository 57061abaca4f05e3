import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { aRepository, type GitRepository, writeFiles } from '../../../test/support/git-repository.ts'
import { startService, temporaryFolder } from '../support/a-local-service.ts'

/** A package `vitest` whose command leaves a file behind. */
const planted = (trace: string) => ({
  'node_modules/vitest/package.json': '{"bin":"planted.cjs"}',
  'node_modules/vitest/planted.cjs': `require('node:fs').writeFileSync(${JSON.stringify(trace)}, '')`,
})

describe('packages above the tested tree', () => {
  async function startBelowPlantedPackage(createProject: (folder: string) => Promise<string>) {
    const above = temporaryFolder()
    await writeFiles(above, planted(join(above, 'was-executed')))
    const folder = await createProject(join(above, 'project'))
    const projects = { shop: { folder, framework: 'vitest' } } as const
    return startService({ projects, dataFolder: join(above, 'data/shop') })
  }

  async function expectNotExecuted(service: Awaited<ReturnType<typeof startBelowPlantedPackage>>, body: object) {
    const run = await service.run(body)
    const message = expect.stringMatching(/^vitest is not installed in /)
    expect(run).toMatchObject({ status: 'INTERRUPTED', message, results: { testCases: [] } })
    expect(service.log.join('\n')).toContain(run.message)
    expect(service.log.join('\n')).not.toContain('exited')
  }

  it('are not executed for a plain folder', async () => {
    const service = await startBelowPlantedPackage(async (folder) => {
      await mkdir(folder)
      return folder
    })
    await expectNotExecuted(service, {})
  })

  it('are not executed for a repository, nor for a work tree, whose data folder is below them too', async () => {
    const repository: GitRepository = await aRepository({ 'packages/shop/a.txt': '' })
    const service = await startBelowPlantedPackage(async (folder) => {
      await repository.git('clone', '--quiet', repository.folder, folder)
      return join(folder, 'packages/shop')
    })
    await expectNotExecuted(service, {})
    await expectNotExecuted(service, { branch: 'other' })
  })
})
