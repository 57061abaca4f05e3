import { isObject } from '../frameworks/framework.ts'
import type { Exchange } from './exchange.ts'

/** All that a check has seen: its exchanges in the order in which they were sent. */
export interface Observations {
  readonly exchanges: readonly Exchange[]
  /** How long the check waits for the end of a run that the service lists under "cancelled". */
  readonly cancelMs: number
}

/** A run that the check has started. No other run is ever read or cancelled. */
export interface Run {
  readonly id: string
  /** The path of its project's runs. */
  readonly path: string
  readonly start: Exchange
  /** Every read that got an object, in order. */
  readonly reads: readonly Read[]
}

export interface Read {
  readonly exchange: Exchange
  readonly body: Readonly<Record<string, unknown>>
}

export const FINAL_STATUSES: readonly unknown[] = ['PASSED', 'FAILED', 'TIMEDOUT', 'CANCELLED', 'INTERRUPTED']
export const STATUSES: readonly unknown[] = ['QUEUED', 'RUNNING', ...FINAL_STATUSES]

export function runsIn(exchanges: readonly Exchange[]): Run[] {
  const runs = new Map<string, Run>()
  for (const start of exchanges) {
    const id = startedId(start)
    if (id === undefined || runs.has(id)) continue
    const reads = exchanges.filter((one) => isReadOf(id, one) && isAccepted(one) && isObject(one.response?.json))
    runs.set(id, { id, path: start.path, start, reads: reads.map((one) => ({ exchange: one, body: jsonOf(one) })) })
  }
  return [...runs.values()]
}

export function isReadOf(id: string, { endpoint, runId, probe }: Exchange): boolean {
  return endpoint === 'read' && runId === id && probe === undefined
}

export function lastStatus({ reads }: Run): unknown {
  return reads.at(-1)?.body.status
}

export function isUnfinished(run: Run): boolean {
  return !FINAL_STATUSES.includes(lastStatus(run))
}

/** The id in the response to a start, if a path can hold it. The action takes a whole number as its text, too. */
export function startedId(start: Exchange): string | undefined {
  if (start.endpoint !== 'start' || !isAccepted(start)) return undefined
  const { runId } = jsonOf(start)
  const id = Number.isSafeInteger(runId) ? String(runId) : runId
  return typeof id === 'string' && isPathSegment(id) ? id : undefined
}

/** A URL would lose "." and "..", and cannot hold half of a surrogate pair. */
export function isPathSegment(id: string): boolean {
  return /^(?!\.{1,2}$).{1,4096}$/s.test(id) && id.isWellFormed()
}

/** What a person has to look for at the service, as sentences. */
export function describeLeft(exchanges: readonly Exchange[]): string[] {
  const unfinished = runsIn(exchanges).filter(isUnfinished)
  const starts = exchanges.filter(({ endpoint }) => endpoint === 'start' || endpoint === 'suite-start')
  const lost = starts.filter(({ response }) => response === undefined).length
  const accepted = starts.filter((start) => start.endpoint === 'start' && isAccepted(start))
  const unreadable = accepted.filter((start) => startedId(start) === undefined).length
  const finished = exchanges.filter((one) => one.endpoint === 'suite-status' && jsonOf(one).status === 'FINISHED')
  const suites = starts
    .filter((start) => start.endpoint === 'suite-start' && isAccepted(start))
    .map((start) => jsonOf(start).testSuiteRunId)
    .filter((id) => !finished.some(({ runId }) => runId === id))
  return [
    ...unfinished.map(({ id }) => `The check did not see run ${show(id)} end. Look for it at the service.`),
    ...(unreadable === 0 ? [] : [`Starts that were accepted, but whose ids could not be read: ${unreadable}.`]),
    ...(lost === 0 ? [] : [`Starts that got no response, and may have started a run: ${lost}.`]),
    ...suites.map(
      (id) => `The check did not see the test suite's run ${show(id)} end. The interface has no cancel for it.`,
    ),
  ]
}

/**
 * Whether a response shows something. Redirects show nothing. The document leaves rate limits open, so 429 shows nothing
 * either.
 */
export function isAnswered({ response }: Exchange): boolean {
  return response !== undefined && response.status !== 429 && !isRedirect(response.status)
}

export function isRedirect(status: number): boolean {
  return status >= 300 && status <= 399
}

export function isAccepted({ response }: Exchange): boolean {
  return response !== undefined && response.status >= 200 && response.status < 300
}

export function isRefused({ response }: Exchange): boolean {
  return response !== undefined && response.status >= 400 && response.status < 500
}

export function cancelledIn(cancel: Exchange): string[] {
  const { cancelled } = jsonOf(cancel)
  if (!isAccepted(cancel) || !Array.isArray(cancelled)) return []
  const ids = cancelled.map((entry) => (isObject(entry) ? entry.runId : undefined))
  return ids.filter((id) => typeof id === 'string' || typeof id === 'number').map((id) => `${id}`)
}

export function jsonOf({ response }: Exchange): Readonly<Record<string, unknown>> {
  return isObject(response?.json) ? response.json : {}
}

/** Any value in a sentence. If a value is nested too deep, it has no JSON. */
export function show(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value)
  } catch {
    return 'a value that is nested too deep'
  }
}
