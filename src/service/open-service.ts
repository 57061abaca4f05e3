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

export async function openService(
  address: ServiceAddress,
  clock: Clock,
  options: { readonly workflowRunUrl?: string | undefined; readonly debug?: TransportSettings['debug'] } = {},
): Promise<TestService> {
  const { baseUrl, apiKey, target, proxies } = address
  // By this address, the operators of the service find the workflow run.
  const comment = options.workflowRunUrl === undefined ? '' : ` (${options.workflowRunUrl})`
  const send = createSendJson({
    baseUrl,
    apiKey,
    redact: keyRedaction(apiKey),
    userAgent: `test-run-action/${VERSION}${comment}`,
    connections: await openConnections(baseUrl.origin, proxies),
    refusals: new Refusals(baseUrl, proxies.httpsProxy !== undefined, clock),
    clock,
    debug: options.debug,
  })
  return target.kind === 'project' ? projectRuns(send, target.id) : suiteRuns(send, target.id, clock)
}
