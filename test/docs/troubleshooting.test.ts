import { globSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { GitHubError } from '../../src/github/github-api.ts'
import { failureMessage } from '../../src/github/pull-request-comment.ts'
import type { Failure } from '../../src/outcome/failure.ts'
import { untestedText } from '../../src/report/facts.ts'
import { failureText } from '../../src/report/failure-text.ts'
import { verdictSentence } from '../../src/report/verdict.ts'
import { fragment, render } from '../../src/text/safe-text.ts'
import { untrusted } from '../../src/text/untrusted.ts'
import { ENDINGS } from '../support/endings.ts'
import { type Document, ROOT, read, readDocument } from './documents.ts'

describe('the messages that the page explains', () => {
  const MESSAGES = messagesOf(readDocument('docs/troubleshooting.md'))
  const OF_THE_RUNNER = ["'using: node24' is not supported", 'Unexpected input(s)']
  const OWN = MESSAGES.filter((message) => !OF_THE_RUNNER.includes(message))

  test('include all messages of the README', () => {
    const inReadme = messagesOf(readDocument('README.md'), 'When it fails')
    expect(inReadme).toHaveLength(4)
    expect(MESSAGES).toEqual(expect.arrayContaining(inReadme))
  })

  test.each(OWN)('“%s” is a message that the action writes', (message) => {
    const isSaid = sentencesOfCode().some((sentence) => isIn(sentence, message))
    expect(isSaid || wordsOf(message).every((words) => SOURCES.includes(words))).toBe(true)
  })

  test('cover every ending that is not a success, and every warning', () => {
    const warnings = [...SOURCES.matchAll(/\bwarn(?:ing)?\(\s*fragment`([^`]*)`/g)]
      .map(([, text = '']) => text.replaceAll(/\$\{[^}]*\}/g, '…'))
      .filter((text) => /\w/.test(text))
    expect(warnings).not.toEqual([])
    const unexplained = [...sentencesOfCode(), ...warnings].filter(
      (sentence) => !OWN.some((message) => isIn(sentence, message)),
    )
    expect(unexplained).toEqual([])
  })
})

/** The sentences of steps that fail or warn, of failed requests and of comments that were not written, as people see them. */
function sentencesOfCode(): string[] {
  const noteworthy = Object.entries(ENDINGS).filter(([name, { success }]) => !success || name === 'passedWithFailures')
  return [
    ...noteworthy.map(([, outcome]) => verdictSentence(outcome)),
    ...FAILURES.map((failure) => failureText(failure, 'start')),
    ...(['unreachable', 'rate-limit', 401, 403, 422, 500] as const).map((failure) =>
      failureMessage(new GitHubError(failure, 'a reason')),
    ),
    failureMessage(new Error('GITHUB_REPOSITORY is not set')),
    untestedText(fragment`a branch`),
  ].map(render)
}

/** The messages in the first column of the page's tables. */
function messagesOf({ rows }: Document, chapter?: string): string[] {
  return rows
    .filter((row) => chapter === undefined || row.chapter === chapter)
    .flatMap(({ codes: [messages = []] }) => messages)
}

const FAILURES: readonly Failure[] = [
  { kind: 'not-sent', reason: 'connect ECONNREFUSED' },
  { kind: 'untrusted-certificate', code: 'SELF_SIGNED_CERT_IN_CHAIN' },
  { kind: 'no-response', reason: 'socket hang up' },
  { kind: 'invalid-response', expected: 'JSON', got: untrusted('<html>') },
  ...[301, 400, 401, 403, 404, 407, 413, 422, 429, 500, 503].map((status) => ({ kind: 'status', status }) as const),
]

const SOURCES = globSync('src/**/*.ts', { cwd: ROOT }).map(read).join('\n')

function wordsOf(message: string): string[] {
  return message.split('…').map((part) => part.trim())
}

/** Whether the sentence has the words of the message in this order, with any text in place of each `…`. */
function isIn(sentence: string, message: string): boolean {
  let from = 0
  for (const words of wordsOf(message)) {
    const at = sentence.indexOf(words, from)
    if (at === -1) return false
    from = at + words.length
  }
  return true
}
