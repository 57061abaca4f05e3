import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { writeFiles } from '../../test/support/git-repository.ts'
import { type ConfigurationError, readConfiguration } from '../src/configuration.ts'
import { REPOSITORY, startService, temporaryFolder, WEB_SHOP } from './a-local-service.ts'

function refusalOf(folder: string): ConfigurationError {
  try {
    readConfiguration({}, folder)
  } catch (error) {
    return error as ConfigurationError
  }
  throw new Error(`${folder} is not refused`)
}

describe('without a configuration', () => {
  it('the folder is the only project, under its own name, with defaults for the rest', () => {
    expect(readConfiguration({}, WEB_SHOP)).toMatchObject({
      port: 0,
      keys: [],
      concurrency: 2,
      runLimitMs: 3_600_000,
      stopGraceMs: 5000,
      projects: new Map([['web-shop', expect.objectContaining({ folder: WEB_SHOP })]]),
      suites: new Map(),
    })
  })

  it('a key is made up, another one for each service', async () => {
    const [one, another] = [await startService({ keys: [] }), await startService({ keys: [] })]
    expect(one.keys).toEqual([expect.stringMatching(/^[\w-]{32}$/)])
    expect(another.keys).not.toEqual(one.keys)
  })

  it.each([
    ['vitest', { 'vitest.config.ts': '' }],
    ['vitest', { 'vitest.workspace.json': '' }],
    ['vitest', { 'package.json': '{"devDependencies":{"vitest":"*"}}' }],
    ['playwright', { 'playwright.config.mjs': '' }],
    ['playwright', { 'package.json': '{"dependencies":{"@playwright/test":"*"}}' }],
    ['vitest', { 'vitest.config.js': '', 'package.json': '{"devDependencies":{"@playwright/test":"*"}}' }],
  ])('the framework is %s if the folder has %j', async (name, files) => {
    const folder = await temporaryFolder()
    await writeFiles(folder, files as Record<string, string>)
    expect(readConfiguration({}, folder).projects.get(basename(folder))?.framework.name).toBe(name)
  })

  it('a package of a workspace uses the framework of a folder above it, in its repository', async () => {
    const folder = await temporaryFolder()
    const inner = join(folder, 'packages/shop')
    await writeFiles(folder, {
      'package.json': '{"devDependencies":{"vitest":"*"}}',
      'packages/shop/package.json': '{}',
    })
    expect(() => readConfiguration({}, inner)).toThrow('uses neither Vitest nor Playwright Test')
    await writeFiles(folder, { '.git/HEAD': '' })
    expect(readConfiguration({}, inner).projects.get('shop')?.framework.name).toBe('vitest')
    await writeFiles(folder, { 'docs/page.md': '' })
    const { message } = refusalOf(join(folder, 'docs'))
    expect(message).toContain('uses neither Vitest nor Playwright Test')
    expect(message).toContain('docs has no package.json and no configuration file of them.')
  })

  it('the root of the file system has a name, too', () => {
    expect(refusalOf('/').message).toMatch(/^Project "project" /)
  })

  it.each([
    [{}, /^Project ".*" uses neither Vitest nor Playwright Test\. .*Give the folder of a test project\.$/],
    [{ 'package.json': 'broken' }, /uses neither Vitest nor Playwright Test/],
    [
      { 'vitest.config.ts': '', 'playwright.config.ts': '' },
      /^Project ".*" uses both .*\. Set the input, the option or the setting "framework" to "vitest" or "playwright"\.$/,
    ],
    [{ 'package.json': '{"devDependencies":{"vitest":"*","@playwright/test":"*"}}' }, /uses both/],
  ])('a folder that holds %j is refused with a sentence', async (files, message) => {
    const folder = await temporaryFolder()
    await writeFiles(folder, files as Record<string, string>)
    expect(() => readConfiguration({}, folder)).toThrow(message)
  })
})

describe('a configuration', () => {
  it('is the example of the README, which can be used as it is', async () => {
    const folder = join(REPOSITORY, 'local-service')
    const configuration = readConfiguration(
      JSON.parse(await readFile(join(folder, 'example-config.json'), 'utf8')),
      folder,
    )
    expect(configuration.projects.get('web-shop')).toMatchObject({ folder: WEB_SHOP })
    expect([...configuration.suites.keys()]).toEqual(['smoke'])
  })

  it('has relative folders start at its own folder', () => {
    const { projects } = readConfiguration({ projects: { shop: { folder: 'examples/web-shop' } } }, REPOSITORY)
    expect(projects.get('shop')?.folder).toBe(WEB_SHOP)
  })

  it('keeps the output of the tests in a folder relative to its own', () => {
    expect(readConfiguration({ outputs: 'out' }, WEB_SHOP).outputs).toBe(join(WEB_SHOP, 'out'))
  })

  it.each([
    [[], 'The configuration must be an object, got an array.'],
    [{ prot: 1 }, 'The configuration: "prot" is not a setting. The settings are port, keys, '],
    [{ port: 70_000 }, 'The configuration: "port" must be a whole number from 0 to 65535, got 70000.'],
    [{ concurrency: -0.5 }, '"concurrency" must be a whole number from 1 to 1000, got -0.5.'],
    [{ runLimitMinutes: 0 }, '"runLimitMinutes" must be a number from 0.001 to 35000, got 0.'],
    [{ keys: 'k' }, '"keys" must be a list of texts, got a string.'],
    [{ keys: ['k', 1] }, '"keys.1" must be a text, got a number.'],
    [{ keys: ['a b'] }, '"keys.0" is empty or contains whitespace or non-ASCII characters.'],
    [{ projects: {} }, '"projects" is empty: name at least one project, or leave it out.'],
    [{ projects: { shop: {} } }, 'Project "shop": "folder" is missing: name the folder of the project.'],
    [{ projects: { shop: { folder: 'nowhere' } } }, 'Project "shop": "folder" is "nowhere", but there is no folder'],
    [
      { projects: { shop: { folder: '.', setup: [] } } },
      '"setup" must be a command and its arguments, such as ["npm", "ci"].',
    ],
    [
      { projects: { shop: { folder: '.', fix: 'npm test' } } },
      'Project "shop": "fix" must be a command and its arguments, such as ["npm", "ci"], got a string.',
    ],
    [
      { projects: { shop: { folder: '.', defaultEnvironment: 'x' } } },
      '"defaultEnvironment" is "x", which is not among',
    ],
    [
      { projects: { shop: { folder: '.', environments: { a: { B: [1] } } } } },
      'Project "shop": "environments.a.B" must be a string, a number or a boolean, got an array.',
    ],
    [
      { projects: { shop: { folder: '.', environments: { a: { 'B=C': '1' } } } } },
      'Project "shop": "environments.a.B=C" cannot be the name of an environment variable.',
    ],
    [{ projects: { shop: { folder: '.', container: {} } } }, 'Project "shop": "container.image" is missing.'],
    [{ projects: { shop: { folder: '.', container: { image: '-v' } } } }, '"container.image" must not start with "-".'],
    [
      { projects: { shop: { folder: '.', container: { image: 'node', engine: 'podman' } } } },
      'Project "shop": "container.engine" must be a command and its arguments, such as ["npm", "ci"], got a string.',
    ],
    [{ projects: { shop: { folder: '.', node: 'nowhere' } } }, 'Project "shop": "node" is "nowhere", but there is no'],
    [{ projects: { shop: [] } }, 'Project "shop" must be an object, got an array.'],
    [{ projects: { shop: { folder: '' } } }, 'Project "shop": "folder" must not be empty.'],
    [{ suites: { s: { project: 'x' } } }, 'Suite "s": "project" is "x", which is not one of the projects.'],
    [{ suites: { s: { project: 'web-shop', files: ['--x'] } } }, 'Suite "s": "files.0" is empty or starts with "-".'],
  ])('is refused with a sentence: %j', (settings, message) => {
    expect(() => readConfiguration(settings, WEB_SHOP)).toThrow(message)
  })

  it('has variables of environments as text', () => {
    const project = { folder: '.', environments: { staging: { SHOP_PORT: 8080, SHOP_OPEN: true } } }
    expect(readConfiguration({ projects: { shop: project } }, WEB_SHOP).projects.get('shop')?.environments).toEqual(
      new Map([['staging', { SHOP_PORT: '8080', SHOP_OPEN: 'true' }]]),
    )
  })

  it('may name projects, environments and variables as it likes', () => {
    const project = { folder: '.', environments: JSON.parse('{"constructor":{"__proto__":"x","prototype":"y"}}') }
    const { projects } = readConfiguration(
      { projects: JSON.parse(`{"__proto__":${JSON.stringify(project)}}`) },
      WEB_SHOP,
    )
    const variables = projects.get('__proto__')?.environments.get('constructor')
    expect(Object.entries(variables ?? {})).toEqual([
      ['__proto__', 'x'],
      ['prototype', 'y'],
    ])
  })

  it('is refused with all of its problems at once, and without a key', () => {
    const settings = {
      port: -1,
      keys: ['secret key'],
      concurrency: 'many',
      projects: { a: {}, b: { folder: 7 } },
      prot: 1,
    }
    const read = () => readConfiguration(settings, WEB_SHOP)
    expect(read).toThrow(/"port"[\s\S]*"folder"|"folder"[\s\S]*"port"/)
    try {
      read()
    } catch (error) {
      expect((error as Error).message.split('\n')).toHaveLength(6)
      expect((error as Error).message).not.toContain('secret')
    }
  })
})

describe('the README', () => {
  const settingsOf = (settings: unknown, name: string) => {
    try {
      readConfiguration(settings, WEB_SHOP)
    } catch (error) {
      const [, list = ''] =
        new RegExp(`^${name}: "x" is not a setting. The settings are (.*)\\.$`, 'm').exec((error as Error).message) ??
        []
      return list.split(', ').sort()
    }
    throw new Error('An unknown setting was accepted.')
  }

  it.each([
    ['| setting |', settingsOf({ x: 1 }, 'The configuration')],
    ['| setting of a project |', settingsOf({ projects: { p: { x: 1 } } }, 'Project "p"')],
    ['| setting of a suite |', settingsOf({ suites: { s: { x: 1 } } }, 'Suite "s"')],
  ])('lists every setting in its table "%s"', async (head, settings) => {
    const readme = await readFile(join(REPOSITORY, 'local-service/README.md'), 'utf8')
    const [table = ''] = readme.slice(readme.indexOf(head)).split('\n\n')
    const listed = [...table.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name)
    expect(listed.sort()).toEqual(settings)
  })
})
