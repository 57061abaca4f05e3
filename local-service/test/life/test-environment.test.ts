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

  it("has the project's own commands first on its PATH, up to the root of its repository, then the person's", async () => {
    const { folder } = await aRepository({ 'packages/shop/a.txt': '' })
    const project = join(folder, 'packages/shop')
    const service = await startService({ projects: puppetIn(project), env: { ...PLAIN_ENV, PATH: '/bin:/usr/bin' } })
    const bins = [project, join(folder, 'packages'), folder].map((parent) => join(parent, 'node_modules/.bin'))
    expect(await variablesIn(service, ['PATH', 'CI'])).toEqual([[...bins, '/bin:/usr/bin'].join(':'), 'true'])
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

  it('is the one that runs the service if there is none on the PATH', async () => {
    expect(await nodeFrom('/nowhere')).toMatchObject({ node: process.execPath })
  })
})
