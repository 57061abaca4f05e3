import { isObject } from '../frameworks/framework.ts'
import type { Exchange } from './client.ts'
import { describeError, responseSchema } from './openapi.ts'
import type { Observe, Problem } from './rules.ts'

/** What every exchange shows, whatever it was made for. */
export function inspect(made: Exchange, observe: Observe): void {
  const { response, failure, operation } = made
  observe('complete-response', made, failure)
  if (response === undefined) return
  const { headers, status } = response
  const wait = headers.get('retry-after')
  const isWait = wait !== null && (/^\d+$/.test(wait) || !Number.isNaN(Date.parse(wait)))
  if (wait !== null) observe('retry-after', made, !isWait && `it is ${JSON.stringify(wait)}`)
  observe('no-redirect', made, isRedirect(made) && `it leads to ${JSON.stringify(headers.get('location'))}`)
  // The document leaves rate limits open.
  if (isRedirect(made) || status === 429) return
  observe('json', made, !('json' in response) && 'the body is not JSON')
  if (!isReadable(made)) return
  observe('status-codes', made, responseSchema(operation, status) === undefined && `${status} is not documented`)
  if (isAccepted(made)) inspectSuccess(made, observe)
  else observe('error-object', made, errorIn(made))
}

function inspectSuccess(made: Exchange, observe: Observe): void {
  const type = made.response?.headers.get('content-type') ?? 'application/json'
  observe(
    'content-type',
    made,
    !/^application\/([\w.+-]+\+)?json\s*(;|$)/i.test(type) && `it is ${JSON.stringify(type)}`,
  )
  const { status, results, runId, testSuiteRunId: id = runId } = jsonOf(made)
  const isFit = typeof id === 'string' && /^(?!\.{1,2}$)[\w.~:=+/@-]{1,256}$/.test(id)
  if (typeof id === 'string') observe('run-id', made, !isFit && `it is ${JSON.stringify(id)}`)
  const { operationId } = made.operation
  if (operationId === 'startRun') observe('start-response', made, errorIn(made))
  else if (operationId === 'cancelRun') {
    observe('cancel-response', made, errorIn(made))
    const others = cancelledIn(made).filter((cancelled) => !made.body?.includes(JSON.stringify(cancelled)))
    observe('cancel-only', made, others.length > 0 && `it also lists ${others.join(', ')}`)
  } else if (operationId === 'getRun') {
    const isQueued = status === 'QUEUED'
    observe('run-status', made, errorIn(made, /^(\/status)?$/))
    observe('run-fields', made, errorIn(made, isQueued ? /^\/(finishedAt|branchName)/ : /^\/(.*At|branchName)$/))
    if (isQueued) observe('queued-started-at', made, errorIn(made, /^\/startedAt/))
    if (status === 'RUNNING') observe('running-results', made, errorIn(made, /^$/, 'not'))
    if (results !== undefined) observe('results', made, errorIn(made, /^\/results(\/testCases)?$/))
    if (testCasesIn(made).length > 0) observe('test-cases', made, errorIn(made, /^\/results\/testCases\//))
  } else observe('suite-fields', made, errorIn(made))
}

/** The first thing that a body has against the document. An "if" only repeats what its "then" says. */
function errorIn({ response }: Exchange, path = /^/, keyword?: string): Problem {
  const concerns = (word: string) => (keyword === undefined ? word !== 'if' && word !== 'not' : word === keyword)
  const error = response?.errors.find((one) => path.test(one.instancePath) && concerns(one.keyword))
  return error && describeError(error)
}

/** A response that is a client's to read, and that says something. */
export function isReadable(made: Exchange): boolean {
  const { response } = made
  return response !== undefined && 'json' in response && response.status !== 429 && !isRedirect(made)
}

function isRedirect({ response }: Exchange): boolean {
  return response !== undefined && response.status >= 300 && response.status < 400
}

export function isAccepted({ response }: Exchange): boolean {
  return response !== undefined && response.status >= 200 && response.status < 300
}

export function cancelledIn(made: Exchange): string[] {
  const { cancelled } = jsonOf(made)
  return isAccepted(made) && Array.isArray(cancelled) ? cancelled.map((entry) => String(entry?.runId)) : []
}

export function testCasesIn(made: Exchange): readonly { readonly status?: unknown }[] {
  const { results } = jsonOf(made)
  return isObject(results) && Array.isArray(results.testCases) ? results.testCases.filter(isObject) : []
}

export function jsonOf({ response }: Exchange): Readonly<Record<string, unknown>> {
  return isObject(response?.json) ? response.json : {}
}
