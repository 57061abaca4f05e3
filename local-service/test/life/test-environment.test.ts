import { execFileSync } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import { chmod, mkdir, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  folderWith,
  PLAIN_ENV,
  puppet,
  puppetProject,
  type StartedService,
  startService,
  temporaryFolder,
  until,
} from '../support/a-local-service.ts'

async function variablesIn(service: StartedService, names: string[], overrides: object = {}): Promise<unknown[]> {
  const { envOverrides } = puppet({ tellsVariables: names })
  const run = await service.run({ envOverrides: { ...overrides, ...envOverrides } })
  return run.results?.testCases.map(({ title }) => title.replace(/^.*?=/, '')) ?? []
}

describe("a test process's environment", () => {
  const puppetIn = (folder: string, settings: object = {}) => ({ shop: { ...puppetProject(folder), ...settings } })

  it("has the project's own commands first on its PATH, up to the root of its repository, then the person's", async () => {
    const folder = temporaryFolder()
    execFileSync('git', ['init', '--quiet', folder], { env: PLAIN_ENV })
    const project = join(folder, 'packages/shop')
    await mkdir(project, { recursive: true })
    const service = await startService({ projects: puppetIn(project), env: { ...PLAIN_ENV, PATH: '/bin:/usr/bin' } })
    const bins = [project, join(folder, 'packages'), folder].map((parent) => join(parent, 'node_modules/.bin'))
    expect(await variablesIn(service, ['PATH'])).toEqual([[...bins, '/bin:/usr/bin'].join(':')])
  })

  it.each([
    ['true', undefined],
    ['1', '1'],
  ])("has CI=%s if the person's CI is %s", async (expected, CI) => {
    const folder = temporaryFolder()
    const env = CI === undefined ? PLAIN_ENV : { ...PLAIN_ENV, CI }
    const service = await startService({ projects: puppetIn(folder), env })
    expect(await variablesIn(service, ['CI'])).toEqual([expected])
  })

  it("has the person's configuration of git, and not the variables by which git ties a hook to its repository", async () => {
    const ofPerson = { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'a.b', GIT_CONFIG_VALUE_0: 'c' }
    const ofHook = { GIT_CONFIG_PARAMETERS: "'a.b=d'", GIT_DIR: '/elsewhere/.git', GIT_INDEX_FILE: '/elsewhere/index' }
    const env = { ...PLAIN_ENV, ...ofPerson, ...ofHook }
    const service = await startService({ projects: puppetIn(temporaryFolder()), env })
    const names = Object.keys({ ...ofPerson, ...ofHook })
    expect(await variablesIn(service, names)).toEqual(['1', 'a.b', 'c', 'undefined', 'undefined', 'undefined'])
  })

  it('has a TMPDIR of its own, which goes with the run', async () => {
    const env = { ...PLAIN_ENV, TMPDIR: '/of/the/person' }
    const service = await startService({ projects: puppetIn(temporaryFolder()), env })
    const values = await variablesIn(service, ['TMPDIR', 'TMP', 'TEMP'])
    const ofRun = new RegExp(`^${realpathSync(tmpdir())}/test-run-[0-9a-f]{8}$`)
    expect(values).toEqual(Array(3).fill(expect.stringMatching(ofRun)))
    await until(() => !existsSync(String(values[0])))
    const others = await variablesIn(service, ['TMPDIR', 'TMP'], { TMPDIR: '/elsewhere' })
    expect(others).toEqual(['/elsewhere', expect.not.stringMatching(String(values[1]))])
  })
})

describe('the Node that runs the tests', () => {
  /** An installed framework that tells by which Node it was called, as a command and as a module. */
  const PROJECT = {
    'node_modules/vitest/package.json': '{"bin":"cli.cjs","exports":{"./node":"./cli.cjs"}}',
    'node_modules/vitest/cli.cjs': `
      const { CALLED_BY, LOCAL_SERVICE_REPORT_FILE: file } = process.env
      const tests = [{ path: [String(CALLED_BY)], state: 'passed' }]
      require('node:fs').writeFileSync(file, JSON.stringify({ event: 'finished', tests, files: [], errors: [] }) + '\\n')
      process.exit()`,
  }

  /** A \`node\` that says that it was called, and does what Node does. */
  async function aNode(name: string): Promise<string> {
    const folder = await folderWith({ node: `#!/bin/sh\nCALLED_BY=${name} exec ${process.execPath} "$@"\n` })
    await chmod(join(folder, 'node'), 0o755)
    return folder
  }

  async function calledBy(PATH: string, installed?: string): Promise<string | undefined> {
    const folder = await folderWith(PROJECT)
    if (installed !== undefined) {
      await mkdir(join(folder, 'node_modules/.bin'))
      await symlink(join(await aNode(installed), 'node'), join(folder, 'node_modules/.bin/node'))
    }
    const projects = { shop: { folder, framework: 'vitest' } }
    const service = await startService({ projects, env: { ...PLAIN_ENV, PATH } })
    const run = await service.run()
    return run.results?.testCases[0]?.title
  }

  it("is the person's: the first on their PATH, and not a folder of this name", async () => {
    const folder = temporaryFolder()
    await mkdir(join(folder, 'node'))
    expect(await calledBy(`${folder}:${await aNode('theirs')}:${PLAIN_ENV.PATH}`)).toBe('theirs')
  })

  it("is the project's own if it has one installed, and the one that runs the service if there is none", async () => {
    expect(await calledBy(`${await aNode('theirs')}:/bin`, 'installed')).toBe('installed')
    expect(await calledBy('/nowhere')).toBe('undefined')
  })
})
