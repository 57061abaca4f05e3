import { existsSync, globSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ROOT, read, readActionManifest, readDocument } from './documents.ts'

const PAGES = globSync(['*.md', 'docs/*.md', 'bench/*.md', 'local-service/*.md', 'tools/*/*.md', 'examples/*/*.md'], {
  cwd: ROOT,
})
const DOCUMENTS = new Map(PAGES.map((page) => [page, readDocument(page)]))

test('relative links in all pages lead somewhere', () => {
  const targets = [...DOCUMENTS].flatMap(([page, { links }]) => links.map((to) => ({ page, to })))
  const broken = targets.filter(({ page, to }) => {
    if (/^[a-z]+:/.test(to)) return false
    const [path = '', anchor = ''] = to.split('#')
    const file = path === '' ? page : relative(ROOT, join(ROOT, dirname(page), path))
    if (!existsSync(join(ROOT, file))) return true
    return anchor !== '' && !DOCUMENTS.get(file)?.anchors.has(anchor)
  })
  expect(PAGES).toContain('README.md')
  expect(broken).toEqual([])
})

test('the issue templates point to pages that exist', () => {
  const pages = globSync('.github/**/*.{yml,md}', { cwd: ROOT })
  const targets = pages.flatMap((page) =>
    [...read(page).matchAll(/[\w-]+\/test-run-action\/blob\/main\/([\w./-]+)/g)].map(([, path]) => path ?? ''),
  )
  expect(targets).not.toHaveLength(0)
  expect(targets.filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
})

describe('what the pages name', () => {
  const { inputs, outputs } = readActionManifest()
  const ofService = readActionManifest('local-service/action.yml')
  const NAMES_OF_THE_ACTIONS = [inputs, outputs, ofService.inputs, ofService.outputs].flatMap(Object.keys)
  const CONCLUSIONS = ['timed-out', 'no-tests', 'wait-timeout', 'on-failure']
  const NAMES_OF_GITHUB = [
    ...[
      'add-mask',
      'cancel-in-progress',
      'continue-on-error',
      'pull-requests',
      'github-actions',
      'merge-base',
      'merge-multiple',
    ],
    ...['kubernetes-novolume', 'ubuntu-latest', 'ubuntu-slim', 'test-run', 'web-shop'],
  ]
  const NAMES_OF_STABLY = [
    ...['project-id', 'test-suite-id', 'playwright-project-name', 'run-group-name', 'test-group-id'],
    ...['variable-overrides', 'github-comment'],
  ]
  const KNOWN = new Set([...NAMES_OF_THE_ACTIONS, ...CONCLUSIONS, ...NAMES_OF_GITHUB, ...NAMES_OF_STABLY])
  const PAGES_FOR_USERS = ['README.md', ...PAGES.filter((page) => page.startsWith('docs/'))]
  const codes = PAGES_FOR_USERS.flatMap((page) => readDocument(page).codes)

  test('as an input or an output exists in action.yml', () => {
    const hyphenated = [...codes.join('\n').matchAll(/(?<![\w./-])[a-z]+(?:-[a-z]+)+(?![\w./-])/g)].map(
      ([name]) => name,
    )
    expect([...new Set(hyphenated)].filter((name) => !KNOWN.has(name))).toEqual([])
  })

  test('as a limit is a limit of the code', () => {
    const limits = [
      ['1,000 cases', 'CASE_LIMIT = 1_000'],
      ['900,000 bytes', 'SIZE_LIMIT_BYTES = 900_000'],
      ['eight cases', 'CASES_SHOWN = 8'],
      ['20 test cases', ' = 20\n'],
      ['a response of up to 16 MiB', 'BODY_LIMIT_BYTES = 16 * 1024 * 1024'],
      ['30 s;', 'REQUEST_LIMIT_MS = 30_000'],
      ['If no poll succeeds for 5 minutes, the step fails', 'FAILURE_LIMIT_MS = 300_000'],
      ['the step repeats the start for up to 60 s', 'return 60_000'],
      ['the start for up to 5 minutes', '300_000 : 0'],
      ['a poll or a cancel is repeated for at most 30 s', 'LOOPBACK_FAILURE_LIMIT_MS = 30_000'],
      ['at most 16 MiB of output', 'SHOWN_LIMIT_BYTES = 16 * 1024 * 1024'],
      ['up to 1,000 values', 'MASKS_LIMIT = 1_000'],
      ['10,000 characters of a line', 'LINE_LIMIT_CHARS = 10_000'],
      ['a fiftieth of the time waited', 'waitedMs / 50'],
      ['at most 15 s', 'LONGEST_PAUSE_MS = 15_000'],
      ['for at most 15 s, or 9.5 s after a signal', 'CANCEL_LIMIT_MS = 15_000'],
      ['The post step repeats it for at most 60 s', 'POST_LIMIT_MS = 60_000'],
      ['at most 35,000', '0, 35_000'],
      ['0.05 to 3,600', '0.05, 3_600'],
      ['20 lines and 2,000 characters', 'lines: 20, chars: 2_000'],
      ['the first 100 that did not pass', 'FOLDABLE_CASES = 100'],
      ['in an annotation | 4,000 characters', 'MESSAGE_LIMIT_UNITS = 4000'],
      ['the 20 files with the latest', 'MOST_RUNS = 20'],
      ['Default: 55.', "runLimitMinutes: limit = '55'"],
      ["256 MiB of a run's output", 'OUTPUT_LIMIT_BYTES = 256 * 1024 * 1024'],
      ['A report may have 64 MiB', 'LIMIT_BYTES = 64 * 1024 * 1024'],
      ['more than 30 s or 1 GiB of memory', 'seconds: 30, stoppedSeconds: 5, mebibytes: 1024'],
      ['At most two runs', 'CONCURRENCY = 2'],
      ['SIGTERM after 2.5 s, and SIGKILL after 5 s', 'stopGraceMs = 5000'],
    ] as const
    const pages = ['README.md', 'docs/reference.md', 'docs/own-service.md', 'local-service/README.md']
    const prose = pages.map(read).join('\n').replace(/\s+/g, ' ')
    const sources = globSync(['src/**/*.ts', 'local-service/src/**/*.ts'], { cwd: ROOT }).map(read).join('\n')
    const wrong = limits.filter(([words, constant]) => !prose.includes(words) || !sources.includes(constant))
    expect(wrong).toEqual([])
  })
})
