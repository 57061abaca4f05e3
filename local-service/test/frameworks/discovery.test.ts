import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { writeFiles } from '../../../test/support/git-repository.ts'
import { readConfiguration } from '../../src/settings/configuration.ts'
import { folderWith, temporaryFolder, WEB_SHOP } from '../support/a-local-service.ts'

/** The only project, in this folder. */
function projectIn(folder: string, settings: object = {}) {
  return readConfiguration({ projects: { shop: { folder, ...settings } } }, WEB_SHOP).projects.get('shop')
}

describe('the framework of a project', () => {
  it.each([
    ['vitest', { 'vitest.config.ts': '' }],
    ['vitest', { 'vitest.e2e.config.mts': '' }],
    ['vitest', { 'vitest.workspace.json': '' }],
    ['vitest', { 'package.json': '{"devDependencies":{"vitest":"*"}}' }],
    ['vitest', { 'vite.config.ts': '', 'package.json': '{"devDependencies":{"vitest":"*"}}' }],
    ['vitest', { 'package.json': '{"devDependencies":{"vitest":"*","playwright":"*"}}' }],
    ['playwright', { 'playwright.config.mjs': '' }],
    ['jest', { 'jest.config.json': '' }],
    ['jest', { 'jest.e2e.config.ts': '' }],
    ['jest', { 'package.json': '{"devDependencies":{"jest":"*"}}' }],
    ['jest', { 'package.json': '{"jest":{}}' }],
    ['playwright', { 'playwright.config.ts': '', 'vite.config.ts': '' }],
    ['playwright', { 'package.json': '{"dependencies":{"@playwright/test":"*"}}' }],
    ['playwright', { 'package.json': '{"devDependencies":{"@playwright/experimental-ct-vue":"*"}}' }],
  ])('the framework is %s if the folder has %j', async (name, files) => {
    const folder = await folderWith(files as Record<string, string>)
    expect(projectIn(folder)?.framework.name).toBe(name)
  })

  it('a package of a workspace uses the framework of a folder above it, in its repository', async () => {
    const folder = temporaryFolder()
    const inner = join(folder, 'packages/shop')
    await writeFiles(folder, {
      'package.json': '{"devDependencies":{"vitest":"*"}}',
      'packages/shop/package.json': '{}',
    })
    expect(() => projectIn(inner)).toThrow('uses none of Vitest, Playwright Test and Jest')
    await writeFiles(folder, { '.git/HEAD': '' })
    expect(projectIn(inner)?.framework.name).toBe('vitest')
    await writeFiles(folder, { 'docs/page.md': '' })
    const message =
      /uses none of Vitest, Playwright Test and Jest.*docs has no configuration file of them, and no package\.json that depends on them\./
    expect(() => projectIn(join(folder, 'docs'))).toThrow(message)
  })

  it('the sentence about a monorepo names the packages that have a framework', async () => {
    const folder = await folderWith({
      'package.json': '{ "workspaces": ["packages/*"] }',
      'packages/shop/package.json': '{"devDependencies":{"vitest":"*"}}',
      'packages/docs/package.json': '{}',
      'apps/web/playwright.config.ts': '',
      'node_modules/a/package.json': '{"devDependencies":{"vitest":"*"}}',
    })
    expect(() => projectIn(folder)).toThrow(
      / Give the folder of a test project, such as "apps\/web", "packages\/shop"\. For every other test tool, /,
    )
  })

  it.each([
    [
      {},
      /^Project ".*" uses none of Vitest, Playwright Test and Jest\. .* give "report", the JUnit file that it writes, and "command", which runs it\.$/,
    ],
    [{ 'package.json': 'broken' }, /uses none of Vitest, Playwright Test and Jest/],
  ])('a folder that holds %j is refused with a sentence', async (files, message) => {
    const folder = await folderWith(files as Record<string, string>)
    expect(() => projectIn(folder)).toThrow(message)
  })

  it.each([
    { 'vitest.config.ts': '', 'playwright.config.ts': '' },
    { 'package.json': '{"devDependencies":{"vitest":"*","@playwright/test":"*"}}' },
    // The starter's layout of Vite: the unit tests have no file that is called like Vitest.
    {
      'package.json': '{"devDependencies":{"vitest":"*","@playwright/test":"*"}}',
      'vite.config.js': 'export default { test: {} }',
      'playwright.config.js': '',
    },
    { 'vitest.config.js': '', 'package.json': '{"devDependencies":{"@playwright/test":"*"}}' },
    { 'playwright.config.ts': '', 'package.json': '{"devDependencies":{"vitest":"*"}}' },
    { 'playwright-ct.config.ts': '', 'vitest.unit.config.ts': '' },
    { 'package.json': '\uFEFF{"devDependencies":{"vitest":"*"}}', 'playwright.config.ts': '' },
  ])('a folder with both frameworks is refused, and the sentence says what to write: %j', async (files) => {
    const folder = await folderWith(files as Record<string, string>)
    expect(() => projectIn(folder)).toThrow(USES_BOTH)
    expect(projectIn(folder, { framework: 'vitest' })?.framework.name).toBe('vitest')
    expect(projectIn(folder, { framework: 'playwright' })?.framework.name).toBe('playwright')
  })

  it('a folder with three frameworks is refused too', async () => {
    const folder = await folderWith({ 'vitest.config.ts': '', 'playwright.config.ts': '', 'jest.config.js': '' })
    const message = 'uses Vitest, Playwright Test and Jest in '
    expect(() => projectIn(folder)).toThrow(message)
    expect(() => projectIn(folder)).toThrow('Set "framework" to "vitest", "playwright" or "jest". To run several, ')
    expect(projectIn(folder, { framework: 'jest' })?.framework.name).toBe('jest')
  })

  it('a package with a configuration of Vite uses Vitest if a folder above it depends on Vitest', async () => {
    const folder = await folderWith({
      '.git/HEAD': '',
      'package.json': '{"devDependencies":{"vitest":"*","@playwright/test":"*"}}',
      'packages/web/vite.config.ts': '',
      'packages/web/playwright.config.ts': '',
      'packages/e2e/playwright.config.ts': '',
      'packages/shop/vite.config.ts': '',
    })
    expect(() => projectIn(join(folder, 'packages/web'))).toThrow(USES_BOTH)
    expect(projectIn(join(folder, 'packages/e2e'))?.framework.name).toBe('playwright')
    expect(projectIn(join(folder, 'packages/shop'))?.framework.name).toBe('vitest')
  })
})

const USES_BOTH =
  /^Project ".*" uses Vitest and Playwright Test in .*\. Set "framework" to "vitest" or "playwright"\. To run several, /
