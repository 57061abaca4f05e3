import type { Clock } from '../clock.ts'
import type { Target } from '../outcome/run.ts'
import { VERSION } from '../version.ts'
import { openConnections, type Proxies } from './connection.ts'
import { createSendJson } from './response.ts'
import type { TestService } from './test-service.ts'
import type { Redact } from './transport.ts'
import { projectRuns, suiteRuns } from './workflows.ts'

export interface ServiceAddress {
  readonly baseUrl: URL
  readonly apiKey: string
  readonly target: Target
  readonly proxies: Proxies
}

export async function openService(address: ServiceAddress, clock: Clock): Promise<TestService> {
  const { baseUrl, apiKey, target, proxies } = address
  const send = createSendJson({
    baseUrl,
    apiKey,
    redact: keyRedaction(apiKey),
    userAgent: `test-run-action/${VERSION}`,
    connections: await openConnections(baseUrl.origin, proxies),
    clock,
  })
  return target.kind === 'project' ? projectRuns(send, target.projectId) : suiteRuns(send, target.testSuiteId, clock)
}

/** A shorter key would be found within words that have nothing to do with it, field names among them. */
const SHORTEST_KEY_CHARS = 8

/**
 * Finds the key as it is and JSON-escaped. Applied once to each response, as text, before anything is decoded, quoted,
 * truncated or escaped.
 */
export function keyRedaction(apiKey: string): Redact {
  if (apiKey.length < SHORTEST_KEY_CHARS) return (text) => text
  const jsonEscaped = JSON.stringify(apiKey).slice(1, -1)
  return (text) => text.replaceAll(jsonEscaped, '***').replaceAll(apiKey, '***')
}
