import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { aRepository } from '../../../test/support/git-repository.ts'
import { findInstalled } from '../../src/execution/project-command.ts'
import {
  folderWith,
  PLAIN_ENV,
  puppet,
  puppetProject,
  runContextIn,
  type StartedService,
  startService,
  temporaryFolder,
} from '../support/a-local-service.ts'

async function variablesIn(service: StartedService, names: string[], overrides: object = {}): Promise<unknown[]> {
  const { envOverrides } = puppet({ tellsVariables: names })
  const run = await service.run({ envOverrides: { ...overrides, ...envOverrides } })
  return run.results?.testCases.map(({ title }) => title.replace(/^.*?=/, '')) ?? []
}

describe("a test process's environment", () => {
  const puppetIn = (folder: string) => ({ shop: puppetProject(folder) })

  it("has the person's PATH in a command, then the project's own commands up to the root of its repository", async () => {
    const { folder } = await aRepository({ 'packages/shop/a.txt': '' })
    const project = join(folder, 'packages/shop')
    const env = { ...PLAIN_ENV, PATH: '/bin:/usr/bin', PWD: '/of/the/person' }
    const service = await startService({ projects: puppetIn(project), env })
    const bins = [project, join(folder, 'packages'), folder].map((parent) => join(parent, 'node_modules/.bin'))
    const values = await variablesIn(service, ['PATH', 'CI', 'PWD'])
    expect(values).toEqual([['/bin:/usr/bin', ...bins].join(':'), 'true', project])
  })

  it('has the work tree in place of the workspace of the job if it tests another branch', async () => {
    const { folder } = await aRepository({ 'a.txt': '' })
    // The workspace may be the path of a link.
    const link = join(temporaryFolder(), 'workspace')
    symlinkSync(folder, link)
    const service = await startService({ projects: puppetIn(folder), env: { ...PLAIN_ENV, GITHUB_WORKSPACE: link } })
    const { envOverrides } = puppet({ tellsVariables: ['GITHUB_WORKSPACE', 'PWD'] })
    const inTree = await service.run({ envOverrides, branch: 'other' })
    const [workspace, pwd] = inTree.results?.testCases.map(({ title }) => title.replace(/^.*?=/, '')) ?? []
    expect(workspace).toBe(pwd)
    expect(await variablesIn(service, ['GITHUB_WORKSPACE', 'PWD'])).toEqual([link, folder])
  })

  it("has the person's TMPDIR, unless the request gives another", async () => {
    const env = { ...PLAIN_ENV, TMPDIR: '/of/the/person' }
    const service = await startService({ projects: puppetIn(temporaryFolder()), env })
    expect(await variablesIn(service, ['TMPDIR', 'TMP'])).toEqual(['/of/the/person', 'undefined'])
    expect(await variablesIn(service, ['TMPDIR'], { TMPDIR: '/elsewhere' })).toEqual(['/elsewhere'])
  })
})

describe('the Node that runs the tests', () => {
  async function nodeFrom(...PATH: string[]) {
    const folder = await folderWith({ 'node_modules/vitest/package.json': '{"bin":"cli.js"}' })
    const serviceEnv = { PATH: PATH.join(':') }
    return findInstalled(runContextIn(folder, { serviceEnv }, { folder, framework: 'vitest' }))
  }

  it('is the first on the PATH, and not a folder of this name', async () => {
    const [withFolder, withNode] = [await folderWith({ 'node/a.js': '' }), await folderWith({ node: '' })]
    expect(await nodeFrom('', withFolder, withNode, '/bin')).toMatchObject({ node: join(withNode, 'node') })
  })

  it("is the project's own, as with npx, if it has a package for it", async () => {
    const folder = await folderWith({
      'node_modules/vitest/package.json': '{"bin":"cli.js"}',
      'node_modules/.bin/node': '',
    })
    const found = findInstalled(runContextIn(folder, { serviceEnv: { PATH: '/bin' } }, { folder, framework: 'vitest' }))
    expect(found).toMatchObject({ node: join(folder, 'node_modules/.bin/node') })
  })

  it('is the one that runs the service if there is none on the PATH', async () => {
    expect(await nodeFrom('/nowhere')).toMatchObject({ node: process.execPath })
  })
})
