import type { Clock } from '../clock.ts'
import type { Target } from '../model/run.ts'
import { isLoopback } from '../text/web-address.ts'
import { VERSION } from '../version.ts'
import { openConnections, type Proxies } from './connection.ts'
import { keyRedaction, type Redact } from './key-redaction.ts'
import { projectRuns } from './project-runs.ts'
import { createSendJson, type RunRequests } from './requests.ts'
import { suiteRuns } from './suite-runs.ts'
import type { TransportSettings } from './transport.ts'

export interface ServiceClient extends RunRequests {
  /** If requests have failed for this long without a success, they are not repeated any more. */
  readonly failureLimitMs: number
  /** Replaces the key. Each response is searched for it already, but two parts of the output can each hold half of it. */
  readonly redact: Redact
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
