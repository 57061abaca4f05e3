import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { parse, stringify } from 'flatted'
import { describe, expect, it } from 'vitest'
import { readBlobs } from '../../src/frameworks/blob-folder.ts'
import type { RunOptions } from '../../src/frameworks/framework.ts'
import { mergeVitest } from '../../src/frameworks/merge.ts'
import { PLAYWRIGHT_BLOBS } from '../../src/frameworks/playwright-blobs.ts'
import { ReadingThread } from '../../src/frameworks/reading.ts'
import { whyIncomplete, whyUncounted } from '../../src/frameworks/shards.ts'
import { refuseEqual, VITEST_BLOBS, whyLost, withPathsOf } from '../../src/frameworks/vitest-blobs.ts'
import { folderWith, temporaryFolder } from '../support/a-local-service.ts'

// local-service/test/frameworks/merged-runs.test.ts merges reports that the frameworks have written.

const blob = (version: string, testFiles: readonly string[], coverage: object | null = null, state = 'pass') => {
  const modules = testFiles.map((filepath) => ({ id: filepath, filepath, name: 'a', tasks: [], result: { state } }))
  return stringify(
    version.startsWith('3') ? [version, modules, [], [], coverage, 1] : [version, modules, [], coverage, 1],
  )
}

/** A zip of these files, which are not compressed. */
function zipOf(...files: readonly [name: string, text: string][]): Buffer {
  const entries: Buffer[] = []
  const directory: Buffer[] = []
  for (const [name, text] of files) {
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt32LE(crc32(text), 10)
    common.writeUInt32LE(text.length, 14)
    common.writeUInt32LE(text.length, 18)
    common.writeUInt16LE(name.length, 22)
    const offset = Buffer.alloc(14)
    offset.writeUInt32LE(Buffer.concat(entries).length, 10)
    entries.push(Buffer.concat([Buffer.from('PK\x03\x04'), common, Buffer.from(name), Buffer.from(text)]))
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\0'), common, offset, Buffer.from(name)]))
  }
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06')
  end.writeUInt16LE(files.length, 8)
  end.writeUInt16LE(files.length, 10)
  end.writeUInt32LE(Buffer.concat(directory).length, 12)
  end.writeUInt32LE(Buffer.concat(entries).length, 16)
  return Buffer.concat([...entries, ...directory, end])
}

const testFile = (path: string, hasFailed = false) => ({ id: path, path, name: path.replace('/shop/', ''), hasFailed })
const pathsIn = async (folder: string) =>
  (await readBlobs(folder, VITEST_BLOBS)).map(({ testFiles }) => testFiles.map(({ path }) => path))

describe('which shards are there', () => {
  const reportsOf = (total: number, ...indexes: number[]) =>
    indexes.map((index, at) => ({ file: `${at}.json`, shard: { set: 'blob', index, total } }))

  it.each<[number, number[], string | undefined]>([
    [1, [1], undefined],
    [2, [1, 2], undefined],
    // Two projects, or two systems of one name.
    [2, [1, 2, 1, 2], undefined],
    [4, [1, 2, 4], 'shard 3/4 is missing beside "0.json". A job may'],
    [4, [2], 'shards 1/4, 3/4 and 4/4 are missing beside '],
    [4, [1, 2, 4, 4, 2, 1, 3], 'shard 3/4 is missing beside '],
    [4, [1, 2, 3, 4, 2], 'shard 2/4 is there twice: an earlier attempt? Its reports are "1.json" and "4.json". '],
    [3, [1, 2, 2, 2, 3], 'shard 2/3 is there 3 times: an earlier attempt? '],
    [4, [1, 2, 2, 3], 'shard 4/4 is missing beside "0.json", and shard 2/4 is there twice'],
    [2, [1, 1], 'shard 2/2 is missing beside "0.json", and shard 1/2 is there twice'],
    // Nobody knows whether these are two projects or a second attempt.
    [2, [1, 2, 1], 'shard 2/2 is missing beside "0.json", or shard 1/2 is there twice'],
  ])('of %i, if %j are there: %s', (total, indexes, sentence) => {
    const why = whyIncomplete(reportsOf(total, ...indexes))
    expect(why).toEqual(sentence === undefined ? [] : [expect.stringContaining(sentence)])
  })

  it('reports of two systems are counted apart, and the sentence names a report of the system', () => {
    const shard = (set: string, index: number) => ({ file: `${set}-${index}.json`, shard: { set, index, total: 2 } })
    const linux = [shard('linux', 1), shard('linux', 2)]
    expect(whyIncomplete([...linux, shard('macos', 1), shard('macos', 2)])).toEqual([])
    expect(whyIncomplete([...linux, shard('macos', 2)])[0]).toContain('shard 1/2 is missing beside "macos-2.json". ')
  })

  it('the log says that nobody could count several reports without a number, and nothing of one report', () => {
    const [one, other] = [{ file: 'a.json' }, { file: 'b.json' }]
    expect(whyUncounted([one, other])).toMatch(/^the names of 2 reports do not say how many there must be, /)
    expect([whyUncounted([one]), whyUncounted(reportsOf(2, 1, 2))]).toEqual([undefined, undefined])
    expect(whyIncomplete([one])).toEqual([])
  })

  it('two reports of the same test files are refused, unless they are of one number or of two sets', () => {
    const report = (index: number, set = 'blob') => ({
      file: `blob-${index}`,
      shard: { set, index, total: 2 },
      testFiles: [testFile('/shop/a.test.js')],
    })
    expect(() => refuseEqual([report(1), report(2)])).toThrow(
      'has reports of the same test files: "blob-1", "blob-2". In each job ',
    )
    const empty = [1, 2].map((index) => ({ ...report(index), testFiles: [] }))
    for (const right of [[report(1), report(2, 'macos')], [report(1), report(1)], empty, [report(1)]])
      expect(() => refuseEqual(right)).not.toThrow()
  })
})

describe("Vitest's reports", () => {
  it.each([
    ['blob-2-4.json', { set: 'blob--', index: 2, total: 4 }],
    ['blob-linux-02-4.json', { set: 'blob-linux--', index: 2, total: 4 }],
    ['blob-2-4-linux.json', { set: 'blob---linux', index: 2, total: 4 }],
    ['blob-node-20-2-4.json', { set: 'blob-node---', index: 2, total: 4 }],
    ['blob-attempt-1-2-4.json', { set: 'blob-attempt---', index: 2, total: 4 }],
    ['blob-2-4-v1.6.json', { set: 'blob---v.', index: 2, total: 4 }],
    ['1-1.json', { set: '-', index: 1, total: 1 }],
    ['vitest-1-of-2.json', { set: 'vitest--of-', index: 1, total: 2 }],
    ['shard-1_2.json', { set: 'shard-_', index: 1, total: 2 }],
    ['blob.1.2.json', { set: 'blob..', index: 1, total: 2 }],
    ['blob_1_2.json', { set: 'blob__', index: 1, total: 2 }],
    ['shard2of4.json', { set: 'shardof', index: 2, total: 4 }],
    ['1of4-3e12-34ab.json', { set: 'of-e-ab', index: 1, total: 4 }],
    ['blob.json', undefined],
    ['blob-3e12-34ab.json', undefined],
    ['blob-3.json', undefined],
    // A date is no shard.
    ['blob-2026-11.json', undefined],
    ['blob-2026-11-28.json', undefined],
    ['blob-2026-11-28T10-30.json', undefined],
    ['blob-11-2026.json', undefined],
  ])('%s is of shard %j', async (file, shard) => {
    const folder = temporaryFolder()
    await writeFile(join(folder, file), blob('5.1.1', ['/shop/a.test.ts']))
    expect(await readBlobs(folder, VITEST_BLOBS)).toMatchObject([
      { file, shard, testFiles: [{ path: '/shop/a.test.ts' }] },
    ])
  })

  it.each(['3.2.7', '4.1.0', '5.1.1'])('version %s says whether it has coverage', async (version) => {
    const folder = temporaryFolder()
    await writeFile(join(folder, 'a.json'), blob(version, []))
    await writeFile(join(folder, 'b.json'), blob(version, [], { '/shop/a.ts': {} }))
    expect((await readBlobs(folder, VITEST_BLOBS)).map(({ hasCoverage }) => hasCoverage)).toEqual([false, true])
  })

  it('paths of another machine become those of this folder', async () => {
    const root = await folderWith({ 'packages/shop/a.test.ts': '', 'all/blob-1-1.json': '' })
    const folder = join(root, 'all')
    await writeFile(
      join(folder, 'blob-1-1.json'),
      blob('5.1.1', ['/__w/gone.test.ts', '/__w/"s"/packages/shop/a.test.ts']),
    )
    const newFolder = join(root, 'new')
    expect(await withPathsOf(root, folder, await readBlobs(folder, VITEST_BLOBS), newFolder)).toBe(newFolder)
    expect(await pathsIn(newFolder)).toEqual([['/__w/gone.test.ts', join(root, 'packages/shop/a.test.ts')]])
  })

  it('a path of another machine is replaced at its beginning only, wherever it begins', async () => {
    const root = await folderWith({ 'src/app/a.test.ts': '', 'all/blob-1-1.json': '' })
    const folder = join(root, 'all')
    const texts = (at: string) => [
      `${at}/src/app/a.test.ts`,
      'src/app/a.test.ts',
      `${at}/src/(shop)/app/a.test.ts`,
      `failed\n\tat pay (${at}/a.ts:1:1)\n${at}/a.ts\u001b[31m${at}/a.ts\u0000${at}/a.ts`,
      `file://${at}/a.ts and http://localhost:80/app/a.ts`,
    ]
    await writeFile(join(folder, 'blob-1-1.json'), blob('5.1.1', texts('/app'), { '/app/src/app/a.ts': {} }))
    const newFolder = join(root, 'new')
    expect(await withPathsOf(root, folder, await readBlobs(folder, VITEST_BLOBS), newFolder)).toBe(newFolder)
    const [, modules, , coverage] = parse(await readFile(join(newFolder, 'blob-1-1.json'), 'utf8'))
    expect(modules.map(({ filepath }: { readonly filepath: string }) => filepath)).toEqual(texts(root))
    expect(coverage).toEqual({ [`${root}/src/app/a.ts`]: {} })
  })

  it('each report has its own root, because shards may have run on several systems', async () => {
    const root = await folderWith({ 'a.test.ts': '' })
    const own = join(root, 'a.test.ts')
    const folder = await folderWith({
      'blob-linux-1-1.json': blob('4.1.0', [own]),
      'blob-macos-1-1.json': blob('4.1.0', ['/Users/runner/work/shop/shop/a.test.ts']),
    })
    const newFolder = join(root, 'new')
    expect(await withPathsOf(root, folder, await readBlobs(folder, VITEST_BLOBS), newFolder)).toBe(newFolder)
    expect(await pathsIn(newFolder)).toEqual([[own], [own]])
  })

  it.each([
    ['are not there', '/__w/shop/a.test.ts'],
    // Every path begins with a slash.
    ['ran in the root of their machine', '/e2e/a.test.ts'],
  ])('reports of tests that %s are refused, with both paths', async (_what, path) => {
    const root = await folderWith({ 'e2e/a.test.ts': '' })
    const reports = [{ file: 'a.json', testFiles: [testFile(path)], hasCoverage: false }]
    await expect(withPathsOf(root, root, reports, join(root, 'new'))).rejects.toThrow(
      `has a report, "a.json", of "${path}" and others, which are not in ${root}`,
    )
  })

  it('the sentence names a test file that failed in one report only, because Vitest would lose the failure', () => {
    const reportsOf = (...failed: boolean[]) =>
      failed.map((hasFailed, index) => ({
        file: `blob-${index}.json`,
        testFiles: [testFile('/shop/a.test.ts', hasFailed), testFile(`/shop/${index}.test.ts`, true)],
        hasCoverage: false,
      }))
    expect(whyLost(reportsOf(false, true))[0]).toMatch(
      /^"a\.test\.ts" failed in "blob-1\.json" and not in "blob-0\.json", and Vitest keeps only one result of a test file\. /,
    )
    expect(whyLost(reportsOf(true, true))).toEqual([])
    expect(whyLost(reportsOf(false, false))).toEqual([])
    const withTypes = [testFile('/shop/a.test.ts'), testFile('/shop/a.test.ts', true)]
    expect(whyLost([{ file: 'blob-1.json', testFiles: withTypes, hasCoverage: false }])).toEqual([])
  })

  it.each([
    [{}, 'has no blob report (*.json). Upload the report of each shard'],
    [{ 'shard-1/blob-1-4.json': '' }, 'directly into it, with "merge-multiple: true"'],
    [{ 'blob-1-4.json': '[["1"' }, 'has a file that is no blob report, "blob-1-4.json": '],
    [
      { 'results.json': '[{"a":1}]' },
      'has a file that is no blob report, "results.json": it is JSON of another kind. If it is the report of a shard, run this shard again.',
    ],
    [{ 'blob-1-4.json': '', 'notes.txt': '' }, 'has "notes.txt" beside the reports. Leave it out'],
    [{ 'blob-1-4.json': '', 'shard-2/blob-2-4.json': '' }, 'has "shard-2" beside the reports'],
  ])('a folder with %j is refused', async (files, message) => {
    const folder = await folderWith(files as Record<string, string>)
    await expect(readBlobs(folder, VITEST_BLOBS)).rejects.toThrow(message)
  })
})

describe('a merge of Vitest', () => {
  interface Shards {
    readonly args?: readonly string[]
    readonly testFiles?: readonly string[]
    readonly states?: readonly string[]
  }

  /** The problems of a merge of such reports. By default, both shards of a run have passed. */
  async function problemsOf({ args = [], testFiles = ['a', 'b'], states = [] }: Shards, hasCoverage?: boolean) {
    const folder = temporaryFolder()
    await mkdir(join(folder, 'all'))
    for (const [index, name] of testFiles.entries()) {
      const paths = name === '' ? [] : [join(folder, name)]
      const text = blob('5.1.1', paths, index === 0 ? {} : null, states[index])
      await writeFile(join(folder, `all/blob-${states[index] ?? ''}-${index + 1}-${testFiles.length}.json`), text)
    }
    await using thread = new ReadingThread(new AbortController().signal)
    const folders = { root: folder, folder }
    const options = { args, folders, inputFolder: join(folder, 'new'), thread, env: {} } as unknown as RunOptions
    const merge = await mergeVitest('all', options)
    if ('kind' in merge) throw new Error(merge.reason)
    const report = { testCases: [], isComplete: true, errors: [], said: [], hasCoverage }
    return merge.findProblems?.(report)
  }

  it('refuses a report without a file, as a shard leaves it whose global setup failed, unless this is expected', async () => {
    await expect(problemsOf({ testFiles: ['a', ''] })).rejects.toThrow(
      /has a report without a single test file, "blob--2-2\.json"\..* Give fewer shards, or/,
    )
    expect(await problemsOf({ testFiles: ['a', ''], args: ['--passWithNoTests'] })).toEqual([])
  })

  it('of reports that take too long to read says so, and has failed', async () => {
    const why = 'its report "a.json" takes longer than 30 s to read'
    const thread = { read: async () => ({ kind: 'over-limit', why }) }
    const options = { args: [], folders: { root: '/shop', folder: '/shop' }, thread } as unknown as RunOptions
    const reason = `The reports cannot be merged: the folder "all" cannot be read: ${why}.`
    expect(await mergeVitest('all', options)).toEqual({ kind: 'unusable', reason, isOverLimit: true })
  })

  it('refuses the reports of jobs that all run the same shard', async () => {
    await expect(problemsOf({ testFiles: ['a', 'a'] })).rejects.toThrow(
      'The reports cannot be merged: the folder "all" has reports of the same test files: ',
    )
  })

  it('with coverage fails if a report has none, because the framework would find the thresholds met', async () => {
    const unknown = /^the coverage of the whole is not known, because these reports have none: "blob--2-2\.json"\. /
    expect(await problemsOf({})).toEqual([])
    expect(await problemsOf({}, true)).toEqual([expect.stringMatching(unknown)])
  })

  it('fails if a test file failed on one of two systems only', async () => {
    expect(await problemsOf({ testFiles: ['a', 'a'], states: ['fail', 'pass'] })).toContainEqual(
      expect.stringMatching(/^"a" failed in "blob-fail-1-2\.json" and not in "blob-pass-2-2\.json"/),
    )
  })
})

describe("Playwright's reports", () => {
  it('a folder without any is refused', async () => {
    const folder = await folderWith({ 'blob-1-2.json': '' })
    await expect(readBlobs(folder, PLAYWRIGHT_BLOBS)).rejects.toThrow('has no blob report (*.zip)')
  })

  const USER_AGENT = 'Playwright/1.65.1 (x64; debian 12) node/24.21'
  const CONFIGURE = { method: 'onConfigure', params: { config: { rootDir: '/__w/shop/e2e' } } }
  const report = (shard?: object): [string, string] => {
    const metadata = { method: 'onBlobReportMetadata', params: { version: 2, userAgent: USER_AGENT, shard } }
    return ['report.jsonl', [metadata, CONFIGURE, {}].map((event) => JSON.stringify(event)).join('\n')]
  }
  const readOne = async (zip: Buffer) => {
    const folder = temporaryFolder()
    await writeFile(join(folder, 'report-7.zip'), zip)
    return readBlobs(folder, PLAYWRIGHT_BLOBS)
  }

  it('the number and the system come from the report, and its name and the versions in it mean nothing', async () => {
    const zip = zipOf(report({ current: 2, total: 4 }), ['resources/report-1.zip', 'a trace'])
    const shard = { set: '(x64; debian 12)', index: 2, total: 4 }
    expect(await readOne(zip)).toEqual([{ file: 'report-7.zip', shard, root: '/__w/shop/e2e' }])
    expect((await readOne(zipOf(report())))[0]?.shard).toBeUndefined()
  })

  const whole = report({ current: 1, total: 1 })
  const ONLY = 'beside its attachments, it must have only report.jsonl, but it has '
  it.each<[string, Buffer, string]>([
    ['the report of another shard', zipOf(whole, ['report-2.zip', '']), `${ONLY}"report.jsonl", "report-2.zip". If`],
    ['two reports', zipOf(whole, whole), ONLY],
    ['no report', zipOf(['resources/a', '']), `${ONLY}none. If it is`],
    ['an attachment that Playwright would read as a report', zipOf(whole, ['resources/x.jsonl', '']), ONLY],
    [
      'something else',
      zipOf(['report.jsonl', '{}\n{}']),
      'its report.jsonl does not begin as those of Playwright do. ',
    ],
    ['a damaged line', zipOf([whole[0], `${whole[1]}\n{`]), "Expected property name or '}'"],
    ['a stream that is cut off', zipOf(whole).subarray(0, 60), ''],
  ])('a zip with %s is refused', async (_what, zip, reason) => {
    await expect(readOne(zip)).rejects.toThrow(`has a file that is no blob report, "report-7.zip": ${reason}`)
  })

  it('a folder that does not exist is refused', async () => {
    await expect(readBlobs('/does/not/exist', PLAYWRIGHT_BLOBS)).rejects.toThrow(
      /^cannot be read: ENOENT: .*\. Download the reports of all shards into it$/,
    )
  })
})
