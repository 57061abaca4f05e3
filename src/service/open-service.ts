import type { Clock } from '../clock.ts'
import type { Target } from '../outcome/run.ts'
import { VERSION } from '../version.ts'
import { openConnections, type Proxies } from './connection.ts'
import { keyRedaction } from './key-redaction.ts'
import { createSendJson } from './response.ts'
import type { TestService } from './test-service.ts'
import { Refusals, type TransportSettings } from './transport.ts'
import { projectRuns, suiteRuns } from './workflows.ts'

export interface ServiceAddress {
  readonly baseUrl: URL
  readonly apiKey: string
  readonly target: Target
  readonly proxies: Proxies
}

/** By the address of the workflow run's page, the operators of the service find the workflow run. */
function userAgent(workflowRunUrl: string | undefined): string {
  const product = `test-run-action/${VERSION}`
  return workflowRunUrl === undefined ? product : `${product} (${workflowRunUrl})`
}

export async function openService(
  address: ServiceAddress,
  clock: Clock,
  options: { readonly workflowRunUrl?: string | undefined; readonly debug?: TransportSettings['debug'] } = {},
): Promise<TestService> {
  const { baseUrl, apiKey, target, proxies } = address
  const send = createSendJson({
    baseUrl,
    apiKey,
    redact: keyRedaction(apiKey),
    userAgent: userAgent(options.workflowRunUrl),
    connections: await openConnections(baseUrl.origin, proxies),
    refusals: new Refusals(baseUrl, proxies.httpsProxy !== undefined, clock),
    clock,
    debug: options.debug,
  })
  return target.kind === 'project' ? projectRuns(send, target.id) : suiteRuns(send, target.id, clock)
}
