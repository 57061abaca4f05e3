import { type Failure, isFailure } from '../outcome/failure.ts'
import { type Fragment, fragment } from '../text/safe-text.ts'
import type { OutgoingRequest, ServiceResponse, TransportSettings } from './transport.ts'

/** The debug lines about each request. They contain no header's value except `x-request-id`, no body and no key. */
export function requestLog(write: (message: Fragment) => void, { clock, redact }: TransportSettings) {
  const failedTries = new Map<string, number>()
  /** Writes the line about the beginning. Returns the function that writes the line about the end. */
  return ({ method, path }: OutgoingRequest) => {
    const request = `${method} ${redact(path)}`
    const tries = (failedTries.get(request) ?? 0) + 1
    const beganMs = clock.now()
    write(fragment`${request}: try ${tries}`)
    return (end: ServiceResponse | Failure): void => {
      failedTries.set(request, isFailure(end) ? tries : 0)
      const requestId = 'requestId' in end ? end.requestId : undefined
      const id = requestId === undefined ? fragment`` : fragment`, x-request-id ${requestId}`
      const ms = Math.round(clock.now() - beganMs)
      write(fragment`${request}: ${endText(end)} after ${ms} ms${id}`)
    }
  }
}

function endText(end: ServiceResponse | Failure): Fragment {
  if ('status' in end) return fragment`status ${end.status}`
  switch (end.kind) {
    case 'invalid-response':
      return fragment`invalid response (expected ${end.expected})`
    case 'untrusted-certificate':
      return fragment`certificate not trusted (${end.code})`
    case 'not-sent':
      return fragment`not sent (${end.reason})`
    case 'no-response':
      return fragment`no response (${end.reason})`
    case 'aborted':
      return fragment`aborted`
  }
}
