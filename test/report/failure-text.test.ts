import { describe, expect, it } from 'vitest'
import type { Failure } from '../../src/model/failure.ts'
import { failureReason, failureSentences, refusalAdvice } from '../../src/report/failure-text.ts'
import { html, render } from '../../src/text/safe-text.ts'
import { untrusted } from '../../src/text/untrusted.ts'

const said = (failure: Failure) => render(failureSentences(failure))

// endings.md has the usual failures.

describe('the sentence on a failure', () => {
  it.each<[Failure, string]>([
    [
      { failure: true, kind: 'status', status: 599, error: untrusted('x') },
      'the service responded with 599 and said “x”.',
    ],
    [
      { failure: true, kind: 'status', status: 429, error: untrusted('x'), retryAfterMs: 600_000 },
      'the service responded with 429 Too Many Requests and said “x” (it asks for a pause of 10 min).',
    ],
    [
      {
        failure: true,
        kind: 'invalid-response',
        expected: 'JSON',
        got: { sent: untrusted('<html>') },
        isNotJson: true,
      },
      'the service sent an invalid response (expected JSON, got “<html>”). Check the path in the input base-url, and whether a proxy responds instead of the service.',
    ],
    [
      { failure: true, kind: 'status', status: 403 },
      'the service responded with 403 Forbidden. Check the input api-key, and whether its key has access to this project.',
    ],
    [{ failure: true, kind: 'aborted' }, 'the request was given up because the step is ending.'],
    [
      { failure: true, kind: 'not-sent', reason: 'certificate has expired; CERT_HAS_EXPIRED', problem: 'certificate' },
      "the service's certificate is not trusted (certificate has expired; CERT_HAS_EXPIRED). If your own certificate authority issued the certificate, set NODE_EXTRA_CA_CERTS to that authority's file. In a job with a container, this is a file in the container. Otherwise, check the input base-url and the clock of this runner.",
    ],
  ])('of %j says what happened', (failure, sentence) => {
    expect(said(failure)).toBe(sentence)
  })

  it.each([
    ['x'.repeat(1_000), 'x'.repeat(1_000)],
    ['x'.repeat(1_001), `${'x'.repeat(999)}…`],
    ['<'.repeat(1_000), '<'.repeat(1_000)],
    ['😀'.repeat(1_000), '😀'.repeat(1_000)],
    ['😀'.repeat(1_001), `${'😀'.repeat(999)}…`],
  ])('shows the service’s own sentence up to 1,000 characters, in the log and on pages (%#)', (sent, shown) => {
    const failure: Failure = { failure: true, kind: 'status', status: 409, error: untrusted(sent) }
    expect(said(failure)).toBe(`the service responded with 409 Conflict and said “${shown}”.`)
    const page = render(html`${failureReason(failure)}`)
    expect(page).toBe(
      `the service responded with <code>409 Conflict</code> and said <code>${shown.replaceAll('<', '&lt;')}</code>`,
    )
  })

  it.each([
    [400, true],
    [404, true],
    [422, true],
    [500, false],
  ])('of status %i has advice about the inputs of a start: %s, if the service does not say what is wrong', (status, has) => {
    const failure: Failure = { failure: true, kind: 'status', status, body: untrusted('<html>') }
    const advice = refusalAdvice(failure)
    expect(advice ? render(advice) : '').toContain(has ? 'project (or test-suite), branch and environment' : '')
    expect(advice !== undefined).toBe(has)
    expect(refusalAdvice({ ...failure, error: untrusted('The branch is unknown.') })).toBeUndefined()
  })
})
