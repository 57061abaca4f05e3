import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { writeFiles } from '../../../test/support/git-repository.ts'
import { readConfiguration } from '../../src/settings/configuration.ts'
import { temporaryFolder, WEB_SHOP } from '../support/a-local-service.ts'

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
    ['playwright', { 'package.json': '{"devDependencies":{"@playwright/experimental-ct-vue":"*"}}' }],
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

  it('the sentence about a monorepo names the packages that have a framework', async () => {
    const folder = await temporaryFolder()
    await writeFiles(folder, {
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
      /^Project ".*" uses neither Vitest nor Playwright Test\. .* set "framework" to "junit", with "command" and "report"\.$/,
    ],
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
