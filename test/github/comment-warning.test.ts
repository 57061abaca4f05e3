import { describe, expect, test } from 'vitest'
import { commentRemark, commentWarning } from '../../src/github/comment-warning.ts'
import type { CommentOutcome } from '../../src/github/pull-request-comment.ts'
import { untrusted } from '../../src/outcome/untrusted.ts'
import { logLine, render } from '../../src/report/safe-text.ts'

const HOSTILE = untrusted('no\n::error::##[group]\u001b[31m')

describe('a comment that is as it should be', () => {
  test.each<CommentOutcome>([
    { kind: 'written', url: 'https://github.com/octo-org/web-shop/pull/7#issuecomment-1' },
    { kind: 'not-needed' },
    { kind: 'no-pull-request' },
    { kind: 'newer-exists', url: 'https://github.com/octo-org/web-shop/pull/7#issuecomment-1' },
    { kind: 'failed', failure: { kind: 'aborted' } },
  ])('is not warned of: $kind', (outcome) => {
    expect(commentWarning(outcome)).toBeUndefined()
  })
})

test('a comment that rightly is not written is explained in one line', () => {
  expect(render(commentRemark({ kind: 'no-pull-request' }) ?? logLine``)).toMatch(/not about a pull request/)
  expect(render(commentRemark({ kind: 'newer-exists', url: 'https://github.com/' }) ?? logLine``)).toMatch(/later run/)
  expect(commentRemark({ kind: 'written', url: 'https://github.com/' })).toBeUndefined()
  expect(commentRemark({ kind: 'not-needed' })).toBeUndefined()
})

describe('a comment that is missing', () => {
  test.each([403, 404, undefined])('for want of permissions (%s) is warned of with the lines to add', (status) => {
    const message = untrusted('Resource not accessible by integration')
    const warning = textOfWarning({ kind: 'not-allowed', message, ...(status === undefined ? {} : { status }) })
    expect(warning).toContain('Resource not accessible by integration')
    expect(warning).toContain('`permissions: { contents: read, pull-requests: write }`')
    expect(warning).toContain('fork')
    expect(warning).toContain('Dependabot')
    expect(warning.includes('status')).toBe(status !== undefined)
  })

  test.each<[CommentOutcome & { kind: 'failed' }, RegExp]>([
    [failed({ kind: 'no-response', reason: untrusted('connect ECONNREFUSED') }), /could not be reached \(connect ECON/],
    [failed({ kind: 'rate-limited', retryAfterMs: 60_500 }), /longer than the half minute .* another 61 s/],
    [failed({ kind: 'status', status: 422, message: untrusted('Validation Failed') }), /422 \(Validation Failed\)\.$/],
    [failed({ kind: 'status', status: 401, message: untrusted('Bad credentials') }), /401 .* Check `github-token`/],
    [failed({ kind: 'unexpected', reason: untrusted('the event file') }), /not written: the event file\.$/],
  ])('for another reason is warned of with that reason: %j', (outcome, sentence) => {
    expect(textOfWarning(outcome)).toMatch(sentence)
  })

  test.each<CommentOutcome>([
    { kind: 'not-allowed', message: HOSTILE },
    failed({ kind: 'no-response', reason: HOSTILE }),
    failed({ kind: 'status', status: 500, message: HOSTILE }),
    failed({ kind: 'unexpected', reason: HOSTILE }),
  ])('is told in one line that no text of others can break: %j', (outcome) => {
    const warning = textOfWarning(outcome)
    expect(warning).not.toMatch(/\p{Cc}/u)
    expect(warning).not.toContain('##[')
  })
})

function failed(failure: Extract<CommentOutcome, { kind: 'failed' }>['failure']) {
  return { kind: 'failed', failure } as const
}

function textOfWarning(outcome: CommentOutcome): string {
  const warning = commentWarning(outcome)
  if (warning === undefined) throw new Error('no warning was given')
  return render(warning)
}
