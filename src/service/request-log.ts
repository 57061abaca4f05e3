import type { Failure } from '../outcome/failure.ts'
import { type Fragment, fragment } from '../text/safe-text.ts'
import type { OutgoingRequest, ServiceResponse, TransportSettings } from './transport.ts'

/** The debug lines about each request. They contain no header's value except `x-request-id`, no body and no key. */
export function requestLog(write: (message: Fragment) => void, { clock, redact }: TransportSettings) {
  const failedTries = new Map<string, number>()
  return {
    /** Returns the function that writes the line about the end of the request. */
    begin({ method, path }: OutgoingRequest): (response: ServiceResponse | undefined, failure?: Failure) => void {
      const request = `${method} ${redact(path)}`
      const tries = (failedTries.get(request) ?? 0) + 1
      const beganMs = clock.now()
      write(fragment`${request}: try ${tries}`)
      return (response, failure) => {
        failedTries.set(request, failure === undefined ? 0 : tries)
        const requestId = response?.requestId ?? (failure && 'requestId' in failure ? failure.requestId : undefined)
        const id = requestId === undefined ? fragment`` : fragment`, x-request-id ${requestId}`
        const ms = Math.round(clock.now() - beganMs)
        write(fragment`${request}: ${resultText(response, failure)} after ${ms} ms${id}`)
      }
    },
  }
}

function resultText(response: ServiceResponse | undefined, failure: Failure | undefined): Fragment {
  const status = response === undefined ? fragment`` : fragment`status ${response.status}`
  switch (failure?.kind) {
    case undefined:
      return status
    case 'status':
      return fragment`status ${failure.status}`
    case 'invalid-response':
      return fragment`${status}${response === undefined ? fragment`` : fragment`, `}invalid response (expected ${failure.expected})`
    case 'untrusted-certificate':
      return fragment`certificate not trusted (${failure.code})`
    case 'not-sent':
      return fragment`not sent (${failure.reason})`
    case 'no-response':
      return fragment`no response (${failure.reason})`
    case 'aborted':
      return fragment`aborted`
  }
}
