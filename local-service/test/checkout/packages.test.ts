import { mkdir, readdir, readFile, readlink, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { writeFiles } from '../../../test/support/git-repository.ts'
import { findFramework, linkPackages } from '../../src/checkout/packages.ts'
import { jest } from '../../src/frameworks/jest.ts'
import { playwright } from '../../src/frameworks/playwright.ts'
import { unusable } from '../../src/frameworks/unusable.ts'
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

it.each([
  [vitest, 'vitest', '2.1.9', '3.0'],
  [playwright, '@playwright/test', '1.44.1', '1.45'],
  [jest, 'jest', '28.1.3', '29.0'],
])('the command of $title is not that of a version that is too old', async (framework, name, version, oldest) => {
  const root = temporaryFolder()
  const findIn = async (installed: string) => {
    const manifest = JSON.stringify({ version: installed, bin: 'cli.js' })
    await writeFiles(root, { [`node_modules/${name}/package.json`]: manifest })
    return findFramework(framework, { root, folder: root })
  }
  const problem = `${name} ${version} is installed in ${root}. The service needs ${oldest} or newer. Update the package.`
  expect(await findIn(version)).toEqual(unusable(problem))
  for (const newer of [`${oldest}.0-beta.4`, '100.0.0']) expect(await findIn(newer)).toHaveProperty('script')
})

it('the command of Playwright is that of the package for component tests, if only this package is installed', async () => {
  const manifest = '{ "bin": { "playwright": "cli.js" } }'
  const root = await folderWith({ 'node_modules/@playwright/experimental-ct-react/package.json': manifest })
  const place = { root, folder: join(root, 'shop') }
  const ofComponents = join(root, 'node_modules/@playwright/experimental-ct-react/cli.js')
  expect(findFramework(playwright, place)).toEqual({ script: ofComponents })
  await writeFiles(root, { 'node_modules/@playwright/test/package.json': manifest })
  expect(findFramework(playwright, place)).toEqual({ script: join(root, 'node_modules/@playwright/test/cli.js') })
})

it('a package above the root is not executed, because it may belong to somebody else', async () => {
  const above = await folderWith({ 'node_modules/vitest/package.json': '{"bin":"planted.cjs"}' })
  const root = join(above, 'project')
  for (const folder of [root, join(root, 'packages/shop')]) {
    expect(findFramework(vitest, { root, folder })).toEqual(unusable(expect.stringMatching(/^vitest is not installed/)))
  }
})

it("names the command for Yarn's Plug'n'Play, if a folder up to the root has its file", async () => {
  const root = temporaryFolder()
  const place = { root, folder: join(root, 'packages/shop') }
  expect(findFramework(vitest, place)).toEqual(unusable(expect.not.stringContaining('Yarn')))
  await writeFiles(root, { '.pnp.cjs': '' })
  const next = `Yarn's Plug'n'Play is used there (.pnp.cjs). Set "command" to "yarn vitest".`
  expect(findFramework(vitest, place)).toEqual(unusable(`vitest is not installed in ${place.folder}. ${next}`))
})

it("links the packages into a work tree, the work tree's own sources where a workspace has linked them, and no folder in which tools keep files", async () => {
  const [root, tree, elsewhere] = [temporaryFolder(), join(temporaryFolder(), 'tree'), temporaryFolder()]
  const sources = ['app', 'core', 'tools', 'ui'].map((name) => `packages/${name}/a.js`)
  const writeSources = (folder: string, text: string) =>
    writeFiles(folder, Object.fromEntries(sources.map((file) => [file, text])))
  await writeSources(root, 'checked out')
  await writeSources(tree, 'branch')
  await writeFiles(elsewhere, { 'a.js': 'elsewhere' })
  await writeFiles(root, {
    'packages/gone/a.js': 'checked out',
    'packages/gone/node_modules/bought/a.js': 'installed',
    'node_modules/.pnpm/left-pad/node_modules/left-pad/a.js': 'installed',
    'node_modules/.package-lock.json': '',
    'node_modules/.vite/deps/a.js': '',
    'node_modules/.vitest/results.json': '',
    'node_modules/.cache/x': '',
    'node_modules/@shop/bought/a.js': 'installed',
    'node_modules/@other/bought/a.js': 'installed',
    'packages/core/node_modules/@deep/bought/a.js': 'installed',
  })
  const links = {
    'node_modules/core': '../packages/core',
    'node_modules/gone': '../packages/gone',
    'node_modules/elsewhere': elsewhere,
    'node_modules/nowhere': '../packages/nowhere',
    'node_modules/@nowhere': '../packages/nowhere',
    'node_modules/@all': '../packages',
    'node_modules/@shop/core': '../../packages/core',
    'node_modules/@shop/gone': '../../packages/gone',
    'node_modules/left-pad': '.pnpm/left-pad/node_modules/left-pad',
    'packages/app/node_modules/ui': '../../../packages/ui',
    'packages/app/node_modules/@shop': '../../../node_modules/@shop',
    'packages/core/node_modules/tools': '../../tools',
    'packages/tools/node_modules/core': '../../core',
  }
  await mkdir(join(root, 'packages/app/node_modules'))
  await mkdir(join(root, 'packages/tools/node_modules'))
  for (const [link, target] of Object.entries(links)) await symlink(target, join(root, link))
  await linkPackages({ root, folder: join(root, 'packages/app') }, tree)

  const read = (name: string) => readFile(join(tree, name, 'a.js'), 'utf8').catch(() => 'none')
  const expected = {
    'node_modules/core': 'branch',
    'node_modules/gone': 'none',
    'node_modules/elsewhere': 'elsewhere',
    'node_modules/@all/core': 'branch',
    'node_modules/@shop/core': 'branch',
    'node_modules/@shop/gone': 'none',
    'node_modules/@shop/bought': 'installed',
    'node_modules/@other/bought': 'installed',
    'node_modules/left-pad': 'installed',
    'packages/app/node_modules/ui': 'branch',
    'packages/app/node_modules/@shop/core': 'branch',
    // The packages of the linked sources, and of the sources that they link.
    'packages/core/node_modules/@deep/bought': 'installed',
    'packages/core/node_modules/tools': 'branch',
    'packages/tools/node_modules/core': 'branch',
  }
  const found = await Promise.all(Object.keys(expected).map(async (name) => [name, await read(name)]))
  expect(Object.fromEntries(found)).toEqual(expected)
  expect(await readlink(join(tree, 'node_modules/.pnpm'))).toBe(join(root, 'node_modules/.pnpm'))
  const hidden = (await readdir(join(tree, 'node_modules'))).filter((name) => name.startsWith('.'))
  expect(hidden.toSorted()).toEqual(['.package-lock.json', '.pnpm'])
})
