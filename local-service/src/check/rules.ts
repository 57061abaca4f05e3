import type { Exchange } from './exchange.ts'
import { JUDGES } from './judges.ts'
import type { Observations } from './observations.ts'

/** A broken rule of the kinds "document" and "action" fails the check. A note says what the document leaves open. */
type Kind = 'document' | 'action' | 'note'

type RuleText = readonly [kind: Kind, section: string, sentence: string, needs?: string]

/** Each rule stands under its request and its id. It has a kind, a section, a sentence, and what the check needs to observe it. */
export const RULES = {
  'Every request': {
    json: ['document', '4', 'A response is JSON in UTF-8.'],
    'status-code': ['document', '7', 'A status code is one of 200, 400, 401, 404 and 500.'],
    'error-object': ['document', '2.6, 7', 'An error is an object with the string "error".'],
    'key-missing': ['document', '5.3', 'A request without a key gets 401.'],
    'key-invalid': ['document', '5.3', 'A request with another key gets 401.'],
    'key-similar': ['document', '5.3', 'A request with a key that has one character too many or too few gets 401.'],
    'key-empty': ['document', '5.3', 'A request with an empty key gets 401.'],
    'key-scheme': ['document', '5.1', 'A request with the key in another scheme than Bearer gets 401.'],
    'key-bare': ['document', '5.1', 'A request with the key and no scheme gets 401.'],
    complete: ['action', '', 'Each request gets a complete response of at most 16 MiB within 30 s.'],
    'no-redirect': ['action', '', 'No request is redirected.'],
    'content-type': ['action', '4', 'The content type of a success, if there is one, is JSON.'],
    'retry-after': ['action', '', '"Retry-After" is a number of seconds or a date.', 'a response with "Retry-After"'],
    'error-content-type': ['note', '4', 'The content type of an error, if there is one, is JSON.'],
    'key-first': [
      'note',
      '5.3',
      'A request without a key gets 401, also for a run that does not exist and a body that is not JSON.',
    ],
    'unknown-404': [
      'note',
      '7',
      'A request for something that does not exist gets 404, not another status from 400 to 499.',
    ],
  },
  'POST /v1/projects/{projectId}/runs': {
    'start-response': ['document', '4.1', 'A start returns an object with "runId", a string.'],
    'start-id-new': ['document', '2.1', 'Each start gets an id of its own.', 'two starts'],
    'start-fields': ['document', '4.1', 'A start accepts all fields.', '--environment, --framework-project, --branch'],
    'start-deprecated': [
      'document',
      '9.2',
      'A start accepts the old names of fields.',
      '--environment, --framework-project',
    ],
    'start-types': ['document', '4.1, 7', 'A field of the wrong type is refused: 4xx.'],
    'start-not-json': ['document', '4, 7', 'A body that is not JSON is refused: 4xx.'],
    'start-array': ['document', '4.1, 7', 'A body that is an array is refused: 4xx.'],
    'start-project': ['document', '4.1, 7', 'A start in a project that does not exist is refused: 4xx.'],
    'branch-0': ['document', '8', 'A branch of 0 characters is refused: 4xx.'],
    'branch-1': ['document', '8', 'A branch of 1 character is accepted.', 'a service that takes any branch'],
    'branch-255': ['document', '8', 'A branch of 255 characters is accepted.', 'a service that takes any branch'],
    'branch-256': ['document', '8', 'A branch of 256 characters is refused: 4xx.'],
    'run-id': [
      'action',
      '4.1',
      'An id has 1 to 256 characters of A-Z a-z 0-9 . _ ~ : = + / @ -. It is neither "." nor "..".',
    ],
    'branch-tested': ['action', '2.1, 4.1', '"branchName" is the branch that the start named.', '--branch'],
    'start-empty': ['note', '4.1', 'A start without any field is accepted.'],
    'start-old-beside-new': [
      'note',
      '9.2',
      'A start accepts old names of fields beside the new names.',
      'an option with an old name',
    ],
    'start-not-utf8': ['note', '4', 'A body that is not UTF-8 is refused: 4xx.'],
    'branch-unicode': ['note', '8', 'A character is a Unicode code point.', 'a service that takes any branch'],
  },
  'GET /v1/projects/{projectId}/runs/{runId}': {
    'run-read': ['document', '4.3', 'A run that was started can be read.'],
    'run-status': ['document', '2.1', 'A read returns an object with one of the seven statuses.'],
    'started-at': ['document', '2.1', '"startedAt" is an ISO timestamp or null.', 'a read with "startedAt"'],
    'finished-at': ['document', '2.1', '"finishedAt" is an ISO timestamp.', 'a read with "finishedAt"'],
    'branch-name': ['document', '2.1', '"branchName" is a string.', 'a read with "branchName"'],
    'queued-started-at': ['document', '3.3', '"startedAt" is null while the run is QUEUED.', 'a read of a QUEUED run'],
    'running-results': ['document', '3.4', 'A run that is RUNNING has no "results".', 'a read of a RUNNING run'],
    results: ['document', '2.2', '"results" is an object with the array "testCases".', 'a read with "results"'],
    'case-object': ['document', '2.3', 'A test case is an object.', 'a run with test cases that finishes in time'],
    'case-title': ['document', '2.3', 'The "title" of a test case is a string.', 'a test case with "title"'],
    'case-status': ['document', '2.3', 'The "status" of a test case is a string.', 'a test case with "status"'],
    'case-duration': [
      'document',
      '2.3',
      'The "durationMs" of a test case is an integer.',
      'a test case with "durationMs"',
    ],
    'read-unknown': ['document', '7', 'A read of a run that does not exist is refused: 4xx.'],
    'read-project': ['document', '2.1, 7', 'A read of the run in a project that does not exist is refused: 4xx.'],
    'read-other-project': [
      'document',
      '2.1, 7',
      'A read of the run in another project is refused: 4xx.',
      '--other-project',
    ],
    'read-at-once': ['action', '4.3', 'A run can be read as soon as the start has returned.'],
    'final-stays': ['action', '3', 'A final status does not change.', 'two reads of a finished run'],
    'status-forward': ['note', '3', 'A run that is RUNNING does not become QUEUED.', 'two reads of an unfinished run'],
    'times-stay': [
      'note',
      '2.1',
      '"startedAt" and "finishedAt" do not change.',
      'two reads with "startedAt" or "finishedAt"',
    ],
    'started-when': ['note', '2.1', '"startedAt" is set while the run is RUNNING.', 'a read of a RUNNING run'],
    'finished-when': ['note', '2.1', '"finishedAt" is set if, and only if, the run is finished.'],
    'times-order': [
      'note',
      '2.1',
      '"finishedAt" is not before "startedAt".',
      'a read with "startedAt" and "finishedAt"',
    ],
    'times-spelling': ['note', '2.1', 'Times are written as in RFC 3339, with a zone.', 'a read with a time'],
    'results-stay': ['note', '4.3', '"results" of a finished run do not change.', 'two reads of results'],
    'case-duration-sign': ['note', '2.3', '"durationMs" is not negative.', 'a test case with "durationMs"'],
    'case-status-known': ['note', '2.3', 'The action knows the "status" of a test case.', 'a test case with "status"'],
  },
  'POST /v1/projects/{projectId}/runs/cancel': {
    'cancel-response': ['document', '4.2', 'A cancel returns "cancelled", an array of objects with "runId", a string.'],
    'cancel-queued': ['document', '3.1', 'A QUEUED run can be cancelled.', 'a cancel of a QUEUED run'],
    'cancel-running': ['document', '3.1', 'A RUNNING run can be cancelled.', 'a cancel of a RUNNING run'],
    'cancel-lists-only': ['document', '4.2', 'A cancel lists no other run than the one that it names.'],
    'cancel-ends-only': ['document', '4.2', 'A cancel ends no other run.', 'two unfinished runs'],
    'cancel-finished': ['document', '3.1', 'A cancel of a finished run cancels nothing.', 'a run that finishes'],
    'cancel-unknown': ['document', '4.2, 7', 'A cancel of a run that does not exist cancels nothing.'],
    'cancel-project': ['document', '2.1, 4.2', 'A cancel in a project that does not exist cancels nothing.'],
    'cancel-other-project': ['document', '2.1, 4.2', 'A cancel in another project cancels nothing.', '--other-project'],
    'cancel-no-where': ['document', '4.2', 'A cancel without "where" cancels nothing.'],
    'cancel-ends': ['action', '3.2, 4.2', 'A run listed under "cancelled" ends within 60 s, and not as PASSED.'],
    'cancel-status': ['note', '3', 'A run listed under "cancelled" becomes CANCELLED.', 'such a run that ends'],
  },
  '/v1/testSuite… and /v1/testSuiteRun…': {
    'suite-start': ['document', '4.4', 'A test suite can be started.', '--suite'],
    'suite-start-unknown': ['document', '4.4, 7', 'A start of an unknown test suite is refused: 4xx.', '--suite'],
    'suite-status': ['document', '4.4', "The status of a test suite's run can be read.", '--suite'],
    'suite-result': ['document', '4.4', 'The results of a finished run can be read.', '--suite'],
    'suite-unknown': ['document', '4.4, 7', 'A read of a run that does not exist is refused: 4xx.', '--suite'],
    'suite-fields': ['action', '', 'The responses have "testSuiteRunId", "status" or "results".', '--suite'],
  },
} as const satisfies Record<string, Record<string, RuleText>>

export type RuleId = { [Request in keyof typeof RULES]: keyof (typeof RULES)[Request] }[keyof typeof RULES]

export interface RuleResult {
  readonly id: RuleId
  readonly request: string
  readonly section: string
  readonly kind: Kind
  readonly sentence: string
  /** "differs" is for a note that the service does not keep. That is no mistake of the service. */
  readonly verdict: 'holds' | 'broken' | 'differs' | 'not observed'
  /** What breaks the rule, or what is needed to observe it. */
  readonly detail?: string | undefined
  readonly exchange?: Exchange | undefined
}

/** Judges every rule by what was seen. */
export function judge(seen: Observations): RuleResult[] {
  const requests = Object.entries<Record<string, RuleText>>(RULES)
  return requests.flatMap(([request, rules]) =>
    Object.entries(rules).map(([name, [kind, section, sentence, needs]]) => {
      const id = name as RuleId
      const rule = { id, request, section, kind, sentence }
      const findings = JUDGES[id](seen, id)
      if (findings.length === 0) return { ...rule, verdict: 'not observed', detail: needs && `This needs ${needs}.` }
      const [problem, ...others] = findings.filter((finding) => finding.problem !== undefined)
      if (problem === undefined) return { ...rule, verdict: 'holds' }
      const more = others.length === 0 ? '' : ` (and ${others.length} more)`
      const verdict = kind === 'note' ? 'differs' : 'broken'
      return { ...rule, verdict, detail: `${problem.problem}${more}`, exchange: problem.exchange }
    }),
  )
}
