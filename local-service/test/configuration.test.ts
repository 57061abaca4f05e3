import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { writeFiles } from '../../test/support/git-repository.ts'
import { readConfiguration, SUITE } from '../src/settings/configuration.ts'
import { PROJECT } from '../src/settings/project.ts'
import { REPOSITORY, temporaryFolder, WEB_SHOP } from './a-local-service.ts'

/** The only project, in this folder. */
function projectIn(folder: string, settings: object = {}) {
  return readConfiguration({ projects: { shop: { folder, ...settings } } }, WEB_SHOP).projects.get('shop')
}

describe('a project', () => {
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
    expect(projectIn(folder)?.framework.name).toBe(name)
  })

  it('a package of a workspace uses the framework of a folder above it, in its repository', async () => {
    const folder = await temporaryFolder()
    const inner = join(folder, 'packages/shop')
    await writeFiles(folder, {
      'package.json': '{"devDependencies":{"vitest":"*"}}',
      'packages/shop/package.json': '{}',
    })
    expect(() => projectIn(inner)).toThrow('uses neither Vitest nor Playwright Test')
    await writeFiles(folder, { '.git/HEAD': '' })
    expect(projectIn(inner)?.framework.name).toBe('vitest')
    await writeFiles(folder, { 'docs/page.md': '' })
    const message =
      /uses neither Vitest nor Playwright Test.*docs has no package.json and no configuration file of them\./
    expect(() => projectIn(join(folder, 'docs'))).toThrow(message)
  })

  it.each([
    [{}, /^Project ".*" uses neither Vitest nor Playwright Test\. .*Give the folder of a test project\.$/],
    [{ 'package.json': 'broken' }, /uses neither Vitest nor Playwright Test/],
    [
      { 'vitest.config.ts': '', 'playwright.config.ts': '' },
      /^Project ".*" uses both .*\. Set "framework" to "vitest" or "playwright"\.$/,
    ],
    [{ 'package.json': '{"devDependencies":{"vitest":"*","@playwright/test":"*"}}' }, /uses both/],
  ])('a folder that holds %j is refused with a sentence', async (files, message) => {
    const folder = await temporaryFolder()
    await writeFiles(folder, files as Record<string, string>)
    expect(() => projectIn(folder)).toThrow(message)
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

  const shop = (settings: object) => ({ projects: { shop: { folder: '.', ...settings } } })

  it.each([
    [[], /^The configuration: "projects": It is missing\.$/],
    [{ ...shop({}), prot: 1 }, /^The configuration: "prot": The service does not know "prot"\.$/],
    [{ projects: { shop: {} } }, /"projects.shop.folder": It is missing\./],
    [shop({ setup: [] }), /"projects.shop.setup": It is empty\./],
    [shop({ fix: 'npm test' }), /"projects.shop.fix": Invalid type: Expected Array/],
    [shop({ environments: { a: { B: [1] } } }), /"projects.shop.environments.a.B": Invalid type/],
    [shop({ environments: { a: { 'B=C': '1' } } }), /"projects.shop.environments.a.B=C": It cannot be the name/],
    [shop({ framework: 'jest' }), /"projects.shop.framework": Invalid type: Expected \("vitest" \| "playwright"\)/],
    [{ projects: { shop: { folder: 'nowhere' } } }, /^Project "shop" has no folder .*nowhere\.$/],
    [shop({ args: ['--watch'] }), /^Project "shop" cannot be served: "args" has "--watch"\. The run would not end/],
    [{ ...shop({}), suites: { s: { project: 'x' } } }, /^Suite "s": There is no project "x"\.$/],
    [{ ...shop({}), suites: { s: { project: 'shop', files: ['--x'] } } }, /"suites.s.files.0": It is empty or begins/],
  ])('is refused with a sentence: %j', (settings, message) => {
    expect(() => readConfiguration(settings, WEB_SHOP)).toThrow(message)
  })

  it('has variables of environments as text', () => {
    const project = { folder: '.', environments: { staging: { SHOP_PORT: 8080, SHOP_OPEN: true } } }
    expect(readConfiguration({ projects: { shop: project } }, WEB_SHOP).projects.get('shop')?.environments).toEqual({
      staging: { SHOP_PORT: '8080', SHOP_OPEN: 'true' },
    })
  })
})

describe('the README', () => {
  it.each([
    ['| setting of a project |', PROJECT.entries],
    ['| setting of a suite |', SUITE.entries],
  ])('lists every setting in its table "%s"', async (head, entries) => {
    const readme = await readFile(join(REPOSITORY, 'local-service/README.md'), 'utf8')
    const [table = ''] = readme.slice(readme.indexOf(head)).split('\n\n')
    const listed = [...table.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name)
    expect(listed.sort()).toEqual(Object.keys(entries).sort())
  })
})
