import { STATUS_CODES } from 'node:http'
import type { Failure, InvalidResponseFailure } from '../model/failure.ts'
import { code, type Fragment, fragment, quote } from '../text/safe-text.ts'
import { durationText, join, NONE, SPACE } from './phrases.ts'

/** The limit of the service's own sentences. Their end often says what to do. */
export const SENTENCE_LIMIT_CHARS = 1_000

/** What follows `because`: why a request failed, and sentences on what to do about it. */
export function failureSentences(failure: Failure): Fragment {
  return join([fragment`${failureReason(failure)}.`, failureAdvice(failure)], SPACE)
}

/** Why a request failed, as a part of a sentence, for example `the service did not respond (ECONNRESET)`. */
export function failureReason(failure: Failure): Fragment {
  switch (failure.kind) {
    case 'not-sent':
      return failure.problem === 'certificate'
        ? fragment`the service's certificate is not trusted (${failure.reason})`
        : fragment`the service could not be reached (${failure.reason})`
    case 'no-response':
      return fragment`the service did not respond (${failure.reason})`
    case 'status': {
      const { status, error, body, retryAfterMs } = failure
      const name = STATUS_CODES[status]
      const words = name === undefined ? String(status) : `${status} ${name}`
      const said = error === undefined ? undefined : fragment` and said ${quote(error, SENTENCE_LIMIT_CHARS)}`
      const sent = body === undefined ? NONE : fragment` and sent ${quote(body)}`
      const asked =
        retryAfterMs === undefined ? NONE : fragment` (it asks for a pause of ${durationText(retryAfterMs)})`
      return fragment`the service responded with ${words}${said ?? sent}${asked}`
    }
    case 'invalid-response':
      return fragment`the service sent an invalid response (${expectedAndGot(failure)})`
    case 'not-listed':
      return fragment`the service accepted the cancel, but does not list the run`
    case 'aborted':
      return fragment`the request was given up because the step is ending`
  }
}

/** For example: expected JSON, got “<html>”. */
export function expectedAndGot({ expected, got }: InvalidResponseFailure): Fragment {
  return fragment`expected ${expected}, got ${'sent' in got ? quote(got.sent) : got.words}`
}

/** What to do about the failure. Undefined if nothing can be done. */
export function failureAdvice(failure: Failure): Fragment | undefined {
  switch (failure.kind) {
    case 'not-sent':
      return CONNECTION_ADVICE[failure.problem ?? 'unknown']
    case 'invalid-response':
      if (!failure.isNotJson) return undefined
      return fragment`Check the path in the input ${code('base-url')}, and whether a proxy responds instead of the service.`
    case 'status':
      return statusAdvice(failure.status)
    case 'no-response':
    case 'not-listed':
    case 'aborted':
      return undefined
  }
}

/** What to do if the service refuses a start. If it says itself what is wrong, advice of ours could contradict it. */
export function refusalAdvice(failure: Failure): Fragment | undefined {
  if (failure.kind !== 'status' || failure.error !== undefined) return undefined
  if (![400, 404, 422].includes(failure.status)) return undefined
  return fragment`Check the inputs, most of all ${code('base-url')}, ${code('project')} (or ${code('test-suite')}), ${code('branch')} and ${code('environment')}.`
}

/** What to do if the service does not know the run. */
export function notFoundAdvice(ownsRun: boolean): Fragment {
  return ownsRun
    ? fragment`This step started the run, but the service does not know it any more. Ask the operators of the service for the reason, and re-run the job.`
    : fragment`Check the inputs ${code('run-id')}, ${code('project')} (or ${code('test-suite')}) and ${code('base-url')}.`
}

const CONNECTION_ADVICE = {
  certificate: fragment`If your own certificate authority issued the certificate, set ${code('NODE_EXTRA_CA_CERTS')} to that authority's file. In a job with a container, this is a file in the container. Otherwise, check the input ${code('base-url')} and the clock of this runner.`,
  'refused here': fragment`The service on this machine has probably ended. Look at the log of the step that started it, and at the log of its post step. A frequent cause is that no memory was left. If no step started the service, check the input ${code('base-url')}.`,
  unknown: fragment`Check the input ${code('base-url')}, and whether this runner can reach that address. If ${code('HTTPS_PROXY')} is set, check the proxy too.`,
}

function statusAdvice(status: number): Fragment | undefined {
  // Without the address, because a redirect may have a secret in it.
  if (status >= 300 && status < 400)
    return fragment`The input ${code('base-url')} leads to another server. The action does not follow redirects. Set ${code('base-url')} to the address of the service itself.`
  if (status === 401 || status === 403)
    return fragment`Check the input ${code('api-key')}, and whether its key has access to this project.`
  return undefined
}
