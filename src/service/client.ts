import type { Clock } from '../clock.ts'
import type { Failure } from '../model/failure.ts'
import type { Run, StartParameters, Target } from '../model/run.ts'
import { untrusted } from '../text/untrusted.ts'
import { isLoopback } from '../text/web-address.ts'
import { VERSION } from '../version.ts'
import { openConnections, type Proxies } from './connection.ts'
import {
  decodeCancelled,
  decodeOutput,
  decodeRun,
  decodeStarted,
  decodeSuiteResult,
  decodeSuiteStatus,
  type OutputPart,
  shortened,
} from './decode.ts'
import { keyRedaction, type Redact } from './key-redaction.ts'
import { createSendJson, type SendJson } from './requests.ts'
import type { RequestOptions, TransportSettings } from './transport.ts'

/** The client of the test run service. If a request fails, its method returns the failure. */
export interface ServiceClient extends RunRequests {
  /** How long requests may fail without a break. Then they are not repeated any more. */
  readonly failureLimitMs: number
  /** Replaces the key. Each response is searched for it already, but two parts of the output can each hold half of it. */
  readonly redact: Redact
}

/** The requests of one of the service's two workflows. */
interface RunRequests {
  /** Starts a run and returns its id. Sends exactly one request. */
  start(parameters: StartParameters, options: RequestOptions): Promise<string | Failure>
  get(runId: string, options: RequestOptions): Promise<Run | Failure>
  /**
   * True if the response lists the run as cancelled. False if the service accepted the cancel, but does not list the run.
   * Absent if the workflow has no cancel.
   */
  readonly cancel?: (runId: string, options: RequestOptions) => Promise<boolean | Failure>
  /** Reads the output of the run's tests from a byte on. Absent if the workflow has no output. */
  readonly output?:
    | ((runId: string, from: number, options: RequestOptions) => Promise<OutputPart | Failure>)
    | undefined
}

export interface ServiceAddress {
  readonly baseUrl: URL
  readonly apiKey: string
  readonly target: Target
  readonly proxies: Proxies
}

const FAILURE_LIMIT_MS = 300_000
/** A service on this machine has no network between it and the step, so a failure that lasts is the service's end. */
const LOOPBACK_FAILURE_LIMIT_MS = 30_000

export async function openService(
  address: ServiceAddress,
  clock: Clock,
  options: { readonly workflowRunUrl?: string | undefined; readonly debug?: TransportSettings['debug'] } = {},
): Promise<ServiceClient> {
  const { baseUrl, apiKey, target, proxies } = address
  // By this address, the operators of the service find the workflow run.
  const workflowRun = options.workflowRunUrl === undefined ? '' : ` (${options.workflowRunUrl})`
  const redact = keyRedaction(apiKey)
  const send = createSendJson({
    baseUrl,
    apiKey,
    redact,
    userAgent: `test-run-action/${VERSION}${workflowRun}`,
    connections: await openConnections(baseUrl.origin, proxies),
    clock,
    debug: options.debug,
  })
  return {
    ...(target.kind === 'project' ? projectRuns(send, target.id) : suiteRuns(send, target.id, clock)),
    redact,
    failureLimitMs: isLoopback(baseUrl) ? LOOPBACK_FAILURE_LIMIT_MS : FAILURE_LIMIT_MS,
  }
}

/** The runs of a project: the paths below /v1/projects in docs/openapi.yaml. */
export function projectRuns(send: SendJson, projectId: string): RunRequests {
  const runs = ['v1', 'projects', projectId, 'runs']
  return {
    start(parameters, options) {
      const body = {
        frameworkProjectName: parameters.frameworkProject,
        envOverrides: parameters.envOverrides,
        environment: parameters.environment,
        autofix: parameters.autofix,
        branch: parameters.branch,
      }
      return send('POST', runs, body, options, (json) => decodeStarted(json, 'runId'))
    },
    get(runId, options) {
      return send('GET', [...runs, runId], undefined, options, decodeRun)
    },
    cancel(runId, options) {
      const path = [...runs, 'cancel']
      return send('POST', path, { where: { runId } }, options, (json) => decodeCancelled(json).includes(runId))
    },
    output(runId, from, options) {
      const path = [...runs, runId, 'output']
      return send('GET', path, undefined, { ...options, query: `?from=${from}` }, (json) => decodeOutput(json, from))
    },
  }
}

/** How long results may still be unfinished after the status says FINISHED. */
const UNFINISHED_LIMIT_MS = 30_000

const UNFINISHED = new Set(['RUNNING', 'QUEUED', 'RETRYING'])
const GOOD = new Set(['PASSED', 'FLAKY', 'SKIPPED'])

/**
 * The older test-suite workflow, as if it were a run of a project: the paths /v1/testSuite and /v1/testSuiteRun in
 * docs/openapi.yaml. It has no cancel.
 */
export function suiteRuns(send: SendJson, testSuiteId: string, clock: Clock): RunRequests {
  /** When the status was first FINISHED. A step reads only one run. */
  let finishedAtMs: number | undefined
  return {
    start(parameters, options) {
      const body = {
        environment: parameters.environment,
        variableOverrides: parameters.envOverrides,
        metadata: parameters.branch === undefined ? undefined : { git: { branch: parameters.branch } },
      }
      const path = ['v1', 'testSuite', testSuiteId, 'run']
      return send('POST', path, body, options, (json) => decodeStarted(json, 'testSuiteRunId'))
    },
    async get(testSuiteRunId, options) {
      const path = ['v1', 'testSuiteRun', testSuiteRunId]
      if (finishedAtMs === undefined) {
        const status = await send('GET', [...path, 'status'], undefined, options, decodeSuiteStatus)
        if (typeof status !== 'string') return status
        if (status !== 'FINISHED') {
          const known = status === 'RUNNING' ? status : 'UNKNOWN'
          return { status: known, rawStatus: shortened(status) }
        }
        finishedAtMs = clock.now()
      }
      const deadlineMs = finishedAtMs + UNFINISHED_LIMIT_MS
      return send('GET', [...path, 'result'], undefined, options, (json, text, redact) => {
        const testCases = decodeSuiteResult(json, redact)
        const statuses = testCases.map(({ rawStatus }) => String(rawStatus))
        const mayStillChange = statuses.some((status) => UNFINISHED.has(status)) && clock.now() < deadlineMs
        const status = mayStillChange ? 'RUNNING' : statusOfResults(statuses)
        return { status, rawStatus: untrusted(status), testCases, responseText: untrusted(text) }
      })
    },
  }
}

function statusOfResults(statuses: readonly string[]): Run['status'] {
  const bad = statuses.filter((status) => !GOOD.has(status))
  if (bad.length === 0) return 'PASSED'
  return bad.every((status) => status === 'CANCELLED') ? 'CANCELLED' : 'FAILED'
}
