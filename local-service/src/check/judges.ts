import { isObject } from '../frameworks/framework.ts'
import type { Endpoint, Exchange, Response } from './exchange.ts'
import {
  cancelledIn,
  FINAL_STATUSES,
  isAccepted,
  isAnswered,
  isReadOf,
  isRedirect,
  isRefused,
  jsonOf,
  type Observations,
  type Read,
  type Run,
  runsIn,
  STATUSES,
  show,
  startedId,
} from './observations.ts'
import type { RuleId } from './rules.ts'

/** What an exchange shows about a rule: `true` if it keeps the rule, a text if it breaks it, undefined if it shows nothing. */
type Shown = true | string | undefined

interface Finding {
  readonly exchange: Exchange
  readonly problem?: string | undefined
}

type Fields = Read['body']
type Judge = (seen: Observations, id: RuleId) => Finding[]

const CASE_STATUSES: readonly unknown[] = [...STATUSES, 'FLAKY', 'SKIPPED', 'ERROR', 'RETRYING']
const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i
const ISO_8601 =
  /^(?<year>\d{4})-?(?<month>\d\d)-?(?<day>\d\d)([T ](?<hour>\d\d)(:?(?<minute>\d\d)(:?(?<second>\d\d)([.,]\d+)?)?)?([.,]\d+)? ?(?<zone>Z|[+-]\d\d(:?\d\d)?)?)?$/i

const finding = (exchange: Exchange, shown: Shown): Finding[] =>
  shown === undefined ? [] : [{ exchange, problem: shown === true ? undefined : shown }]

/** Judges every response, also redirects and 429. */
const everyResponse =
  (show: (response: Response) => Shown): Judge =>
  ({ exchanges }) =>
    exchanges.flatMap((one) => (one.response === undefined ? [] : finding(one, show(one.response))))

/** Judges every response except redirects and 429, which say nothing about other rules. */
const everyResponseExceptRedirects =
  (show: (exchange: Exchange) => Shown): Judge =>
  ({ exchanges }) =>
    exchanges.filter(isAnswered).flatMap((exchange) => finding(exchange, show(exchange)))

/** Judges the responses to the requests that were sent to test this rule. */
const probes =
  (show: (exchange: Exchange, seen: Observations) => Shown): Judge =>
  (seen, id) =>
    seen.exchanges
      .filter((exchange) => exchange.probe === id && isAnswered(exchange))
      .flatMap((exchange) => finding(exchange, show(exchange, seen)))

const everyRead =
  (show: (body: Fields, run: Run) => Shown): Judge =>
  ({ exchanges }) =>
    runsIn(exchanges).flatMap((run) => run.reads.flatMap(({ exchange, body }) => finding(exchange, show(body, run))))

/** Chooses some reads of each run. The service must accept them. */
const chosenReads =
  (choose: (reads: Exchange[]) => Exchange[]): Judge =>
  ({ exchanges }) =>
    runsIn(exchanges).flatMap(({ id }) =>
      choose(exchanges.filter((one) => isReadOf(id, one) && isAnswered(one))).flatMap((one) =>
        finding(one, accepted(one)),
      ),
    )

/** Judges a field in every read. A read without the field shows nothing. */
const field = (name: string, isRight: (value: unknown) => boolean): Judge =>
  everyRead(({ [name]: value }) => (value === undefined ? undefined : isRight(value) || `"${name}" is ${show(value)}`))

/** Judges each read of a run together with the read before it. */
const everyPair = (show: (before: Fields, after: Fields) => Shown): Judge => {
  const ofRun = ({ reads }: Run) =>
    reads.flatMap((after, index) => {
      const before = reads[index - 1]
      return before === undefined ? [] : finding(after.exchange, show(before.body, after.body))
    })
  return ({ exchanges }) => runsIn(exchanges).flatMap(ofRun)
}

const everyCase = (show: (testCase: unknown) => Shown): Judge =>
  everyRead((body) => {
    const shown = casesIn(body).map(show)
    return shown.find((one) => typeof one === 'string') ?? (shown.includes(true) || undefined)
  })

const caseField = (name: string, isRight: (value: unknown) => boolean): Judge =>
  everyCase((testCase) => {
    const value = isObject(testCase) ? testCase[name] : undefined
    return value === undefined ? undefined : isRight(value) || `"${name}" is ${show(value)}`
  })

const everySuiteResponse = (endpoint: Endpoint): Judge =>
  everyResponseExceptRedirects((exchange) =>
    exchange.endpoint === endpoint && !exchange.probe ? accepted(exchange) : undefined,
  )

/** Judges the JSON of every successful response of an endpoint. */
const everySuccess = (endpoint: Endpoint, show: (body: Fields, exchange: Exchange) => Shown): Judge =>
  everyResponseExceptRedirects((one) =>
    one.endpoint === endpoint && isAccepted(one) && one.response?.json !== undefined
      ? show(jsonOf(one), one)
      : undefined,
  )

const gets =
  (status: number) =>
  ({ response }: Exchange) =>
    response?.status === status || `expected ${status}, got ${response?.status}`
const accepted = (one: Exchange): Shown => isAccepted(one) || `expected 200, got ${one.response?.status}`
const refused = (one: Exchange): Shown =>
  isRefused(one) || `expected a status from 400 to 499, got ${one.response?.status}`
const isText = (value: unknown) => typeof value === 'string'
const isFinal = ({ status }: Fields) => FINAL_STATUSES.includes(status)
const isTime = (value: unknown): value is string => typeof value === 'string' && !Number.isNaN(timeOf(value))
const isJsonType = (type: string | undefined): Shown =>
  type === undefined ? undefined : /^application\/([\w.+-]+\+)?json\s*(;|$)/i.test(type) || `it is ${show(type)}`
const withoutPrefix = (branch: string) => branch.replace(/^refs\/heads\//, '')

export const JUDGES: Readonly<Record<RuleId, Judge>> = {
  json: everyResponseExceptRedirects(({ response = {} }) => 'json' in response || 'the body is not JSON'),
  'status-code': everyResponse(({ status }) =>
    isRedirect(status) || status === 429 ? undefined : [200, 400, 401, 404, 500].includes(status) || `it is ${status}`,
  ),
  'error-object': everyResponseExceptRedirects((one) => {
    if (isAccepted(one) || one.response?.json === undefined) return undefined
    return isText(jsonOf(one).error) || 'there is no string "error"'
  }),
  'key-missing': probes(gets(401)),
  'key-invalid': probes(gets(401)),
  'key-similar': probes(gets(401)),
  'key-empty': probes(gets(401)),
  'key-scheme': probes(gets(401)),
  'key-bare': probes(gets(401)),
  complete: ({ exchanges }) =>
    exchanges.flatMap((one) => finding(one, one.failure ?? (one.response === undefined ? undefined : true))),
  'no-redirect': everyResponse(({ status, headers }) => !isRedirect(status) || `it leads to ${show(headers.location)}`),
  'content-type': everyResponseExceptRedirects((one) =>
    isAccepted(one) ? isJsonType(one.response?.headers['content-type']) : undefined,
  ),
  'retry-after': everyResponse(({ headers: { 'retry-after': wait } }) =>
    wait === undefined ? undefined : /^\d+$/.test(wait) || !Number.isNaN(Date.parse(wait)) || `it is ${show(wait)}`,
  ),
  'error-content-type': everyResponseExceptRedirects((one) =>
    isAccepted(one) ? undefined : isJsonType(one.response?.headers['content-type']),
  ),
  'key-first': probes(gets(401)),
  'unknown-404': everyResponseExceptRedirects((one) =>
    /-unknown$|-project$/.test(one.probe ?? '') && isRefused(one) ? gets(404)(one) : undefined,
  ),

  'start-response': everySuccess('start', ({ runId }) => isText(runId) || `"runId" is ${show(runId)}`),
  'start-id-new': ({ exchanges }) => {
    const starts = exchanges.filter((one) => startedId(one) !== undefined).slice(1)
    const isOld = (one: Exchange) =>
      exchanges.slice(0, one.index).some((earlier) => startedId(earlier) === startedId(one))
    return starts.flatMap((one) => finding(one, !isOld(one) || `${show(startedId(one))} came before`))
  },
  'start-fields': acceptsAll(['environment', 'frameworkProjectName', 'envOverrides', 'autofix', 'branch']),
  'start-deprecated': acceptsAll(['environmentName', 'runGroupName']),
  'start-types': probes(refused),
  'start-not-json': probes(refused),
  'start-array': probes(refused),
  'start-project': probes(refused),
  'branch-0': probes(refused),
  'branch-1': probes((one, seen) => ofKnownLength(one, seen, 'branch-255')),
  'branch-255': probes((one, seen) => ofKnownLength(one, seen, 'branch-1')),
  'branch-256': probes(refused),
  'run-id': everyResponseExceptRedirects((one) => {
    const { runId, testSuiteRunId: id = runId } = jsonOf(one)
    if (!one.endpoint.endsWith('start') || !isAccepted(one) || typeof id !== 'string') return undefined
    return /^(?!\.{1,2}$)[\w.~:=+/@-]{1,256}$/.test(id) || `it is ${show(id)}`
  }),
  'branch-tested': everyRead(({ branchName }, { start }) => {
    const asked = sentFields(start).branch
    if (typeof asked !== 'string' || typeof branchName !== 'string' || branchName === '') return undefined
    return withoutPrefix(branchName) === withoutPrefix(asked) || `"branchName" is ${show(branchName)}`
  }),
  'start-empty': probes(accepted),
  'start-old-beside-new': probes(accepted),
  'start-not-utf8': probes(refused),
  'branch-unicode': probes(accepted),

  // If only the first reads are refused, the service breaks the rule `read-at-once`, not this rule.
  'run-read': chosenReads((reads) => reads.slice(Math.max(0, reads.findIndex(isAccepted)))),
  'run-status': everySuccess('read', ({ status }, { probe }) =>
    probe === undefined ? STATUSES.includes(status) || `"status" is ${show(status)}` : undefined,
  ),
  'started-at': field('startedAt', (value) => value === null || isTime(value)),
  // If a run is not finished, the document allows null here, and also no field.
  'finished-at': everyRead((body) =>
    body.finishedAt === undefined || (body.finishedAt === null && !isFinal(body))
      ? undefined
      : isTime(body.finishedAt) || `"finishedAt" is ${show(body.finishedAt)}`,
  ),
  'branch-name': field('branchName', isText),
  'queued-started-at': everyRead(({ status, startedAt }) =>
    status === 'QUEUED' ? startedAt === null || `it is ${show(startedAt)}` : undefined,
  ),
  'running-results': everyRead(({ status, results }) =>
    status === 'RUNNING' ? results === undefined || 'there are results' : undefined,
  ),
  results: field('results', (value) => isObject(value) && Array.isArray(value.testCases)),
  'case-object': everyCase((testCase) => isObject(testCase) || `it is ${show(testCase)}`),
  'case-title': caseField('title', isText),
  'case-status': caseField('status', isText),
  'case-duration': caseField('durationMs', Number.isInteger),
  'read-unknown': probes(refused),
  'read-project': probes(refused),
  'read-other-project': probes(refused),
  'read-at-once': chosenReads((reads) => reads.slice(0, 1)),
  'final-stays': everyPair((before, after) =>
    isFinal(before) ? after.status === before.status || `${before.status} became ${show(after.status)}` : undefined,
  ),
  'status-forward': everyPair((before, after) => {
    if (isFinal(before) || isFinal(after)) return undefined
    return before.status !== 'RUNNING' || after.status !== 'QUEUED' || 'RUNNING became QUEUED'
  }),
  'times-stay': everyPair((before, after) => {
    const set = ['startedAt', 'finishedAt'].filter((name) => isTime(before[name]))
    const changed = set.find((name) => before[name] !== after[name])
    if (changed !== undefined) return `"${changed}" was ${show(before[changed])} and is ${show(after[changed])}`
    return set.length > 0 || undefined
  }),
  'started-when': everyRead(({ status, startedAt }) =>
    status === 'RUNNING' ? isTime(startedAt) || `it is ${show(startedAt)}` : undefined,
  ),
  'finished-when': everyRead((body) => {
    const isSet = body.finishedAt !== undefined && body.finishedAt !== null
    return STATUSES.includes(body.status) ? isSet === isFinal(body) || `it is ${show(body.finishedAt)}` : undefined
  }),
  'times-order': everyRead(({ startedAt, finishedAt }) =>
    isTime(startedAt) && isTime(finishedAt)
      ? timeOf(startedAt) <= timeOf(finishedAt) || `"startedAt" is ${show(startedAt)}, "finishedAt" ${show(finishedAt)}`
      : undefined,
  ),
  'times-spelling': everyRead(({ startedAt, finishedAt }) => {
    const times = [startedAt, finishedAt].filter(isTime)
    const other = times.find((time) => !RFC_3339.test(String(time)))
    return other === undefined ? times.length > 0 || undefined : `it is ${show(other)}`
  }),
  'results-stay': everyPair((before, after) =>
    isFinal(before) && before.results !== undefined
      ? show(before.results) === show(after.results) || 'the results are other ones'
      : undefined,
  ),
  'case-duration-sign': caseField('durationMs', (value) => !(Number(value) < 0)),
  'case-status-known': caseField('status', (value) => CASE_STATUSES.includes(value)),

  'cancel-response': everySuccess('cancel', (body, one) => hasList(one) || `"cancelled" is ${show(body.cancelled)}`),
  'cancel-queued': cancelOf('QUEUED'),
  'cancel-running': cancelOf('RUNNING'),
  'cancel-lists-only': everySuccess('cancel', (_, one) => {
    const others = cancelledIn(one).filter((id) => id !== one.runId)
    return one.runId === undefined || !hasList(one) ? undefined : others.length === 0 || `it also lists ${show(others)}`
  }),
  'cancel-ends-only': (seen) =>
    ownCancels(seen).flatMap((cancel) => {
      const others = around(seen, cancel).filter(({ run, after }) => run.id !== cancel.runId && after !== undefined)
      return finding(cancel, others.some(({ before }) => isOpen(before)) ? endsNoOther(cancel, seen) : undefined)
    }),
  'cancel-finished': probes(cancelsNothing),
  'cancel-unknown': probes(cancelsNothing),
  'cancel-project': probes(cancelsNothing),
  'cancel-other-project': probes(cancelsNothing),
  'cancel-no-where': probes(cancelsNothing),
  'cancel-ends': (seen) =>
    listingCancels(seen).flatMap(({ cancel, reads }) => {
      const end = reads.find(({ body }) => isFinal(body))
      if (end !== undefined) return finding(end.exchange, end.body.status !== 'PASSED' || 'it is PASSED')
      const last = reads.at(-1)
      if (last === undefined || last.exchange.atMs - cancel.atMs < seen.cancelMs) return []
      return finding(last.exchange, `it is still ${show(last.body.status)}`)
    }),
  'cancel-status': (seen) =>
    listingCancels(seen).flatMap(({ reads }) => {
      const end = reads.find(({ body }) => isFinal(body) && body.status !== 'PASSED')
      return end === undefined
        ? []
        : finding(end.exchange, end.body.status === 'CANCELLED' || `it is ${show(end.body.status)}`)
    }),

  'suite-start': everySuiteResponse('suite-start'),
  'suite-start-unknown': probes(refused),
  'suite-status': everySuiteResponse('suite-status'),
  'suite-result': everySuiteResponse('suite-result'),
  'suite-unknown': probes(refused),
  'suite-fields': everyResponseExceptRedirects((one) => {
    const { testSuiteRunId, status, results } = jsonOf(one)
    if (!isAccepted(one) || one.probe !== undefined || !one.endpoint.startsWith('suite-')) return undefined
    if (one.endpoint === 'suite-start') return isText(testSuiteRunId) || `"testSuiteRunId" is ${show(testSuiteRunId)}`
    if (one.endpoint === 'suite-result') return Array.isArray(results) || `"results" is ${show(results)}`
    return status === 'RUNNING' || status === 'FINISHED' || `"status" is ${show(status)}`
  }),
}

/** If a start with only some of the fields is accepted, it shows nothing about the other fields. */
function acceptsAll(names: readonly string[]): Judge {
  return probes((one) =>
    isAccepted(one) && !names.every((name) => name in sentFields(one)) ? undefined : accepted(one),
  )
}

/**
 * A service may refuse a branch that it does not know. If it accepts the unknown branch of the other rule, its refusal of
 * this branch is about the length.
 */
function ofKnownLength(start: Exchange, { exchanges }: Observations, otherProbe: string): Shown {
  const isUnknown = isRefused(start) && !exchanges.some((one) => one.probe === otherProbe && isAccepted(one))
  return isUnknown ? undefined : accepted(start)
}

/** The cancels of runs that the check wants to end. Cancels that the service should refuse are left out. */
function ownCancels({ exchanges }: Observations): Exchange[] {
  return exchanges.filter((one) => one.endpoint === 'cancel' && one.probe === undefined && isAnswered(one))
}

/** The cancels whose response lists the run that they name, each with the later reads of this run. */
function listingCancels(seen: Observations): { cancel: Exchange; reads: Read[] }[] {
  return ownCancels(seen).flatMap((cancel) => {
    const run = runsIn(seen.exchanges).find(({ id }) => id === cancel.runId && cancelledIn(cancel).includes(id))
    return run === undefined ? [] : { cancel, reads: run.reads.filter(({ exchange }) => exchange.index > cancel.index) }
  })
}

/** For each run, the status in the last read before an exchange, and the status in the first read after it. */
function around({ exchanges }: Observations, { index }: Exchange) {
  return runsIn(exchanges).map((run) => ({
    run,
    before: run.reads.findLast(({ exchange }) => exchange.index < index)?.body.status,
    after: run.reads.find(({ exchange }) => exchange.index > index)?.body.status,
  }))
}

function isOpen(status: unknown): boolean {
  return status === 'QUEUED' || status === 'RUNNING'
}

/** Whether a cancel ended only the run that it names. An earlier cancel may end its own run late. */
function endsNoOther(cancel: Exchange, seen: Observations): Shown {
  const named = ownCancels(seen)
    .filter(({ index }) => index <= cancel.index)
    .map(({ runId }) => runId)
  const changed = around(seen, cancel).filter(({ before, after }) => isOpen(before) && after === 'CANCELLED')
  const ended = changed.filter(({ run }) => !named.includes(run.id)).map(({ run }) => run.id)
  return ended.length === 0 || `${show(ended)} became CANCELLED`
}

/** If there is no run to cancel, the document allows a refusal, and also a success with an empty list. */
function cancelsNothing(cancel: Exchange, seen: Observations): Shown {
  const ends = endsNoOther(cancel, seen)
  if (ends !== true) return ends
  if (!isAccepted(cancel)) return refused(cancel)
  return cancelledIn(cancel).length === 0 || `it lists ${show(cancelledIn(cancel))}`
}

function cancelOf(status: string): Judge {
  return (seen) =>
    ownCancels(seen).flatMap((cancel) => {
      const run = around(seen, cancel).find(({ run: { id } }) => id === cancel.runId)
      if (run?.before !== status || (isAccepted(cancel) && !hasList(cancel))) return []
      if (cancelledIn(cancel).includes(run.run.id)) return finding(cancel, true)
      // If the run finished by itself before the cancel, the cancel shows nothing.
      if (!isOpen(run.after) && run.after !== 'CANCELLED') return []
      return finding(cancel, isAccepted(cancel) ? 'the run is not in "cancelled"' : accepted(cancel))
    })
}

function hasList(cancel: Exchange): boolean {
  const { cancelled } = jsonOf(cancel)
  return (
    isAccepted(cancel) && Array.isArray(cancelled) && cancelled.every((entry) => isObject(entry) && isText(entry.runId))
  )
}

function sentFields({ body }: Exchange): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(String(body)))
  } catch {
    return {}
  }
}

function casesIn({ results }: Fields): readonly unknown[] {
  return isObject(results) && Array.isArray(results.testCases) ? results.testCases : []
}

/** NaN if the text is no ISO timestamp. Every spelling of ISO 8601 is accepted, with or without a time zone. */
function timeOf(text: string): number {
  const { year, month, day, hour = '00', minute = '00', second = '00', zone = 'Z' } = ISO_8601.exec(text)?.groups ?? {}
  const digits = zone.replace(':', '')
  const offset = /^z$/i.test(zone) ? 'Z' : `${digits.slice(0, 3)}:${digits.slice(3) || '00'}`
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}${offset}`)
}
