import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { writeFiles } from '../../../test/support/git-repository.ts'
import { readConfiguration } from '../../src/settings/configuration.ts'
import { folderWith, temporaryFolder, WEB_SHOP } from '../support/a-local-service.ts'

/** The name of the framework of the only project, which is in this folder. */
function frameworkIn(folder: string, framework?: string) {
  const shop = { folder, ...(framework === undefined ? {} : { framework }) }
  return readConfiguration({ projects: { shop } }, WEB_SHOP).projects.get('shop')?.framework.name
}

const dependingOn = (...packages: readonly string[]) =>
  JSON.stringify({ devDependencies: Object.fromEntries(packages.map((name) => [name, '*'])) })

describe('the framework of a project', () => {
  it.each<[string, Readonly<Record<string, string>>]>([
    ['vitest', { 'vitest.e2e.config.mts': '' }],
    ['vitest', { 'vitest.workspace.json': '' }],
    ['vitest', { 'vite.config.ts': '', 'package.json': dependingOn('vitest', 'playwright') }],
    ['playwright', { 'playwright.config.mjs': '', 'vite.config.ts': '' }],
    ['playwright', { 'package.json': '{"dependencies":{"@playwright/test":"*"}}' }],
    ['playwright', { 'package.json': dependingOn('@playwright/experimental-ct-vue') }],
    ['jest', { 'jest.config.json': '' }],
    ['jest', { 'package.json': dependingOn('jest') }],
    ['jest', { 'package.json': '{"jest":{}}' }],
  ])('is %s if the folder has %j', async (name, files) => {
    expect(frameworkIn(await folderWith(files))).toBe(name)
  })

  it('is that of a folder above a package of a workspace, in its repository', async () => {
    const folder = temporaryFolder()
    const inner = join(folder, 'packages/shop')
    await writeFiles(folder, { 'package.json': dependingOn('vitest'), 'packages/shop/package.json': '{}' })
    expect(() => frameworkIn(inner)).toThrow('uses none of Vitest, Playwright Test and Jest')
    await writeFiles(folder, { '.git/HEAD': '', 'docs/page.md': '' })
    expect(frameworkIn(inner)).toBe('vitest')
    const message = 'docs has no configuration file of them, and no package.json that depends on them.'
    expect(() => frameworkIn(join(folder, 'docs'))).toThrow(message)
  })

  it('is Vitest in a package with a configuration of Vite if a folder above it depends on Vitest', async () => {
    const folder = await folderWith({
      '.git/HEAD': '',
      'package.json': dependingOn('vitest', '@playwright/test'),
      'packages/web/vite.config.ts': '',
      'packages/web/playwright.config.ts': '',
      'packages/e2e/playwright.config.ts': '',
      'packages/shop/vite.config.ts': '',
    })
    expect(() => frameworkIn(join(folder, 'packages/web'))).toThrow('uses Vitest and Playwright Test in ')
    expect(frameworkIn(join(folder, 'packages/e2e'))).toBe('playwright')
    expect(frameworkIn(join(folder, 'packages/shop'))).toBe('vitest')
  })

  it('is in the packages of a monorepo, and the sentence names them', async () => {
    const folder = await folderWith({
      'package.json': '{ "workspaces": ["packages/*"] }',
      'packages/shop/package.json': dependingOn('vitest'),
      'packages/docs/package.json': '{}',
      'apps/web/playwright.config.ts': '',
      'node_modules/a/package.json': dependingOn('vitest'),
    })
    const next = ' Give the folder of a test project, such as "apps/web", "packages/shop". For every other test tool, '
    expect(() => frameworkIn(folder)).toThrow(next)
  })

  it.each([{}, { 'package.json': 'broken' }])('is needed, so a folder that holds %j is refused', async (files) => {
    const folder = await folderWith(files as Record<string, string>)
    expect(() => frameworkIn(folder)).toThrow(
      /^Project ".*" uses none of Vitest, Playwright Test and Jest\. .* give "report", the JUnit file that it writes, and "command", which runs it\.$/,
    )
  })

  it.each<Readonly<Record<string, string>>>([
    { 'vitest.config.ts': '', 'playwright.config.ts': '' },
    // The starter's layout of Vite: the unit tests have no file that is called like Vitest.
    { 'package.json': dependingOn('vitest', '@playwright/test'), 'vite.config.js': '', 'playwright.config.js': '' },
    { 'vitest.config.js': '', 'package.json': dependingOn('@playwright/test') },
    { 'playwright-ct.config.ts': '', 'vitest.unit.config.ts': '' },
    { 'package.json': `\uFEFF${dependingOn('vitest')}`, 'playwright.config.ts': '' },
  ])('is not clear in a folder with %j, and the sentence says what to write', async (files) => {
    const folder = await folderWith(files)
    expect(() => frameworkIn(folder)).toThrow(
      /^Project ".*" uses Vitest and Playwright Test in .*\. Set "framework" to "vitest" or "playwright"\. To run several, /,
    )
    for (const name of ['vitest', 'playwright']) expect(frameworkIn(folder, name)).toBe(name)
  })
})
