import type { Exchange } from './client.ts'

type RuleText = readonly [section: string, sentence: string, needs?: string]

/** By group and id: section of the interface document, sentence, and what is needed to observe it. */
const RULES = {
  Authentication: {
    'key-missing': ['5.3', 'A request without a key gets 401.'],
    'key-invalid': ['5.3', 'A request with an invalid key gets 401.'],
    'key-scheme': ['5.1', 'A request with the key in another scheme than Bearer gets 401.'],
  },
  'Every response': {
    json: ['4', 'Responses are JSON.'],
    'status-codes': ['7', 'Each status code is a documented one.'],
    'error-object': ['2.6, 7', 'An error is an object with the text "error".'],
    'not-json': ['7', 'A body that is not JSON is a failure of the client: 4xx.'],
  },
  'Start a run': {
    'start-response': ['4.1', 'A start returns "runId", a string.'],
    'start-fields': [
      '4.1',
      'A start accepts all fields, old names beside new ones.',
      '--environment and --framework-project',
    ],
    'start-deprecated': ['9.2', 'A start accepts the deprecated fields alone.', '--environment or --framework-project'],
    'branch-empty': ['8', 'A branch of 0 characters is refused: 4xx.'],
    'branch-shortest': ['8', 'A branch of 1 character is accepted.', 'a service that accepts an unknown branch'],
    'branch-longest': ['8', 'A branch of 255 characters is accepted.', 'a service that accepts an unknown branch'],
    'branch-too-long': ['8', 'A branch of 256 characters is refused: 4xx.'],
  },
  'Read a run': {
    'run-read': ['4.3', 'A run that was started can be read.'],
    'run-status': ['2.1', 'The status is one of the seven.'],
    'run-fields': ['2.1', 'Times are ISO timestamps, and "branchName" is a string.'],
    'run-branch': ['2.1, 4.1', '"branchName" is the branch that the start named.', 'a start with a branch'],
    'queued-started-at': ['3.3', '"startedAt" is null while the run is QUEUED.', 'a run that is read while QUEUED'],
    'running-results': ['3.4', 'A run that is RUNNING has no "results".', 'a run that is read while RUNNING'],
    results: ['2.2', '"results" has the list "testCases".', 'a run with results'],
    'test-cases': ['2.3', 'A test case has the types of the interface.', 'a run with test cases that finishes in time'],
    'run-unknown': ['7', 'A run that does not exist is not found: 404.'],
    'project-unknown': ['2.1, 7', 'A run is not found in a project that does not exist: 404.'],
  },
  'Cancel a run': {
    'cancel-response': ['4.2', 'A cancel returns "cancelled", a list of objects with "runId".'],
    'cancel-queued': ['3.1', 'A QUEUED run can be cancelled.', 'a run that is cancelled while QUEUED'],
    'cancel-running': ['3.1', 'A RUNNING run can be cancelled.', 'a run that is cancelled while RUNNING'],
    'cancel-ends': ['3.2, 4.2', 'A run that was cancelled stops.'],
    'cancel-only': ['4.2', 'A cancel lists no other run than the one that it names.'],
    'cancel-finished': ['3.1, 4.2', 'A finished run is not cancelled.', 'a run that finishes'],
    'cancel-unknown': ['4.2, 7', 'A run that is not in the project is not cancelled.'],
  },
  'Test suites': {
    'suite-start': ['4.4', 'A test suite can be started.', '--suite'],
    'suite-status': ['4.4', 'Whether its run is in progress can be read.', '--suite'],
    'suite-result': ['4.4', 'The results of its finished run can be read.', '--suite, and a run that finishes in time'],
    'suite-unknown': ['4.4, 7', "A test suite's run that does not exist is not found: 404.", '--suite'],
  },
  'What the action relies on beyond the document': {
    'complete-response': ['', 'Each request gets a complete response within 30 s.'],
    'no-redirect': ['', 'No request is redirected.'],
    'content-type': ['', 'A content type, if there is one, is JSON.'],
    'retry-after': ['', '"Retry-After" is a number of seconds or a date.', 'a response with it'],
    'start-least': ['', 'A start without any field is accepted.'],
    'run-id': ['', 'An id is 1 to 256 of A-Z a-z 0-9 . _ ~ : = + / @ - and neither "." nor "..".'],
    'read-at-once': ['', 'A run can be read immediately after its start.'],
    'suite-fields': ['', 'The responses about test suites have the fields that are publicly known.', '--suite'],
  },
} as const satisfies Record<string, Record<string, RuleText>>

export type RuleId = { [Group in keyof typeof RULES]: keyof (typeof RULES)[Group] }[keyof typeof RULES]

export interface RuleResult {
  readonly id: string
  readonly group: string
  /** Absent: the action relies on it, beyond the document. */
  readonly section?: string | undefined
  readonly sentence: string
  readonly verdict: 'holds' | 'broken' | 'not observed'
  /** What is wrong, or what is needed to observe the rule. */
  readonly detail?: string | undefined
  readonly exchange?: Exchange | undefined
}

export type Problem = string | false | undefined

export type Observe = (id: RuleId, exchange: Exchange, problem: Problem) => void

/** Collects what was observed about each rule. Its first problem counts. */
export function createVerdicts() {
  const observed = new Map<string, { readonly detail: string; readonly exchange: Exchange } | undefined>()
  const observe: Observe = (id, exchange, problem) => {
    if (observed.get(id) === undefined) observed.set(id, problem ? { detail: problem, exchange } : undefined)
  }
  const resultOf = (group: string, id: string, [section, sentence, needs]: RuleText): RuleResult => {
    const rule = { id, group, section: section || undefined, sentence }
    if (!observed.has(id)) return { ...rule, verdict: 'not observed', detail: needs && `needs ${needs}` }
    const problem = observed.get(id)
    return problem === undefined ? { ...rule, verdict: 'holds' } : { ...rule, verdict: 'broken', ...problem }
  }
  const groups: Readonly<Record<string, Readonly<Record<string, RuleText>>>> = RULES
  return {
    observe,
    isObserved: (id: RuleId) => observed.has(id),
    results: () =>
      Object.entries(groups).flatMap(([group, rules]) =>
        Object.entries(rules).map(([id, rule]) => resultOf(group, id, rule)),
      ),
  }
}
