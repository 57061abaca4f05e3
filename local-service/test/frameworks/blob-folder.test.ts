import { execFileSync } from 'node:child_process'
import { closeSync, constants, openSync } from 'node:fs'
import { readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { parse, stringify } from 'flatted'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readShards, withProblems } from '../../src/frameworks/merge.ts'
import { checkPlaywrightBlobs } from '../../src/frameworks/playwright-blobs.ts'
import type { ResultReader } from '../../src/frameworks/reading.ts'
import { type CountedBlob, remarkOnUncounted, whyIncomplete } from '../../src/frameworks/shards.ts'
import { checkVitestBlobs, shardInName } from '../../src/frameworks/vitest-blobs.ts'
import { folderWith, temporaryFolder } from '../support/a-local-service.ts'

// local-service/test/frameworks/merged-runs.test.ts merges reports that the frameworks have written.

const blob = (version: string, testFiles: readonly string[], coverage: object | null = null, state = 'pass') => {
  const modules = testFiles.map((filepath) => ({ id: filepath, filepath, name: 'a', tasks: [], result: { state } }))
  return stringify(
    version.startsWith('3') ? [version, modules, [], [], coverage, 1] : [version, modules, [], coverage, 1],
  )
}

/** Checks a folder with these reports of Vitest. By default, no path is replaced. */
async function checkVitest(files: Readonly<Record<string, string>>, root = '/shop', passesWithNoTests = false) {
  const folder = await folderWith(files)
  const copiesFolder = join(temporaryFolder(), 'new')
  const blobs = await checkVitestBlobs({ folder, merge: 'all', root, copiesFolder, passesWithNoTests }, () => {})
  const read = async (file: string) => parse(await readFile(join(blobs.folder, file), 'utf8'))
  return {
    ...blobs,
    isMoved: blobs.folder === copiesFolder,
    read,
    pathsIn: async (file: string): Promise<string[]> =>
      (await read(file))[1].map(({ filepath }: { readonly filepath: string }) => filepath),
  }
}

/** A zip of one file, which is not compressed. */
function zipOf(name: string, text: string): Buffer {
  const common = Buffer.alloc(26)
  common.writeUInt16LE(20, 0)
  common.writeUInt32LE(crc32(text), 10)
  common.writeUInt32LE(text.length, 14)
  common.writeUInt32LE(text.length, 18)
  common.writeUInt16LE(name.length, 22)
  const entry = Buffer.concat([Buffer.from('PK\x03\x04'), common, Buffer.from(name + text)])
  const directory = Buffer.concat([Buffer.from('PK\x01\x02\x14\0'), common, Buffer.alloc(14), Buffer.from(name)])
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06')
  end.writeUInt16LE(1, 8)
  end.writeUInt16LE(1, 10)
  end.writeUInt32LE(directory.length, 12)
  end.writeUInt32LE(entry.length, 16)
  return Buffer.concat([entry, directory, end])
}

it.each([
  [['--passWithNoTests'], undefined, true],
  [['--pass-with-no-tests'], undefined, true],
  [['--passWithNoTests=false'], undefined, false],
  [[], 'npx vitest run --passWithNoTests', true],
  [[], undefined, false],
])('a shard may be empty if the arguments %j or the command %j say so: %s', async (args, command, expected) => {
  const read = async (_: string, input: object) => input
  const folders = { root: '/shop', folder: '/shop' }
  const settings = { merge: 'all', args, command, folders, copiesFolder: '/new' }
  const input = await readShards(settings, 'vitest', { read } as unknown as ResultReader)
  expect(input).toMatchObject({ folder: '/shop/all', passesWithNoTests: expected })
})

describe('which shards are there', () => {
  const reportsOf = (total: number, ...indexes: number[]) =>
    indexes.map((index, at) => ({ file: `${at}.json`, shard: { set: 'blob', index, total } }))

  it.each<[number, number[], string | undefined]>([
    [1, [1], undefined],
    // Two projects, or two systems of one name.
    [2, [1, 2, 1, 2], undefined],
    [4, [1, 2, 4], 'Shard 3/4 is missing beside "0.json". A job may'],
    [4, [2], 'Shards 1/4, 3/4 and 4/4 are missing beside '],
    [4, [1, 2, 4, 4, 2, 1, 3], 'Shard 3/4 is missing beside '],
    [4, [1, 2, 3, 4, 2], 'Shard 2/4 is there twice: an earlier attempt? Its reports are "1.json" and "4.json". '],
    [3, [1, 2, 2, 2, 3], 'Shard 2/3 is there 3 times: an earlier attempt? '],
    [4, [1, 2, 2, 3], 'Shard 4/4 is missing beside "0.json". Shard 2/4 is there twice'],
    [2, [1, 1], 'Shard 2/2 is missing beside "0.json". Shard 1/2 is there twice'],
    [2, [1, 2, 1], 'Shard 1/2 is there twice'],
  ])('of %i, if %j are there: %s', (total, indexes, sentence) => {
    const why = whyIncomplete(reportsOf(total, ...indexes))
    expect(why).toEqual(sentence && expect.stringContaining(sentence))
  })

  it('reports of two systems are counted apart, and the sentence names a report of the system', () => {
    const shard = (set: string, index: number) => ({ file: `${set}-${index}.json`, shard: { set, index, total: 2 } })
    const linux = [shard('linux', 1), shard('linux', 2)]
    expect(whyIncomplete([...linux, shard('macos', 1), shard('macos', 2)])).toBeUndefined()
    expect(whyIncomplete([...linux, shard('macos', 2)])).toContain('Shard 1/2 is missing beside "macos-2.json". ')
  })

  it('the log says that nobody could count several reports without a number, and nothing of one report', () => {
    const [one, other] = [{ file: 'a.json' }, { file: 'b.json' }]
    const why = (reports: readonly CountedBlob[]) => remarkOnUncounted(reports, 'A name says it')
    expect(why([one, other])).toMatch(/^2 reports do not say how many there must be, .* A name says it$/)
    expect([why([one]), why(reportsOf(2, 1, 2))]).toEqual([undefined, undefined])
    expect(whyIncomplete([one])).toBeUndefined()
  })

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
  ])('%s is of shard %j', (file, shard) => {
    expect(shardInName(file)).toEqual(shard)
  })
})

describe("Vitest's reports", () => {
  it.each(['3.2.7', '4.1.0', '5.1.1'])('version %s says whether it has coverage', async (version) => {
    const withCoverage = blob(version, ['/shop/b.test.js'], { '/shop/b.js': {} })
    const { withoutCoverage } = await checkVitest({
      'a.json': blob(version, ['/shop/a.test.js']),
      'b.json': withCoverage,
    })
    expect(withoutCoverage).toEqual(['"a.json"'])
  })

  it('get the paths of this folder, each in place of those of its own machine', async () => {
    const root = await folderWith({ 'packages/shop/a.test.ts': '' })
    const own = join(root, 'packages/shop/a.test.ts')
    const { isMoved, pathsIn } = await checkVitest(
      {
        'container-1-1.json': blob('5.1.1', ['/__w/gone.test.ts', '/__w/"s"/packages/shop/a.test.ts']),
        'linux-1-1.json': blob('5.1.1', [own]),
        'macos-1-1.json': blob('5.1.1', ['/Users/runner/work/shop/shop/packages/shop/a.test.ts']),
      },
      root,
    )
    expect(isMoved).toBe(true)
    expect(await pathsIn('container-1-1.json')).toEqual(['/__w/gone.test.ts', own])
    expect([await pathsIn('linux-1-1.json'), await pathsIn('macos-1-1.json')]).toEqual([[own], [own]])
  })

  it('have a path of another machine replaced at its beginning only, wherever it begins', async () => {
    const root = await folderWith({ 'src/app/a.test.ts': '' })
    const texts = (at: string) => [
      `${at}/src/app/a.test.ts`,
      'src/app/a.test.ts',
      `${at}/src/(shop)/app/a.test.ts`,
      `failed\n\tat pay (${at}/a.ts:1:1)\n${at}/a.ts\u001b[31m${at}/a.ts\u0000${at}/a.ts`,
      `file://${at}/a.ts and http://localhost:80/app/a.ts`,
    ]
    const files = { 'blob-1-1.json': blob('5.1.1', texts('/app'), { '/app/src/app/a.ts': {} }) }
    const { pathsIn, read } = await checkVitest(files, root)
    expect(await pathsIn('blob-1-1.json')).toEqual(texts(root))
    expect((await read('blob-1-1.json'))[3]).toEqual({ [`${root}/src/app/a.ts`]: {} })
  })

  it.each([
    ['are not there', '/__w/shop/a.test.ts'],
    // Every path begins with a slash.
    ['ran in the root of their machine', '/e2e/a.test.ts'],
  ])('of tests that %s are refused, with both paths', async (_what, path) => {
    const root = await folderWith({ 'e2e/a.test.ts': '' })
    await expect(checkVitest({ 'a.json': blob('5.1.1', [path]) }, root)).rejects.toThrow(
      `The report "a.json" is of "${path}" and others, which are not in ${root}. `,
    )
  })

  it('of jobs that all run the same shard are refused, unless they are of one number or of two sets', async () => {
    const same = (...names: string[]) =>
      checkVitest(Object.fromEntries(names.map((name) => [`${name}.json`, blob('5.1.1', ['/shop/a.test.js'])])))
    await expect(same('blob-1-2', 'blob-2-2')).rejects.toThrow(
      'These reports are of the same test files: "blob-1-2.json", "blob-2-2.json". In each job ',
    )
    await expect(same('blob-1-2', 'macos-2-2')).resolves.toBeDefined()
    await expect(same('attempt-1-1-2', 'attempt-2-1-2')).resolves.toBeDefined()
  })

  it('without a test file are refused, as a shard leaves them whose global setup failed, unless this is expected', async () => {
    const files = { '1-2.json': blob('5.1.1', []), '2-2.json': blob('5.1.1', []) }
    await expect(checkVitest(files)).rejects.toThrow(
      /^The report "1-2\.json" has no test file\..* Give fewer shards, or/,
    )
    expect((await checkVitest(files, '/shop', true)).problems).toEqual([])
  })

  it('fail the whole if a test file failed in one of them only, because Vitest would lose the failure', async () => {
    const problemsOf = async (...states: string[]) => {
      const report = (state: string, index: number) => [
        `${index}.json`,
        blob('5.1.1', ['/shop/a.test.ts', `/shop/${index}.test.ts`], null, state),
      ]
      return (await checkVitest(Object.fromEntries(states.map(report)))).problems
    }
    expect(await problemsOf('pass', 'fail')).toEqual([
      expect.stringMatching(
        /^The test file "a" failed in "1\.json" and not in "0\.json", and Vitest keeps only one result of a test file\. /,
      ),
    ])
    expect([await problemsOf('fail', 'fail'), await problemsOf('pass', 'pass')]).toEqual([[], []])
    // A file with types to check has two results in one report.
    const module = (state: string) => ({ id: 1, filepath: '/shop/a.test.ts', name: 'a', result: { state } })
    const types = stringify(['3.2.7', [module('pass'), module('fail')], [], [], null, 1])
    expect((await checkVitest({ 'a.json': types })).problems).toEqual([])
  })

  it.each([
    [{}, 'The folder "all" has no blob report (*.json). Upload the report of each shard'],
    [{ 'shard-1/blob-1-4.json': '' }, 'directly into it, with "merge-multiple: true"'],
    [{ 'blob-1-4.json': '[["1"' }, 'The folder "all" has "blob-1-4.json", which is no blob report: '],
    [
      { 'results.json': '[{"a":1}]' },
      'The folder "all" has "results.json", which is no blob report: it is JSON of another kind. If it is the report of a shard, run this shard again.',
    ],
    [{ 'blob-1-4.json': '', 'notes.txt': '' }, 'The folder "all" has "notes.txt" beside the reports. Leave it out.'],
    [{ 'blob-1-4.json': '', 'shard-2/blob-2-4.json': '' }, 'has "shard-2" beside the reports'],
  ])('in a folder with %j are refused', async (files, message) => {
    await expect(checkVitest(files as Record<string, string>)).rejects.toThrow(message)
  })
})

const checks: readonly [extension: string, check: (folder: string) => Promise<unknown>][] = [
  [
    'json',
    (folder) =>
      checkVitestBlobs({ folder, merge: 'all', root: '/', copiesFolder: '', passesWithNoTests: false }, () => {}),
  ],
  ['zip', (folder) => checkPlaywrightBlobs({ folder, merge: 'all' }, () => {})],
]

it.each(
  checks,
)('a folder with a named pipe, which would block whoever opens it, is refused if the name ends with .%s', async (extension, check) => {
  const pipe = join(temporaryFolder(), 'pipe')
  execFileSync('mkfifo', [pipe])
  // If the check opens the pipe, it waits until somebody opens it to write.
  onTestFinished(() => closeSync(openSync(pipe, constants.O_RDWR)))
  const folder = temporaryFolder()
  await symlink(pipe, join(folder, `a.${extension}`))
  await expect(check(folder)).rejects.toThrow(`has "a.${extension}", which is no regular file. Leave it out`)
})

it('a merge with coverage fails if a report has none, because the framework would find the thresholds met', () => {
  const blobs = { folder: '/all', problems: [], withoutCoverage: ['"2-2.json"'] }
  const report = { testCases: [], isComplete: true, errors: [], said: [] }
  expect(withProblems(blobs, report).problem).toBeUndefined()
  expect(withProblems(blobs, { ...report, hasCoverage: true }).problem).toMatch(
    /^The coverage of the whole is not known, because these reports have none: "2-2\.json"\. /,
  )
})

describe("Playwright's reports", () => {
  const check = (folder: string) => checkPlaywrightBlobs({ folder, merge: 'all' }, () => {})

  it('are needed in the folder, which must be there', async () => {
    await expect(check(await folderWith({ 'blob-1-2.json': '' }))).rejects.toThrow('has no blob report (*.zip)')
    await expect(check('/does/not/exist')).rejects.toThrow(
      /^The folder "all" cannot be read: ENOENT: .*\. Download the reports of all shards into it\.$/,
    )
  })

  const CONFIGURE = { method: 'onConfigure', params: { config: { rootDir: '/__w/shop/e2e' } } }
  const report = (
    shard?: object,
    userAgent = 'Playwright/1.65.1 (x64; debian 12) node/24.21',
    names: string[] = [],
  ) => {
    const metadata = { method: 'onBlobReportMetadata', params: { version: 2, userAgent, shard } }
    const projects = names.map((name) => ({ method: 'onProject', params: { project: { name } } }))
    return [metadata, CONFIGURE, ...projects, {}].map((event) => JSON.stringify(event)).join('\n')
  }
  const checkZips = async (...zips: readonly Buffer[]) => {
    const folder = temporaryFolder()
    for (const [index, zip] of zips.entries()) await writeFile(join(folder, `report-${index + 7}.zip`), zip)
    return check(folder)
  }

  it('say their number and system, and their names and the versions mean nothing', async () => {
    const zip = (shard?: object, userAgent?: string) => zipOf('report.jsonl', report(shard, userAgent))
    const first = zip({ current: 1, total: 2 })
    const second = zip({ current: 2, total: 2 }, 'Playwright/1.65.2 (x64; debian 12) node/22')
    const ofMacos = zip({ current: 2, total: 2 }, 'Playwright/1.65.1 (arm64; macOS 26) node/24')
    expect(await checkZips(first, second)).toMatchObject({ problems: [], roots: ['/__w/shop/e2e'] })
    expect((await checkZips(first, second, ofMacos)).problems).toEqual([
      expect.stringContaining('Shard 1/2 is missing beside "report-9.zip"'),
    ])
    expect(await checkZips(zip())).toMatchObject({ problems: [], remark: undefined })
  })

  it.each<[string, Record<string, [index: number, ...projects: string[]]>, string | undefined]>([
    [
      'the shards of two projects',
      { 'report-Mobile-Chrome-2': [2, 'Mobile Chrome'], 'report-b-c-1': [1, 'b_c'] },
      '1/2',
    ],
    ['a project beside its setup', { 'report-a-1': [1, 'setup', 'a'], 'report-b-2': [2, 'setup', 'b'] }, '2/2'],
    ['a shard without tests', { 'report-a-1': [1, 'a'], 'report-a-2': [2], 'report-b-1': [1, 'b'] }, '2/2'],
    ['all shards of two projects', { 'a-1': [1, 'a'], 'a-2': [2, 'a'], 'b-1': [1, 'b'], 'b-2': [2, 'b'] }, undefined],
    ['shards with tests of one project each', { 'report-1': [1, 'a'], 'report-2': [2, 'b'] }, undefined],
    [
      'shards without a project, and with an attempt',
      { 'report-1': [1, ''], 'report-1-attempt-2': [2, ''] },
      undefined,
    ],
    ['shards with a project, and with an attempt', { 'report-1': [1, 'a'], 'report-1-attempt-2': [2, 'a'] }, undefined],
  ])('are counted for each project if their names have it: %s', async (_what, blobs, missing) => {
    const folder = temporaryFolder()
    for (const [name, [current, ...projects]] of Object.entries(blobs)) {
      const text = report({ current, total: 2 }, undefined, projects)
      await writeFile(join(folder, `${name}.zip`), zipOf('report.jsonl', text))
    }
    const { problems } = await check(folder)
    if (missing === undefined) expect(problems).toEqual([])
    else expect(problems).toEqual([expect.stringContaining(`Shard ${missing} is missing beside `)])
  })

  it('of jobs without --shard are merged, and the log says that nobody could count them', async () => {
    const whole = zipOf('report.jsonl', report())
    expect(await checkZips(whole, whole)).toMatchObject({
      problems: [],
      remark:
        '2 reports do not say how many there must be, so nobody could check whether one is missing. Only the report of a job with --shard says it.',
    })
  })

  it.each<[string, Buffer, string]>([
    ['no report', zipOf('resources/a', ''), 'it has no report.jsonl. If it is'],
    ['something else', zipOf('report.jsonl', '{}\n{}'), 'its report.jsonl does not begin as those of Playwright do. '],
    ['a damaged line', zipOf('report.jsonl', `${report()}\n{`), "Expected property name or '}'"],
    ['a stream that is cut off', zipOf('report.jsonl', report()).subarray(0, 60), ''],
  ])('are refused if a zip has %s', async (_what, zip, reason) => {
    await expect(checkZips(zip)).rejects.toThrow(
      `The folder "all" has "report-7.zip", which is no blob report: ${reason}`,
    )
  })
})
