import { isAccepted, isRedirect, isRefused, jsonOf, show } from '../observations.ts'
import { everyAnswer, everyResponse, gets, isText, probes } from './judging.ts'
import { documented, finding, noted, reliedOn, type Shown } from './rule.ts'

const STATUS_CODES = [200, 400, 401, 404, 500]

export const EVERY_REQUEST = {
  json: documented(
    'info',
    'A response is JSON in UTF-8, without a byte order mark.',
    everyAnswer(({ response = {} }) => 'json' in response || 'the body is not JSON'),
  ),
  'status-code': documented(
    'info',
    'A status code is one of 200, 400, 401, 404 and 500.',
    everyResponse(({ status }) =>
      isRedirect(status) || status === 429 ? undefined : STATUS_CODES.includes(status) || `it is ${status}`,
    ),
  ),
  'error-object': documented(
    'Error.error',
    'An error is an object with the string "error".',
    everyAnswer((one) => {
      if (isAccepted(one) || one.response?.json === undefined) return undefined
      return isText(jsonOf(one).error) || 'there is no string "error"'
    }),
  ),
  'key-missing': documented('Unauthorized', 'A request without a key gets 401.', probes(gets(401))),
  'key-invalid': documented('Unauthorized', 'A request with another key gets 401.', probes(gets(401))),
  'key-similar': documented(
    'Unauthorized',
    'A request with a key that has one character too many or too few gets 401.',
    probes(gets(401)),
  ),
  'key-case': documented(
    'Unauthorized',
    'A request with the key in the other case gets 401: upper for lower, lower for upper.',
    probes(gets(401)),
    'a key with letters',
  ),
  'key-empty': documented('Unauthorized', 'A request with an empty key gets 401.', probes(gets(401))),
  'key-scheme': documented(
    'apiKey',
    'A request with the key in another scheme than Bearer gets 401.',
    probes(gets(401)),
  ),
  'key-bare': documented('apiKey', 'A request with the key and no scheme gets 401.', probes(gets(401))),
  complete: reliedOn('info', 'Each request gets a complete response of at most 16 MiB within 30 s.', ({ exchanges }) =>
    exchanges.flatMap((one) => finding(one, one.failure ?? (one.response === undefined ? undefined : true))),
  ),
  'no-redirect': reliedOn(
    'info',
    'No request is redirected.',
    everyResponse(({ status, headers }) => !isRedirect(status) || `it leads to ${show(headers.location)}`),
  ),
  'content-type': reliedOn(
    'info',
    'The content type of a success, if there is one, is JSON.',
    everyAnswer((one) => (isAccepted(one) ? isJsonType(one.response?.headers['content-type']) : undefined)),
  ),
  'retry-after': reliedOn(
    'info',
    'The header "Retry-After", if there is one, is a number of seconds or a date.',
    everyResponse(({ headers: { 'retry-after': wait } }) =>
      wait === undefined ? undefined : /^\d+$/.test(wait) || !Number.isNaN(Date.parse(wait)) || `it is ${show(wait)}`,
    ),
    'a response with "Retry-After"',
  ),
  'error-content-type': noted(
    'Error',
    'The content type of an error, if there is one, is JSON.',
    everyAnswer((one) => (isAccepted(one) ? undefined : isJsonType(one.response?.headers['content-type']))),
  ),
  'key-first': noted(
    'Unauthorized',
    'A request without a key gets 401, also for a run that does not exist and a body that is not JSON.',
    probes(gets(401)),
  ),
  'unknown-404': noted(
    'NotFound',
    'A request for something that does not exist gets 404, not another status from 400 to 499.',
    everyAnswer((one) => (/-unknown$|-project$/.test(one.probe ?? '') && isRefused(one) ? gets(404)(one) : undefined)),
  ),
}

function isJsonType(type: string | undefined): Shown {
  if (type === undefined) return undefined
  return /^application\/([\w.+-]+\+)?json\s*(;|$)/i.test(type) || `it is ${show(type)}`
}
