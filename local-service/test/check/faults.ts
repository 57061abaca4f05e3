import type { RuleId } from '../../src/check/rules.ts'
import {
  type Behaviour,
  CASE,
  isFinished,
  KEY,
  PROJECTS,
  RIGHT,
  type Sent,
  type ServiceRun,
} from './a-service-in-memory.ts'

/** A service that is right but for one thing, and exactly the rules that the check must find broken or differing. */
export interface Fault extends Partial<Behaviour> {
  readonly breaks: readonly RuleId[]
}

type Fields = Readonly<Record<string, unknown>>

const ERROR = { status: 500, body: { error: 'Broken.' } }
const NOT_FOUND = { status: 404, body: { error: 'Not found.' } }
const NEVER = Date.UTC(2100, 0, 1)
const TIME = '2025-06-01T00:00:00Z'

/** Shows a run with other fields than the right ones. */
export const shows = (change: (right: Fields, run: ServiceRun) => Fields | false): Pick<Behaviour, 'describe'> => ({
  describe: (run) => {
    const right = RIGHT.describe(run)
    return { ...right, ...change(right, run) }
  },
})
const showsCases = (...testCases: unknown[]) => shows(({ status }) => status === 'PASSED' && { results: { testCases } })
/** Shows a test case with other fields than the right ones. */
const showsCase = (fields: Fields) => showsCases({ ...CASE, ...fields })
/** Accepts a field of this type, too. */
const takes = (name: string, type: string): Pick<Behaviour, 'refuse'> => ({
  refuse: (body) => {
    const { [name]: value, ...others } = Object(body)
    return RIGHT.refuse(Array.isArray(body) || typeof value !== type ? body : others)
  },
})
/** Refuses every start with one of these. */
const refuses = (isRefused: (fields: Fields) => boolean): Pick<Behaviour, 'refuse'> => ({
  refuse: (body) => RIGHT.refuse(body) ?? (isRefused(Object(body)) ? 'No.' : undefined),
})
export const sends = (send: Behaviour['send']): Pick<Behaviour, 'send'> => ({ send })
const branchOf = (body: Fields) => String(body.branch ?? 'main')
const lists = (...runs: readonly unknown[]): Partial<Sent> => ({
  body: { cancelled: runs.map((runId) => ({ runId })) },
})
const acceptsKey = (isKey: Behaviour['isKey']): Pick<Behaviour, 'isKey'> => ({
  isKey: (header) => RIGHT.isKey(header) || isKey(header),
})
/** A cancel with another effect on the run that it names. The response is the right one. */
const ends = (
  end: (run: ServiceRun, runs: readonly ServiceRun[], nowMs: number) => object,
): Pick<Behaviour, 'cancel'> => ({
  cancel: (where, runs, project, nowMs) => {
    const before = runs.map((run) => ({ ...run }))
    const cancelled = RIGHT.cancel(where, runs, project, nowMs)
    for (const run of 'status' in cancelled ? [] : cancelled) {
      const old = before.find(({ id }) => id === run.id) as ServiceRun
      Object.assign(run, end(old, runs, nowMs))
    }
    return cancelled
  },
})

export const FAULTS: Readonly<Record<string, Fault>> = {
  // Every request
  'an error that is not JSON': {
    breaks: ['json'],
    ...sends(({ status }) => (status === 404 ? { text: 'Not found' } : {})),
  },
  'a status code that is not documented': {
    breaks: ['status-code'],
    ...sends(({ status }, { probe }) => (status === 400 && probe === 'cancel-finished' ? { status: 409 } : {})),
  },
  'an error without its text': {
    breaks: ['error-object'],
    ...sends(({ status }) => (status === 401 ? { body: {} } : {})),
  },
  'no key needed': { breaks: ['key-missing', 'key-first'], ...acceptsKey((header) => header === '') },
  'any key': {
    breaks: ['key-invalid', 'key-similar', 'key-case'],
    ...acceptsKey((header) => /^Bearer .+/.test(header)),
  },
  'keys that begin right': { breaks: ['key-similar'], ...acceptsKey((header) => header.startsWith(`Bearer ${KEY}`)) },
  'keys that lack their end': {
    breaks: ['key-similar'],
    ...acceptsKey((header) => header === `Bearer ${KEY.slice(0, -1)}`),
  },
  'keys in any case': {
    breaks: ['key-case'],
    ...acceptsKey((header) => header.toLowerCase() === `bearer ${KEY}`.toLowerCase()),
  },
  'an empty key': { breaks: ['key-empty'], ...acceptsKey((header) => header === 'Bearer ') },
  'any scheme': { breaks: ['key-scheme'], ...acceptsKey((header) => header === `Basic ${KEY}`) },
  'no scheme': { breaks: ['key-bare'], ...acceptsKey((header) => header === KEY) },
  'a request without a response': {
    breaks: ['complete'],
    ...sends((_, { probe }) => (probe === 'branch-256' ? { failure: 'socket hang up' } : {})),
  },
  'a redirect': {
    breaks: ['no-redirect'],
    ...sends(({ status }) => (status === 404 ? { status: 302, headers: { location: '/sign-in' } } : {})),
  },
  'a success of another type': {
    breaks: ['content-type'],
    ...sends(({ status }) => (status === 200 ? { headers: { 'content-type': 'text/html' } } : {})),
  },
  'an error of another type': {
    breaks: ['error-content-type'],
    ...sends(({ status }) => (status === 200 ? {} : { headers: { 'content-type': 'text/html' } })),
  },
  'a wait that is no time': {
    breaks: ['retry-after'],
    ...sends((_, { probe }) => (probe === 'read-project' ? { status: 429, headers: { 'retry-after': 'soon' } } : {})),
  },
  '404 before 401': {
    breaks: ['key-first'],
    ...sends((_, { probe, method }) => (probe === 'key-first' && method === 'GET' ? { status: 404 } : {})),
  },
  '400 for what does not exist': {
    breaks: ['unknown-404'],
    ...sends(({ status }) => (status === 404 ? { status: 400 } : {})),
  },

  // Starts
  'ids that are numbers': { breaks: ['start-response', 'cancel-response'], idOf: (number) => number },
  'ids that are objects': { breaks: ['start-response'], idOf: () => ({ toString: 0 }) },
  'ids that are empty': { breaks: ['run-id'], idOf: () => '' },
  'ids that are half a character': { breaks: ['run-id'], idOf: () => '\ud800' },
  'ids with a space': { breaks: ['run-id'], idOf: (number) => `run ${number}` },
  'an id that came before': { breaks: ['start-id-new'], idOf: (number) => `run-${number === 3 ? 1 : number}` },
  'no autofix': { breaks: ['start-fields', 'start-old-beside-new'], ...refuses((fields) => 'autofix' in fields) },
  'no environment but the deprecated one': {
    breaks: ['start-fields', 'start-old-beside-new'],
    ...refuses((fields) => 'environment' in fields),
  },
  'no deprecated fields': {
    breaks: ['start-deprecated', 'start-old-beside-new'],
    ...refuses((fields) => 'runGroupName' in fields),
  },
  'no old names beside new ones': {
    breaks: ['start-old-beside-new'],
    ...refuses((fields) => 'environment' in fields && 'environmentName' in fields),
  },
  'a required framework project': {
    breaks: ['start-empty'],
    ...refuses((fields) => !('frameworkProjectName' in fields)),
  },
  'an environment of any type': { breaks: ['start-types'], ...takes('environment', 'number') },
  'a deprecated environment of any type': { breaks: ['start-types'], ...takes('environmentName', 'number') },
  'a framework project of any type': { breaks: ['start-types'], ...takes('frameworkProjectName', 'number') },
  'a run group of any type': { breaks: ['start-types'], ...takes('runGroupName', 'number') },
  'a branch of any type': { breaks: ['start-types'], ...takes('branch', 'number') },
  'overrides of any type': { breaks: ['start-types'], ...takes('envOverrides', 'string') },
  'autofix of any type': { breaks: ['start-types'], ...takes('autofix', 'string') },
  'a branch of null': {
    breaks: ['start-types'],
    refuse: (body) => RIGHT.refuse(Object(body).branch === null ? {} : body),
  },
  'a body that is an array': {
    breaks: ['start-array'],
    refuse: (body) => RIGHT.refuse(Array.isArray(body) ? {} : body),
  },
  'a body that is not JSON': { breaks: ['start-not-json'], parse: (body) => (body === '{' ? {} : RIGHT.parse(body)) },
  'an error of its own for what is not JSON': {
    breaks: ['start-not-json'],
    ...sends((_, { probe }) => (probe === 'start-not-json' ? ERROR : {})),
  },
  'a body that is not UTF-8': { breaks: ['start-not-utf8'], parse: (body) => RIGHT.parse(body.toString()) },
  'starts in any project': {
    breaks: ['start-project'],
    hasProject: () => true,
    ...sends((_, { probe }) => (probe === 'cancel-project' ? NOT_FOUND : {})),
  },
  'an empty branch': {
    breaks: ['branch-0'],
    refuse: (body) => (branchOf(Object(body)) === '' ? undefined : RIGHT.refuse(body)),
  },
  'no branch of one character': { breaks: ['branch-1'], ...refuses((fields) => branchOf(fields).length === 1) },
  'no branch of 255 characters': { breaks: ['branch-255'], ...refuses((fields) => branchOf(fields).length === 255) },
  'a branch of 256 characters': {
    breaks: ['branch-256'],
    refuse: (body) => (branchOf(Object(body)).length === 256 ? undefined : RIGHT.refuse(body)),
  },
  'UTF-16 units for characters': { breaks: ['branch-unicode'], ...refuses((fields) => branchOf(fields).length > 255) },
  'the default branch whatever is asked for': { breaks: ['branch-tested'], ...shows(() => ({ branchName: 'main' })) },

  // Reads
  'a read that fails later': {
    breaks: ['run-read'],
    ...sends((_, { probe }, run) => (run?.number === 1 && run.reads === 3 && !probe ? ERROR : {})),
  },
  'runs that cannot be read at once': {
    breaks: ['read-at-once'],
    ...sends((_, __, run) => (run?.reads === 1 ? { status: 404, body: { error: 'Not yet.' } } : {})),
  },
  'runs that can never be read': {
    breaks: ['read-at-once', 'run-read'],
    ...sends((_, { endpoint, probe }) =>
      endpoint === 'read' && !probe ? { status: 404, body: { error: 'No.' } } : {},
    ),
  },
  'a status of its own': {
    breaks: ['run-status'],
    ...shows((_, { number, reads }) => number === 1 && reads === 2 && { status: 'PREPARING' }),
  },
  'no status': {
    breaks: ['run-status'],
    ...shows((_, { number, reads }) => number === 1 && reads === 2 && { status: undefined }),
  },
  'a start time that is no time': {
    breaks: ['started-at', 'started-when'],
    ...shows((_, run) => run.status !== 'QUEUED' && { startedAt: 'yesterday' }),
  },
  'an end time that is no time': {
    breaks: ['finished-at'],
    ...shows((_, run) => isFinished(run) && { finishedAt: 'yesterday' }),
  },
  'a branch that is no text': { breaks: ['branch-name'], ...shows(() => ({ branchName: null })) },
  'a start time while queued': {
    breaks: ['queued-started-at', 'times-stay'],
    ...shows(({ status }) => status === 'QUEUED' && { startedAt: TIME }),
  },
  'no start time while queued': {
    breaks: ['queued-started-at'],
    ...shows(({ status }) => status === 'QUEUED' && { startedAt: undefined }),
  },
  'other names of fields': {
    breaks: [
      ...(['queued-started-at', 'started-when', 'finished-when'] as const),
      ...(['results-passed', 'results-there', 'branch-name-there'] as const),
    ],
    describe: (run) => {
      const { status, startedAt: started_at, finishedAt: finished_at, branchName: branch_name } = RIGHT.describe(run)
      return { status, started_at, finished_at, branch_name }
    },
  },
  'results while running': {
    breaks: ['running-results'],
    ...shows(({ status }) => status === 'RUNNING' && { results: { testCases: [] } }),
  },
  'results without test cases': {
    breaks: ['results'],
    ...shows(({ results }) => results !== undefined && { results: {} }),
  },
  'results that are null': {
    breaks: ['results'],
    ...shows(({ results }) => results !== undefined && { results: null }),
  },
  'test cases that are texts': { breaks: ['case-object'], ...showsCases('x') },
  'a title that is no text': { breaks: ['case-title'], ...showsCase({ title: 1 }) },
  "a case's status that is no text": { breaks: ['case-status', 'case-status-known'], ...showsCase({ status: 1 }) },
  'half a millisecond': { breaks: ['case-duration'], ...showsCase({ durationMs: 1.5 }) },
  'a negative duration': { breaks: ['case-duration-sign'], ...showsCase({ durationMs: -1 }) },
  'a test case with a name in place of a title': {
    breaks: ['case-title-there'],
    ...showsCase({ title: undefined, name: 'adds' }),
  },
  'a test case with an empty title': { breaks: ['case-title-there'], ...showsCase({ title: '' }) },
  'a test case without a status': { breaks: ['case-status-there'], ...showsCase({ status: undefined }) },
  'a test case that ran without a duration': {
    breaks: ['case-duration-there'],
    ...showsCase({ durationMs: undefined }),
  },
  'a message that is no text': { breaks: ['case-message'], ...showsCase({ message: ['expected 2 to be 1'] }) },
  'an absolute path of a file': { breaks: ['case-file-path'], ...showsCase({ filePath: '/home/runner/a.spec.ts' }) },
  'a path of Windows': { breaks: ['case-file-path'], ...showsCase({ filePath: 'test\\a.spec.ts' }) },
  'a path to somewhere else': { breaks: ['case-file-path'], ...showsCase({ filePath: 'test/../../a.spec.ts' }) },
  'a line that is a text': { breaks: ['case-line'], ...showsCase({ line: '7' }) },
  'a line 0': { breaks: ['case-line'], ...showsCase({ line: 0 }) },
  'a message of a run that is no text': {
    breaks: ['run-message'],
    ...shows(({ message }) => message !== undefined && { message: { text: message } }),
  },
  'no results of a run that passed': {
    breaks: ['results-passed'],
    ...shows(({ status }) => status === 'PASSED' && { results: undefined }),
  },
  'no results of a run that was cancelled': {
    breaks: ['results-there'],
    ...shows(({ status }) => status === 'CANCELLED' && { results: undefined }),
  },
  'no branch of a finished run': {
    breaks: ['branch-name-there'],
    ...shows((_, run) => isFinished(run) && { branchName: undefined }),
  },
  "a case's status that is not known": { breaks: ['case-status-known'], ...showsCase({ status: 'BLUE' }) },
  'an error of its own for an unknown run': {
    breaks: ['read-unknown'],
    ...sends((_, { probe }) => (probe === 'read-unknown' ? ERROR : {})),
  },
  'runs in any project': {
    breaks: ['read-project'],
    ...sends((_, { probe }) => (probe === 'read-project' ? { status: 200, body: { status: 'PASSED' } } : {})),
  },
  'runs in another project': {
    breaks: ['read-other-project'],
    ...sends((_, { probe }) => (probe === 'read-other-project' ? { status: 200, body: { status: 'PASSED' } } : {})),
  },
  'a pass that becomes a failure': {
    breaks: ['final-stays'],
    ...shows(({ status }, { reads }) => status === 'PASSED' && reads % 2 === 0 && { status: 'FAILED' }),
  },
  'a run that is queued again': {
    breaks: ['status-forward', 'times-stay'],
    ...shows(
      ({ status }, { number, reads }) =>
        number === 1 && reads === 3 && status === 'RUNNING' && { status: 'QUEUED', startedAt: null },
    ),
  },
  'times that change': {
    breaks: ['times-stay'],
    ...shows(({ startedAt }, { reads }) => startedAt !== null && { startedAt: `2025-06-01T00:00:0${reads % 10}Z` }),
  },
  'no start time while running': {
    breaks: ['started-when'],
    ...shows(({ status }) => status === 'RUNNING' && { startedAt: null }),
  },
  'an end time while running': {
    breaks: ['finished-when', 'times-stay'],
    ...shows(({ status }) => status === 'RUNNING' && { finishedAt: '2027-01-01T00:00:00Z' }),
  },
  'an end before the start': {
    breaks: ['times-order'],
    ...shows(({ finishedAt }) => finishedAt !== undefined && { finishedAt: TIME }),
  },
  'times without a zone': {
    breaks: ['times-spelling'],
    ...shows(({ startedAt }) => startedAt !== null && { startedAt: '20260101T000000,5' }),
  },
  'results that vanish': {
    breaks: ['results-stay', 'results-passed', 'results-there'],
    ...shows((_, run) => run.reads % 2 === 0 && { results: undefined }),
  },

  // Cancels
  'a cancel that lists numbers': {
    breaks: ['cancel-response'],
    ...sends((right, { endpoint }) => (endpoint === 'cancel' && right.status === 200 ? lists(1) : {})),
  },
  'a cancel without a list': {
    breaks: ['cancel-response'],
    ...sends((right, { endpoint }) => (endpoint === 'cancel' && right.status === 200 ? { body: {} } : {})),
  },
  'a list that holds null': {
    breaks: ['cancel-response'],
    ...sends((right, { endpoint }) =>
      endpoint === 'cancel' && right.status === 200 ? { body: { cancelled: [null] } } : {},
    ),
  },
  'no cancel of queued runs': {
    breaks: ['cancel-queued'],
    cancel: (where, runs, project, nowMs) =>
      runs.find((run) => run.project === project && run.id === Object(where).runId)?.status === 'QUEUED'
        ? { status: 400, body: { error: 'Later.' } }
        : RIGHT.cancel(where, runs, project, nowMs),
  },
  'no cancel of running runs': {
    breaks: ['cancel-running'],
    cancel: (where, runs, project, nowMs) =>
      runs.find((run) => run.project === project && run.id === Object(where).runId)?.status === 'RUNNING'
        ? { status: 400, body: { error: 'Too late.' } }
        : RIGHT.cancel(where, runs, project, nowMs),
  },
  'a cancel that lists nothing': {
    breaks: ['cancel-queued', 'cancel-running'],
    ...sends((right, { endpoint }) => (endpoint === 'cancel' && right.status === 200 ? lists() : {})),
  },
  'a cancel that lists other runs': {
    breaks: ['cancel-lists-only'],
    ...sends((right, { endpoint, runId }) =>
      endpoint === 'cancel' && right.status === 200 ? lists(runId, 'of somebody else') : {},
    ),
  },
  'a cancel that ends other runs': {
    breaks: ['cancel-ends-only'],
    ...ends((_, runs, nowMs) => {
      for (const run of runs) if (!isFinished(run)) Object.assign(run, { status: 'CANCELLED', finishedAtMs: nowMs })
      return {}
    }),
  },
  'a cancel of a finished run': {
    breaks: ['cancel-finished'],
    ...sends((_, { probe, runId }) => (probe === 'cancel-finished' ? { status: 200, ...lists(runId) } : {})),
  },
  'a second cancel that lists the run again': {
    breaks: ['cancel-again'],
    cancel: (where, runs, project, nowMs) => {
      const run = runs.find((one) => one.project === project && one.id === Object(where).runId)
      return run?.status === 'CANCELLED' ? [run] : RIGHT.cancel(where, runs, project, nowMs)
    },
  },
  'a cancel of an unknown run': {
    breaks: ['cancel-unknown'],
    ...sends((_, { probe, runId }) => (probe === 'cancel-unknown' ? { status: 200, ...lists(runId) } : {})),
  },
  'a cancel in any project': { breaks: ['cancel-project'], ...cancelsAnyway('cancel-project') },
  'a cancel in another project': { breaks: ['cancel-other-project'], ...cancelsAnyway('cancel-other-project') },
  'a cancel of everything': {
    breaks: ['cancel-no-where'],
    cancel: (where, runs, project, nowMs) => {
      if (where !== undefined) return RIGHT.cancel(where, runs, project, nowMs)
      for (const run of runs) if (!isFinished(run)) Object.assign(run, { status: 'CANCELLED', finishedAtMs: nowMs })
      return []
    },
  },
  'a cancel that does nothing': { breaks: ['cancel-ends'], ...ends((old) => ({ ...old, finishedAtMs: undefined })) },
  'a cancel after which a queued run passes': {
    breaks: ['cancel-ends'],
    ...ends((old) => (old.status === 'QUEUED' ? { ...old, finishedAtMs: undefined } : {})),
  },
  'a cancel after which the run never ends': {
    breaks: ['cancel-ends'],
    ...ends(() => ({ status: 'RUNNING', startedAtMs: NEVER, finishedAtMs: undefined })),
    ...shows(({ startedAt }) => startedAt !== null && { startedAt: TIME }),
  },
  'a cancelled run with another status': { breaks: ['cancel-status'], ...ends(() => ({ status: 'FAILED' })) },

  // Test suites
  'no start of a suite': {
    breaks: ['suite-start'],
    ...sends(({ status }, { endpoint }) => (endpoint === 'suite-start' && status === 200 ? ERROR : {})),
  },
  'a start of an unknown suite': {
    breaks: ['suite-start-unknown'],
    ...sends((_, { probe }) => (probe === 'suite-start-unknown' ? { status: 200, body: { testSuiteRunId: 'x' } } : {})),
  },
  'no status of a suite': {
    breaks: ['suite-status'],
    ...sends(({ status }, { endpoint }) => (endpoint === 'suite-status' && status === 200 ? ERROR : {})),
  },
  'no result of a suite': {
    breaks: ['suite-result'],
    ...sends(({ status }, { endpoint }) => (endpoint === 'suite-result' && status === 200 ? ERROR : {})),
  },
  'an unknown run of a suite': {
    breaks: ['suite-unknown'],
    ...sends((_, { probe }) => (probe === 'suite-unknown' ? ERROR : {})),
  },
  'other fields of a suite': {
    breaks: ['suite-fields'],
    ...sends(({ status }, { endpoint }) =>
      endpoint === 'suite-result' && status === 200 ? { body: { results: 5 } } : {},
    ),
  },
}

/** Does what a cancel that was sent for this rule asks for, as if the run's own project were in the path. */
function cancelsAnyway(probe: RuleId): Pick<Behaviour, 'hasProject' | 'cancel' | 'send'> {
  return {
    hasProject: () => true,
    cancel: (where, runs, project, nowMs) => {
      const isMeant = probe === 'cancel-other-project' ? project === PROJECTS[1] : !PROJECTS.includes(project)
      return RIGHT.cancel(where, runs, isMeant ? 'shop' : project, nowMs)
    },
    send: (_, request) => (/-project$/.test(request.probe ?? '') && request.probe !== probe ? NOT_FOUND : {}),
  }
}
