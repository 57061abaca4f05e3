import { existsSync, globSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { describe, expect, test } from 'vitest'
import { commentWarning } from '../../src/github/comment-warning.ts'
import type { CommentOutcome } from '../../src/github/pull-request-comment.ts'
import type { Failure } from '../../src/outcome/failure.ts'
import { untrusted } from '../../src/outcome/untrusted.ts'
import { failureSentence } from '../../src/report/failure-sentence.ts'
import { render } from '../../src/report/safe-text.ts'
import { verdictSentence } from '../../src/report/verdict-sentence.ts'
import { ENDINGS } from '../support/endings.ts'
import { ROOT, read, readActionManifest, readDocument } from './documents.ts'

const PAGES = globSync(['*.md', 'bench/*.md', 'local-service/*.md', 'examples/*/*.md'], { cwd: ROOT })
const DOCUMENTS = new Map(PAGES.map((page) => [page, readDocument(page)]))
const readme = readDocument('README.md')

test('relative links in all pages lead somewhere', () => {
  const targets = [...DOCUMENTS].flatMap(([page, { links }]) => links.map(({ to }) => ({ page, to })))
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

test('the issue templates point to headings that the README has', () => {
  const pages = globSync('.github/**/*.{yml,md}', { cwd: ROOT })
  const anchors = pages.flatMap((page) =>
    [...read(page).matchAll(/[\w-]+\/test-run-action#([\w-]+)/g)].map(([, anchor]) => anchor),
  )
  expect(anchors).not.toHaveLength(0)
  expect(anchors.filter((anchor) => !readme.anchors.has(anchor ?? ''))).toEqual([])
})

describe('what the README names', () => {
  const { inputs, outputs } = readActionManifest()
  const NAMES_OF_THE_ACTION = new Set([...Object.keys(inputs), ...Object.keys(outputs)])
  const CONCLUSIONS = ['timed-out', 'no-tests', 'wait-timeout', 'on-failure']
  const NAMES_OF_GITHUB = [
    'cancel-in-progress',
    'pull-requests',
    'max-parallel',
    'test-run',
    'gh-readonly-queue',
    'web-shop',
  ]
  const KNOWN = new Set([...NAMES_OF_THE_ACTION, ...CONCLUSIONS, ...NAMES_OF_GITHUB])

  test('as an input or an output is one', () => {
    const hyphenated = [...readme.codes.join('\n').matchAll(/(?<![\w./-])[a-z]+(?:-[a-z]+)+(?![\w./-])/g)].map(
      ([name]) => name,
    )
    expect(hyphenated.length).toBeGreaterThan(50)
    expect([...new Set(hyphenated)].filter((name) => !KNOWN.has(name))).toEqual([])
  })

  test('as a setting (`name: value`) is an input, or a key of GitHub', () => {
    const keys = readme.codes.flatMap((code) => /^([a-z-]+):(?: |$)/.exec(code)?.[1] ?? [])
    const ofGitHub = [
      'if',
      'run',
      'with',
      'permissions',
      'contents',
      'issues',
      'environment',
      'paths',
      'branches',
      'pull-requests',
      'cancel-in-progress',
    ]
    expect(keys.filter((key) => !NAMES_OF_THE_ACTION.has(key) && !ofGitHub.includes(key))).toEqual([])
  })

  test('as a limit is in the code', () => {
    const limits = [
      ['1,000 rows', 'src/report/job-summary.ts', 'ROW_LIMIT = 1000'],
      ['900,000 bytes', 'src/report/job-summary.ts', 'SIZE_LIMIT_BYTES = 900_000'],
      ['eight cases', 'src/report/annotations.ts', 'CASES_SHOWN = 8'],
      ['20 rows', 'src/report/comment-body.ts', ' = 20\n'],
      ['an answer of up to 64 MiB', 'src/service/http.ts', 'BODY_LIMIT_BYTES = 64 * 1024 * 1024'],
      ['30 s;', 'src/service/http.ts', 'REQUEST_LIMIT_MS = 30_000'],
      ['until failures have lasted 5 minutes', 'src/action/wait-for-run.ts', 'FAILING_LIMIT_MS = 300_000'],
      ['repeated for up to 60 s', 'src/service/retry.ts', 'return 60_000'],
      ['after a 429 for up to 5 minutes', 'src/service/retry.ts', 'return 300_000'],
      ['1 s to 15 s', 'src/action/poll-schedule.ts', 'LONGEST_PAUSE_MS = 15_000'],
      ['trying for 15 s', 'src/action/run-action.ts', 'CANCEL_LIMIT_MS = 15_000'],
      ['trying for up to a minute', 'src/cancel-leftover-run.ts', 'CANCEL_LIMIT_MS = 60_000'],
      ['up to 35,000', 'src/github/inputs.ts', 'most: 35_000'],
      ['0.05 to 3,600', 'src/github/inputs.ts', 'least: 0.05, most: 3_600'],
    ] as const
    const prose = read('README.md').replace(/\s+/g, ' ')
    for (const [words, file, constant] of limits) {
      expect(prose).toContain(words)
      expect(read(file)).toContain(constant)
    }
  })
})

describe('the messages that the README explains', () => {
  const MESSAGES = readme.rows
    .filter(
      ({ chapter, codes: [message = [], ...others] }) =>
        chapter === 'When it fails' && others.length > 0 && message.length > 0,
    )
    .flatMap(({ codes: [messages = []] }) => messages)
  const OF_THE_RUNNER = ["'using: node24' is not supported", 'Unexpected input(s)']
  const OWN = MESSAGES.filter((message) => !OF_THE_RUNNER.includes(message))

  test('are many', () => {
    expect(OWN.length).toBeGreaterThan(35)
    expect(MESSAGES).toEqual(expect.arrayContaining(OF_THE_RUNNER))
  })

  test.each(OWN)('“%s” is one that the action writes', (message) => {
    const written = [...sentencesOfCode(), ...TEMPLATES]
    expect(written.some((sentence) => isIn(sentence, message))).toBe(true)
  })

  test('cover every end that is not green, and every warning', () => {
    const warnings = templatesOf(/\bwarn(?:ing)?\(\s*logLine`/g).filter((template) => /\w/.test(template))
    const unexplained = [...sentencesOfCode(), ...warnings].filter(
      (sentence) => !OWN.some((message) => isIn(sentence, message)),
    )
    expect(unexplained).toEqual([])
  })
})

/** Every sentence of a step that failed or warns, a failed request and a comment that was not written, as people see it. */
function sentencesOfCode(): string[] {
  const warnings = COMMENT_OUTCOMES.map(commentWarning).filter((warning) => warning !== undefined)
  const noteworthy = Object.entries(ENDINGS).filter(
    ([name, { verdict }]) => !verdict.success || name === 'passedWithFailures',
  )
  return [
    ...noteworthy.map(([, result]) => verdictSentence(result)),
    ...FAILURES.map((failure) => failureSentence(failure, 'start')),
    ...warnings,
  ].map(render)
}

const FAILURES: readonly Failure[] = [
  { kind: 'not-sent', reason: 'connect ECONNREFUSED' },
  { kind: 'untrusted-certificate', code: 'SELF_SIGNED_CERT_IN_CHAIN' },
  { kind: 'no-response', reason: 'socket hang up' },
  { kind: 'invalid-response', expected: 'JSON', got: untrusted('<html>') },
  ...[301, 400, 401, 403, 404, 407, 422, 429, 500, 503].map((status) => ({ kind: 'status', status }) as const),
]

const COMMENT_OUTCOMES: readonly CommentOutcome[] = [
  { kind: 'not-allowed', message: untrusted('Resource not accessible by integration') },
  { kind: 'failed', failure: { kind: 'no-response', reason: untrusted('no answer in time') } },
  { kind: 'failed', failure: { kind: 'rate-limited', retryAfterMs: 60_000 } },
  { kind: 'failed', failure: { kind: 'status', status: 401, message: untrusted('Bad credentials') } },
  { kind: 'failed', failure: { kind: 'unexpected', reason: untrusted('no event file') } },
]

/** The templates of sentences in the sources, with `…` for each value. */
function templatesOf(opening: RegExp): string[] {
  return globSync('src/**/*.ts', { cwd: ROOT }).flatMap((file) => {
    const source = read(file)
    return [...source.matchAll(opening)].map((match) => templateAt(source, match.index + match[0].length))
  })
}

const TEMPLATES = templatesOf(/\b(?:logLine|fragment)`/g)

/** The template literal whose first character stands at `start`. */
function templateAt(source: string, start: number): string {
  let text = ''
  let depth = 0
  for (let index = start; index < source.length; index++) {
    if (depth === 0 && source[index] === '`') break
    if (source.startsWith('${', index) && source[index - 1] !== '\\') {
      if (depth++ === 0) text += '…'
      index++
    } else if (depth > 0) {
      if (source[index] === '{') depth++
      if (source[index] === '}') depth--
    } else {
      text += source[index]
    }
  }
  return text
}

/** Whether the words of the message stand in the sentence in this order, with anything in place of each `…`. */
function isIn(sentence: string, message: string): boolean {
  let from = 0
  for (const words of message
    .split('…')
    .map((part) => part.trim())
    .filter((part) => part !== '')) {
    const at = sentence.indexOf(words, from)
    if (at === -1) return false
    from = at + words.length
  }
  return true
}
