import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { stringify } from 'flatted'
import { describe, expect, it } from 'vitest'
import {
  readBlobs,
  refuseEqual,
  type Shard,
  setInName,
  whyIncomplete,
  whyLost,
  withPathsOf,
} from '../../src/frameworks/blob-reports.ts'
import { folderWith, temporaryFolder } from '../support/a-local-service.ts'

// local-service/test/frameworks/merged-runs.test.ts merges reports that the frameworks have written.

const blob = (version: string, testFiles: readonly string[], coverage: object | null = null) => {
  const modules = testFiles.map((filepath) => ({ id: filepath, filepath, name: 'a', tasks: [] }))
  return stringify(
    version.startsWith('3') ? [version, modules, [], [], coverage, 1] : [version, modules, [], coverage, 1],
  )
}

const testFile = (path: string, hasFailed = false) => ({ id: path, path, name: path.replace('/shop/', ''), hasFailed })
const pathsIn = async (folder: string) =>
  (await readBlobs(folder, 'vitest')).map(({ testFiles }) => testFiles.map(({ path }) => path))

describe('which shards are there', () => {
  const reportsOf = (...shards: Shard[]) => shards.map((shard) => ({ file: `${shard.set}-${shard.index}`, shard }))

  it('nothing is missing if each shard of each set has a report', () => {
    const linux = [1, 2].map((index) => ({ set: 'linux', index, total: 2 }))
    const macos = [1, 2, 3].map((index) => ({ set: 'macos', index, total: 3 }))
    expect(whyIncomplete(reportsOf(...linux, ...macos))).toBeUndefined()
    expect(whyIncomplete([{ file: 'all.json' }])).toBeUndefined()
  })

  it('the sentence names each missing shard, and its set if there are several', () => {
    expect(whyIncomplete(reportsOf({ set: 'blob', index: 2, total: 4 }))).toMatch(
      /^the report of shard 1\/4, 3\/4, 4\/4 is missing\. The job may /,
    )
    const sets = reportsOf({ set: 'linux', index: 1, total: 1 }, { set: 'macos', index: 2, total: 2 })
    expect(whyIncomplete(sets)).toMatch(/^the report of shard 1\/2 of "macos" is missing\. /)
  })

  it('two reports of one shard are refused, because one of them is old', () => {
    const twice = reportsOf({ set: 'blob', index: 1, total: 2 }, { set: 'blob', index: 1, total: 2 })
    expect(() => whyIncomplete(twice)).toThrow('has two reports of shard 1/2: "blob-1" and "blob-1"')
  })

  it('two reports of the same test files are refused, unless they are of two sets', () => {
    const shards = [1, 2].map((index) => ({ file: `blob-${index}`, shard: { set: 'blob', index, total: 2 } }))
    const reports = shards.map((one) => ({ ...one, testFiles: [testFile('/shop/a.test.js')] }))
    expect(() => refuseEqual(reports)).toThrow('has reports of the same test files: "blob-1", "blob-2". In each job ')
    const ofSets = reports.map((one) => ({ ...one, shard: { ...one.shard, set: one.file } }))
    const empty = shards.map((one) => ({ ...one, testFiles: [] }))
    for (const right of [ofSets, empty, reports.slice(1)]) expect(() => refuseEqual(right)).not.toThrow()
  })
})

describe("Vitest's reports", () => {
  it.each([
    ['blob-2-4.json', { set: 'blob', index: 2, total: 4 }],
    ['blob-linux-02-4.json', { set: 'blob-linux', index: 2, total: 4 }],
    ['blob-2-4-linux.json', { set: 'blob-linux', index: 2, total: 4 }],
    ['blob-node-20-2-4.json', { set: 'blob-node-20', index: 2, total: 4 }],
    ['1-1.json', { set: '', index: 1, total: 1 }],
    ['blob.json', undefined],
    // A date is no shard.
    ['blob-2026-11.json', undefined],
    ['blob-2026-11-28.json', undefined],
    ['blob-11-2026.json', undefined],
  ])('%s is of shard %j', async (file, shard) => {
    const folder = temporaryFolder()
    await writeFile(join(folder, file), blob('5.1.1', ['/shop/a.test.ts']))
    expect(await readBlobs(folder, 'vitest')).toMatchObject([{ file, shard, testFiles: [{ path: '/shop/a.test.ts' }] }])
  })

  it.each(['3.2.7', '4.1.0', '5.1.1'])('version %s says whether it has coverage', async (version) => {
    const folder = temporaryFolder()
    await writeFile(join(folder, 'a.json'), blob(version, []))
    await writeFile(join(folder, 'b.json'), blob(version, [], { '/shop/a.ts': {} }))
    expect((await readBlobs(folder, 'vitest')).map(({ hasCoverage }) => hasCoverage)).toEqual([false, true])
  })

  it('paths of another machine become those of this folder', async () => {
    const root = await folderWith({ 'packages/shop/a.test.ts': '', 'all/blob-1-1.json': '' })
    const folder = join(root, 'all')
    await writeFile(
      join(folder, 'blob-1-1.json'),
      blob('5.1.1', ['/__w/gone.test.ts', '/__w/"s"/packages/shop/a.test.ts']),
    )
    const newFolder = join(root, 'new')
    expect(await withPathsOf(root, folder, await readBlobs(folder, 'vitest'), newFolder)).toBe(newFolder)
    expect(await pathsIn(newFolder)).toEqual([['/__w/gone.test.ts', join(root, 'packages/shop/a.test.ts')]])
  })

  it('each report has its own root, because shards may have run on several systems', async () => {
    const root = await folderWith({ 'a.test.ts': '' })
    const own = join(root, 'a.test.ts')
    const folder = await folderWith({
      'blob-linux-1-1.json': blob('4.1.0', [own]),
      'blob-macos-1-1.json': blob('4.1.0', ['/Users/runner/work/shop/shop/a.test.ts']),
    })
    const newFolder = join(root, 'new')
    expect(await withPathsOf(root, folder, await readBlobs(folder, 'vitest'), newFolder)).toBe(newFolder)
    expect(await pathsIn(newFolder)).toEqual([[own], [own]])
  })

  it('shards that ran in the root of their machine are refused, because every path begins with a slash', async () => {
    const root = await folderWith({ 'e2e/a.test.ts': '' })
    const reports = [{ file: 'a.json', testFiles: [testFile('/e2e/a.test.ts')], hasCoverage: false }]
    await expect(withPathsOf(root, root, reports, join(root, 'new'))).rejects.toThrow('which are not in')
  })

  it('reports of tests that are not there are refused, with both paths', async () => {
    const root = temporaryFolder()
    const reports = [{ file: 'a.json', testFiles: [testFile('/__w/shop/a.test.ts')], hasCoverage: false }]
    await expect(withPathsOf(root, root, reports, join(root, 'new'))).rejects.toThrow(
      `has a report, "a.json", of "/__w/shop/a.test.ts" and others, which are not in ${root}`,
    )
  })

  it('the sentence names a test file that failed in one report only, because Vitest would lose the failure', () => {
    const reportsOf = (...failed: boolean[]) =>
      failed.map((hasFailed, index) => ({
        file: `blob-${index}.json`,
        testFiles: [testFile('/shop/a.test.ts', hasFailed), testFile(`/shop/${index}.test.ts`, true)],
        hasCoverage: false,
      }))
    expect(whyLost(reportsOf(false, true))).toMatch(
      /^"a\.test\.ts" failed in "blob-1\.json" and not in "blob-0\.json", and Vitest keeps only one result of a test file\. /,
    )
    expect(whyLost(reportsOf(true, true))).toBeUndefined()
    expect(whyLost(reportsOf(false, false))).toBeUndefined()
    const withTypes = [testFile('/shop/a.test.ts'), testFile('/shop/a.test.ts', true)]
    expect(whyLost([{ file: 'blob-1.json', testFiles: withTypes, hasCoverage: false }])).toBeUndefined()
  })

  it.each([
    [{}, 'has no blob report (*.json). Upload the report of each shard'],
    [{ 'shard-1/blob-1-4.json': '' }, 'directly into it, with "merge-multiple: true"'],
    [{ 'blob-1-4.json': '[["1"' }, 'has a file that is no blob report, "blob-1-4.json": '],
    [
      { 'results.json': '[{"a":1}]' },
      'has a file that is no blob report, "results.json": it is JSON of another kind. If it is the report of a shard, run this shard again.',
    ],
    [{ 'blob-1-4.json': '', 'notes.txt': '' }, 'has "notes.txt" beside the reports. Leave it out.'],
    [{ 'blob-1-4.json': '', 'shard-2/blob-2-4.json': '' }, 'has "shard-2" beside the reports'],
  ])('a folder with %j is refused', async (files, message) => {
    const folder = await folderWith(files as Record<string, string>)
    await expect(readBlobs(folder, 'vitest')).rejects.toThrow(message)
  })
})

describe("Playwright's reports", () => {
  it.each([
    [{}, 'has no blob report (*.zip)'],
    [{ 'report-1.zip': 'PK' }, 'has a file that is no blob report, "report-1.zip": '],
    [
      { 'report-1.zip': '', 'blob-1-2.json': '' },
      'has "blob-1-2.json" beside the reports. Leave it out. Reports of another',
    ],
  ])('a folder with %j is refused', async (files, message) => {
    const folder = await folderWith(files as Record<string, string>)
    await expect(readBlobs(folder, 'playwright')).rejects.toThrow(message)
  })

  it.each<[string, string | undefined, number?]>([
    ['report-2.zip', 'report'],
    ['report-chrome-02.zip', 'report-chrome'],
    ['report-4b2c1d3-2.zip', 'report-4b2c1d3'],
    ['e2e-2-linux.zip', 'e2e--linux'],
    ['linux-shard2of4.zip', 'linux-shardof4'],
    ['shard-2-of-2.zip', 'shard--of-2', 2],
    ['linux.zip', undefined],
  ])('%s with shard 2 is of the set %s', (file, set, total = 4) => {
    expect(setInName(file, 2, total)).toBe(set)
  })

  it('a folder that does not exist is refused', async () => {
    await expect(readBlobs('/does/not/exist', 'playwright')).rejects.toThrow(
      /^cannot be read: ENOENT: .*\. Download the reports of all shards into it$/,
    )
  })
})
