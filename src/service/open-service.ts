import type { Clock } from '../clock.ts'
import type { Target } from '../outcome/start-parameters.ts'
import { keyRedaction } from '../outcome/without-key.ts'
import { VERSION } from '../version.ts'
import { openConnections, type Proxies, proxyFor } from './connection.ts'
import { createSendJson } from './http.ts'
import { keyFree } from './key-free-service.ts'
import { projectRuns } from './project-runs.ts'
import { suiteRuns } from './suite-runs.ts'
import type { TestService } from './test-service.ts'

export interface ServiceAddress {
  readonly baseUrl: URL
  readonly apiKey: string
  readonly target: Target
  readonly proxies: Proxies
}

/** The workflow of the service that the target belongs to, over real connections. Throws on an unusable proxy. */
export async function openService(address: ServiceAddress, clock: Clock): Promise<TestService> {
  const { baseUrl, apiKey, target, proxies } = address
  const connections = await openConnections(baseUrl.origin, proxies)
  const hasProxy = proxyFor(baseUrl.origin, proxies) !== undefined
  const redact = keyRedaction(apiKey)
  const userAgent = `test-run-action/${VERSION}`
  const send = createSendJson({ baseUrl, apiKey, redact, userAgent, connections, hasProxy, clock })
  const service =
    target.kind === 'project' ? projectRuns(send, target.projectId) : suiteRuns(send, target.testSuiteId, clock)
  return keyFree(service, redact)
}
