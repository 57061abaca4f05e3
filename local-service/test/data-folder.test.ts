import { chmod, mkdir, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createPrivateFolder, findSharedFolder, openDataFolder } from '../src/data-folder.ts'
import { aRepository, type GitRepository } from './a-git-repository.ts'
import { puppetProject, startService, temporaryFolder, writeFiles } from './a-local-service.ts'

/** A package `vitest` whose command leaves a file behind. */
const planted = (trace: string) => ({
  'node_modules/vitest/package.json': '{"bin":"planted.cjs"}',
  'node_modules/vitest/planted.cjs': `require('node:fs').writeFileSync(${JSON.stringify(trace)}, '')`,
})

describe('packages above the tested tree', () => {
  async function startBelowPlantedPackage(createProject: (folder: string) => Promise<string>) {
    const above = await temporaryFolder()
    await writeFiles(above, planted(join(above, 'was-executed')))
    const folder = await createProject(join(above, 'project'))
    const projects = { shop: { folder, framework: 'vitest' } } as const
    return startService({ projects }, { dataFolder: join(above, 'data/shop') })
  }

  async function expectNotExecuted(service: Awaited<ReturnType<typeof startBelowPlantedPackage>>, body: object) {
    const run = await service.waitFor(await service.startRun(body))
    expect(run).toMatchObject({ status: 'INTERRUPTED', results: { testCases: [{ status: 'INTERRUPTED' }] } })
    expect(service.log.join('\n')).toContain('vitest is not installed in')
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
    await expectNotExecuted(service, { branch: 'main' })
  })
})

describe("the service's folder", () => {
  it('can be entered by its user only', async () => {
    const folder = createPrivateFolder(join(await temporaryFolder(), 'a/b'))
    expect((await stat(folder)).mode & 0o777).toBe(0o700)
  })

  it('is reported in the log if other users can write to a folder above it', async () => {
    const above = await temporaryFolder()
    await chmod(above, 0o777)
    expect(findSharedFolder(createPrivateFolder(join(above, 'data')))).toBe(above)
    await chmod(above, 0o775)
    expect(findSharedFolder(join(above, 'data'))).not.toBe(above)
    await chmod(above, 0o777)
    const service = await startService({}, { dataFolder: join(above, 'data') })
    expect(service.log.join('\n')).toContain(`warning: other users can write to ${above}: tests may load packages`)
  })

  it('is reported in the log if it lies in a project, whose tests would include those of its work trees', async () => {
    const folder = await temporaryFolder()
    const projects = { shop: puppetProject(folder), other: puppetProject() }
    const service = await startService({ projects }, { dataFolder: join(folder, 'data') })
    expect(service.log.filter((line) => line.includes('lies in project'))).toEqual([
      expect.stringMatching(
        /warning: the data folder .* lies in project "shop", whose tests may find those of work trees$/,
      ),
    ])
  })

  it.each([
    ['is a file', 'file'],
    ['lies below a file', 'file/x'],
    // Node's recursive mkdir would not return for it.
    ['is refused by the file system', '/proc/x/y'],
  ])('is refused with a sentence if it %s', async (_case, path) => {
    const folder = await temporaryFolder()
    await writeFiles(folder, { file: '' })
    const data = resolve(folder, path)
    const sentence = `Cannot use the data folder ${data}: `
    expect(() => openDataFolder(data, folder)).toThrow(
      expect.objectContaining({ name: 'ConfigurationError', message: expect.stringContaining(sentence) }),
    )
  })

  it('is fine below folders of the user and of root', () => {
    expect(findSharedFolder('/')).toBeUndefined()
  })
})
