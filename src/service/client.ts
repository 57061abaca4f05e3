import type { Clock } from '../clock.ts'
import { type Failure, isFailure } from '../model/failure.ts'
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
import { REQUEST_LIMIT_MS, type RequestOptions, type TransportSettings } from './transport.ts'

export interface ServiceClient extends RunRequests {
  /** If polls or cancels have failed for this long without a success, they are not repeated any more. */
  readonly failureLimitMs: number
  /** Replaces the key. Each response is searched for it already, but two parts of the output can each hold half of it. */
  readonly redact: Redact
}

/** The requests of one of the service's two interfaces. */
interface RunRequests {
  /** Starts a run and returns its id. Sends exactly one request. */
  start(parameters: StartParameters, options: RequestOptions): Promise<string | Failure>
  get(runId: string, options: RequestOptions): Promise<Run | Failure>
  /** Absent if the interface has no cancel. */
  readonly cancel?: (runId: string, options: RequestOptions) => Promise<true | Failure>
  /** Reads the output of the run's tests from a byte on. Absent if the interface has no output. */
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
/** There is no network to a service on the same machine. So if requests keep failing, the service has ended. */
const LOOPBACK_FAILURE_LIMIT_MS = 30_000

export async function openService(
  address: ServiceAddress,
  clock: Clock,
  { workflowRunUrl, debug }: { readonly workflowRunUrl?: string | undefined } & Pick<TransportSettings, 'debug'> = {},
): Promise<ServiceClient> {
  const { baseUrl, apiKey, target, proxies } = address
  // By this address, the operators of the service find the workflow run.
  const workflowRun = workflowRunUrl === undefined ? '' : ` (${workflowRunUrl})`
  const redact = keyRedaction(apiKey)
  const send = createSendJson({
    baseUrl,
    apiKey,
    redact,
    userAgent: `test-run-action/${VERSION}${workflowRun}`,
    connections: await openConnections(baseUrl.origin, proxies),
    clock,
    debug,
  })
  return {
    ...(target.kind === 'project' ? projectRuns(send, target.id) : suiteRuns(send, target.id, clock)),
    redact,
    failureLimitMs: isLoopback(baseUrl) ? LOOPBACK_FAILURE_LIMIT_MS : FAILURE_LIMIT_MS,
  }
}

const NOT_LISTED: Failure = { failure: true, kind: 'not-listed' }

/** The runs of a project: the paths below /v1/projects in docs/openapi.yaml. */
function projectRuns(send: SendJson, projectId: string): RunRequests {
  const runs = ['v1', 'projects', projectId, 'runs']
  return {
    start(parameters, options) {
      const { branch, environment, frameworkProject, envOverrides, autofix } = parameters
      const body = { branch, environment, frameworkProjectName: frameworkProject, envOverrides, autofix }
      const request = { method: 'POST', path: runs, body, isStart: true } as const
      return send(request, options, (json) => decodeStarted(json, 'runId'))
    },
    get(runId, options) {
      return send({ method: 'GET', path: [...runs, runId] }, options, decodeRun)
    },
    cancel(runId, options) {
      const request = { method: 'POST', path: [...runs, 'cancel'], body: { where: { runId } } } as const
      return send(request, options, (json) => (decodeCancelled(json).includes(runId) ? true : NOT_LISTED))
    },
    output(runId, from, options) {
      const request = { method: 'GET', path: [...runs, runId, 'output'], query: `?from=${from}` } as const
      return send(request, options, (json) => decodeOutput(json, from))
    },
  }
}

/** The older interface for test suites, as if it were a run of a project. It has no cancel. */
function suiteRuns(send: SendJson, testSuiteId: string, clock: Clock): RunRequests {
  return {
    start(parameters, options) {
      const body = {
        environment: parameters.environment,
        variableOverrides: parameters.envOverrides,
        metadata: parameters.branch === undefined ? undefined : { git: { branch: parameters.branch } },
      }
      const request = { method: 'POST', path: ['v1', 'testSuite', testSuiteId, 'run'], body, isStart: true } as const
      return send(request, options, (json) => decodeStarted(json, 'testSuiteRunId'))
    },
    async get(testSuiteRunId, options) {
      const path = ['v1', 'testSuiteRun', testSuiteRunId]
      const limitMs = Math.min(options.limitMs ?? REQUEST_LIMIT_MS, REQUEST_LIMIT_MS)
      const sentMs = clock.now()
      const suiteStatus = await send({ method: 'GET', path: [...path, 'status'] }, options, decodeSuiteStatus)
      if (isFailure(suiteStatus)) return suiteStatus
      // Only RUNNING and FINISHED are documented. With any other status, the run counts as unfinished, so main keeps polling.
      if (suiteStatus !== 'FINISHED') {
        return { status: suiteStatus === 'RUNNING' ? 'RUNNING' : 'UNKNOWN', rawStatus: shortened(suiteStatus) }
      }
      // The two requests of one poll share its time limit. If the machine was suspended during the first request, no time may be left.
      const leftMs = Math.max(1, limitMs - (clock.now() - sentMs))
      const request = { method: 'GET', path: [...path, 'result'] } as const
      return send(request, { ...options, limitMs: leftMs }, (json, text, redact) => {
        const { status, testCases } = decodeSuiteResult(json, redact)
        return { status, rawStatus: untrusted(status), testCases, responseText: untrusted(text) }
      })
    },
  }
}
