import { describe, expect, it } from 'vitest'
import type { Failure } from '../../src/outcome/failure.ts'
import { failureClause, failureReason, failureSentence, type Request } from '../../src/report/failure-text.ts'
import { logLine, render } from '../../src/text/safe-text.ts'
import { untrusted } from '../../src/text/untrusted.ts'

const said = (failure: Failure, request: Request = 'start') => render(failureSentence(failure, request))

describe('the sentence on a failure', () => {
  it.each<[Failure, string]>([
    [
      { kind: 'not-sent', reason: 'connection refused (ECONNREFUSED)' },
      'The service could not be reached: connection refused (ECONNREFUSED); check the input base-url, and that this runner can reach it.',
    ],
    [
      { kind: 'no-response', reason: 'socket hang up (ECONNRESET)' },
      'The service did not respond: socket hang up (ECONNRESET).',
    ],
    [
      { kind: 'status', status: 401, error: untrusted('Invalid API key') },
      'The service responded with 401 Unauthorized: “Invalid API key”; check the input api-key.',
    ],
    [{ kind: 'status', status: 503 }, 'The service responded with 503 Service Unavailable.'],
    [{ kind: 'status', status: 599, error: untrusted('x') }, 'The service responded with 599: “x”.'],
    [
      { kind: 'invalid-response', expected: 'runId to be a string', got: untrusted('nothing') },
      'The service sent an invalid response: expected runId to be a string, got “nothing”.',
    ],
    [
      { kind: 'not-sent', reason: 'getaddrinfo ENOTFOUND proxy', hasProxy: true },
      'The service could not be reached (HTTPS_PROXY is set): getaddrinfo ENOTFOUND proxy; check HTTPS_PROXY and NO_PROXY, then the input base-url.',
    ],
    [
      { kind: 'invalid-response', expected: 'JSON', got: untrusted('<html>'), isNotJson: true },
      'The service sent an invalid response: expected JSON, got “<html>”; check the path in the input base-url, and whether a proxy responds instead of the service.',
    ],
    [
      { kind: 'status', status: 302, location: untrusted('https://login.example.com') },
      'The service responded with 302 to “https://login.example.com”; redirects are not followed, so check the input base-url.',
    ],
    [
      { kind: 'status', status: 429, retryAfterMs: 90_000 },
      'The service responded with 429 Too Many Requests (retry after 1 min 30 s).',
    ],
    [{ kind: 'aborted' }, 'The request was cancelled because the step is ending.'],
  ])('of %j says what happened', (failure, sentence) => {
    expect(said(failure)).toBe(sentence)
  })

  it.each<[number, string, readonly Request[]]>([
    [400, 'branch', ['start']],
    [422, 'environment', ['start']],
    [401, 'api-key', ['start', 'poll', 'cancel']],
    [403, 'api-key', ['start', 'poll', 'cancel']],
    [404, 'project', ['start', 'poll']],
    [404, 'run-id', ['poll']],
    [407, 'HTTPS_PROXY', ['start', 'poll', 'cancel']],
    [302, 'base-url', ['start', 'poll', 'cancel']],
  ])('of status %d says to look at %s only for the requests %j', (status, input, requests) => {
    for (const request of ['start', 'poll', 'cancel'] as const) {
      expect(said({ kind: 'status', status }, request).includes(input), request).toBe(requests.includes(request))
    }
  })

  it.each([
    ['SELF_SIGNED_CERT_IN_CHAIN', 'NODE_EXTRA_CA_CERTS'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'NODE_EXTRA_CA_CERTS'],
    ['CERT_HAS_EXPIRED', 'renewed'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'base-url'],
    ['CERT_NOT_YET_VALID', 'the clock of this runner'],
    ['PATH_LENGTH_EXCEEDED', 'the service needs a certificate'],
  ])('of a certificate with %s says what to do', (code, advice) => {
    expect(said({ kind: 'untrusted-certificate', code })).toContain(code)
    expect(said({ kind: 'untrusted-certificate', code })).toContain(advice)
  })

  it('says that the file of own certificate authorities cannot be read, if that may be the reason', () => {
    const unreadable = { kind: 'untrusted-certificate', hasUnreadableCaFile: true } as const
    expect(said({ ...unreadable, code: 'SELF_SIGNED_CERT_IN_CHAIN' })).toContain(
      'NODE_EXTRA_CA_CERTS is set, but its file cannot be read here (in a job with a container, it must be in the container)',
    )
    expect(said({ ...unreadable, code: 'CERT_HAS_EXPIRED' })).not.toContain('NODE_EXTRA_CA_CERTS')
  })

  it('names no pause beyond any clock', () => {
    expect(said({ kind: 'status', status: 429, retryAfterMs: Number.POSITIVE_INFINITY })).toContain(
      '(retry after more than 10,000 h)',
    )
  })

  it('truncates what the service sent and makes it harmless', () => {
    const sentence = said({ kind: 'status', status: 500, error: untrusted(`\n::error::${'x'.repeat(5000)}`) })
    expect(sentence.length).toBeLessThan(400)
    expect(sentence).toContain('500 Internal Server Error: “::error::xxx')
  })

  it('stands within a sentence too, with its advice or without', () => {
    const failure: Failure = { kind: 'status', status: 401 }
    expect(render(logLine`x: ${failureClause(failure, 'start')}`)).toBe(
      'x: the service responded with 401 Unauthorized; check the input api-key',
    )
    expect(render(logLine`x: ${failureReason(failure)}`)).toBe('x: the service responded with 401 Unauthorized')
  })
})
