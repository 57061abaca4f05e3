import { describe, expect, it } from 'vitest'
import type { Failure } from '../../src/domain/errors.ts'
import { untrusted } from '../../src/domain/untrusted.ts'
import { failureClause, failureReason, failureSentence } from '../../src/report/failure-sentence.ts'
import { line, textOf } from '../../src/report/inert.ts'

const said = (failure: Failure) => textOf(failureSentence(failure))

describe('the sentence on a failure', () => {
  it.each<[Failure, string]>([
    [
      { kind: 'not-sent', reason: 'connection refused (ECONNREFUSED)' },
      'The service could not be reached: connection refused (ECONNREFUSED); check the input base-url, and that this runner can reach it.',
    ],
    [
      { kind: 'no-answer', reason: 'socket hang up (ECONNRESET)' },
      'The service did not answer: socket hang up (ECONNRESET).',
    ],
    [
      { kind: 'status', status: 401, error: untrusted('Invalid API key') },
      'The service answered 401 Unauthorized: “Invalid API key”; check the input api-key.',
    ],
    [{ kind: 'status', status: 503 }, 'The service answered 503 Service Unavailable.'],
    [{ kind: 'status', status: 599, error: untrusted('x') }, 'The service answered 599: “x”.'],
    [
      { kind: 'broken-answer', expected: 'runId to be a string', got: untrusted('nothing') },
      "The service's answer is broken: expected runId to be a string, got “nothing”.",
    ],
    [{ kind: 'aborted' }, 'The request was given up, since the step was ending.'],
  ])('of %j says what happened', (failure, sentence) => {
    expect(said(failure)).toBe(sentence)
  })

  it.each([
    [400, 'branch'],
    [401, 'api-key'],
    [403, 'api-key'],
    [404, 'project'],
    [404, 'run-id'],
    [407, 'HTTPS_PROXY'],
    [302, 'base-url'],
  ])('of status %d says to look at %s', (status, input) => {
    expect(said({ kind: 'status', status })).toContain(input)
  })

  it.each([
    ['SELF_SIGNED_CERT_IN_CHAIN', 'NODE_EXTRA_CA_CERTS'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'NODE_EXTRA_CA_CERTS'],
    ['CERT_HAS_EXPIRED', 'renewed'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'base-url'],
  ])('of a certificate with %s says what to do', (code, advice) => {
    expect(said({ kind: 'untrusted-certificate', code })).toContain(code)
    expect(said({ kind: 'untrusted-certificate', code })).toContain(advice)
  })

  it('cuts what the service sent and makes it harmless', () => {
    const sentence = said({ kind: 'status', status: 500, error: untrusted(`\n::error::${'x'.repeat(5000)}`) })
    expect(sentence.length).toBeLessThan(400)
    expect(sentence).toContain('500 Internal Server Error: “::error::xxx')
  })

  it('stands within a sentence too, with its advice or without', () => {
    const failure: Failure = { kind: 'status', status: 401 }
    expect(textOf(line`x: ${failureClause(failure)}`)).toBe(
      'x: the service answered 401 Unauthorized; check the input api-key',
    )
    expect(textOf(line`x: ${failureReason(failure)}`)).toBe('x: the service answered 401 Unauthorized')
  })
})
