import type { Clock } from '../clock.ts'
import type { Target } from '../outcome/run.ts'
import { VERSION } from '../version.ts'
import { openConnections, type Proxies } from './connection.ts'
import { projectRuns } from './project-runs.ts'
import { keyRedaction } from './redact.ts'
import { createSendJson } from './response.ts'
import { suiteRuns } from './suite-runs.ts'
import type { TestService } from './test-service.ts'

export interface ServiceAddress {
  readonly baseUrl: URL
  readonly apiKey: string
  readonly target: Target
  readonly proxies: Proxies
  /** `NODE_EXTRA_CA_CERTS` names a file that cannot be read, often one of the host in a job with a container. */
  readonly hasUnreadableCaFile?: boolean | undefined
}

/** The workflow of the service that the target belongs to, over real connections. Throws on an unusable proxy. */
export async function openService(address: ServiceAddress, clock: Clock): Promise<TestService> {
  const { baseUrl, apiKey, target, proxies, hasUnreadableCaFile } = address
  const send = createSendJson({
    baseUrl,
    apiKey,
    redact: keyRedaction(apiKey),
    userAgent: `test-run-action/${VERSION}`,
    connections: await openConnections(baseUrl.origin, proxies),
    hasUnreadableCaFile,
    clock,
  })
  return target.kind === 'project' ? projectRuns(send, target.projectId) : suiteRuns(send, target.testSuiteId, clock)
}
