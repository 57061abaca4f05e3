import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { writeFiles } from '../../../test/support/git-repository.ts'
import { findFramework, linkPackages } from '../../src/checkout/packages.ts'
import { unusable } from '../../src/frameworks/framework.ts'
import { playwright } from '../../src/frameworks/playwright.ts'
import { vitest } from '../../src/frameworks/vitest.ts'
import { folderWith, temporaryFolder } from '../support/a-local-service.ts'

it.each([
  'null',
  '7',
  '"bin"',
  'broken',
  '{"bin": 7}',
  '{"bin": ["a", 7]}',
  '{"bin": {"a": {}}}',
])('the manifest of an installed package names no command if it is %s', async (text) => {
  const root = await folderWith({ 'node_modules/vitest/package.json': text })
  const next = 'Install the packages first, for example with "npm ci", or set "command".'
  expect(findFramework(vitest, { root, folder: root })).toEqual(unusable(`vitest is not installed in ${root}. ${next}`))
})

describe('the command of Playwright', () => {
  const manifest = '{ "bin": { "playwright": "cli.js" } }'

  it('is not that of a version that is too old', async () => {
    const old = '{ "version": "1.44.1", "bin": "cli.js" }'
    const root = await folderWith({ 'node_modules/@playwright/test/package.json': old })
    const needs = 'The service needs 1.45 or newer. Update the package.'
    const problem = `@playwright/test 1.44.1 is installed in ${root}. ${needs}`
    expect(findFramework(playwright, { root, folder: root })).toEqual(unusable(problem))
  })

  it('is that of the package for component tests, if only this package is installed', async () => {
    const root = temporaryFolder()
    const place = { root, folder: join(root, 'shop') }
    await writeFiles(root, { 'node_modules/@playwright/experimental-ct-react/package.json': manifest })
    const ofComponents = join(root, 'node_modules/@playwright/experimental-ct-react/cli.js')
    expect(findFramework(playwright, place)).toEqual({ script: ofComponents })
    await writeFiles(root, { 'node_modules/@playwright/test/package.json': manifest })
    expect(findFramework(playwright, place)).toEqual({ script: join(root, 'node_modules/@playwright/test/cli.js') })
  })
})

it("names the command for Yarn's Plug'n'Play, if a folder up to the root has its file", async () => {
  const root = temporaryFolder()
  const place = { root, folder: join(root, 'packages/shop') }
  expect(findFramework(vitest, place)).toEqual(unusable(expect.not.stringContaining('Yarn')))
  await writeFiles(root, { '.pnp.cjs': '' })
  const next = `Yarn's Plug'n'Play is used there (.pnp.cjs). Set "command" to "yarn vitest".`
  expect(findFramework(vitest, place)).toEqual(unusable(`vitest is not installed in ${place.folder}. ${next}`))
})

it('links the packages into a work tree, but not the folders in which tools keep files of their own', async () => {
  const [root, tree] = [temporaryFolder(), temporaryFolder()]
  const place = { root, folder: join(root, 'shop') }
  const installed = ['left-pad/a.js', '@scope/b/b.js', '.bin/vitest', '.package-lock.json']
  const ofTools = ['.vite/deps/a.js', '.vite-temp/config.mjs', '.vitest/results.json', '.cache/x']
  const files = [...installed, ...ofTools].map((file) => [`shop/node_modules/${file}`, ''])
  await writeFiles(root, Object.fromEntries(files))
  await mkdir(join(tree, 'shop'))
  await linkPackages(place, tree)
  const linked = await readdir(join(tree, 'shop/node_modules'))
  expect(linked.toSorted()).toEqual(['.bin', '.package-lock.json', '@scope', 'left-pad'])
})
