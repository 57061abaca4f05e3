import { existsSync } from 'node:fs'
import { chmod, mkdir, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { aRepository, type GitRepository, writeFiles } from '../../test/support/git-repository.ts'
import { createPrivateFolder, findSharedFolder, openDataFolder } from '../src/runs/data-folder.ts'
import { puppetProject, startService, temporaryFolder, testRunIn } from './a-local-service.ts'

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
    expect(run).toMatchObject({ status: 'INTERRUPTED', results: { testCases: [] } })
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

  it.each([
    ['a plain project', '', 'project/data', 'project'],
    ['the repository of a project, outside its folder', 'project/.git/HEAD', 'project/data', 'project/packages/shop'],
  ])('is refused if it lies in %s, with the sentence that says where else', async (_case, gitFile, dataFolder, folder) => {
    const above = await temporaryFolder()
    await mkdir(join(above, folder), { recursive: true })
    if (gitFile !== '') await writeFiles(above, { [gitFile]: '' })
    const projects = { other: puppetProject(), shop: puppetProject(join(above, folder)) }
    const root = join(above, 'project')
    const started = startService({ projects, data: join(above, dataFolder) })
    await expect(started).rejects.toThrow(
      `The data folder ${join(above, dataFolder)} lies in ${root} of project "shop". Tests could change the data, and tests in work ` +
        `trees would find the packages of ${root}. Choose a folder outside ${root} with --data, such as ${join(above, 'test-run-service-data')}.`,
    )
    expect(existsSync(join(above, dataFolder))).toBe(false)
  })

  it.each([
    ['is a file', 'file'],
    ['lies below a file', 'file/x'],
  ])('is refused with a sentence if it %s', async (_case, path) => {
    const folder = await temporaryFolder()
    await writeFiles(folder, { file: '' })
    const data = resolve(folder, path)
    const projects = [testRunIn(folder, {}, puppetProject()).project]
    const sentence = `Cannot use the data folder ${data}: `
    expect(() => openDataFolder(data, folder, projects)).toThrow(
      expect.objectContaining({ name: 'ConfigurationError', message: expect.stringContaining(sentence) }),
    )
  })
})
