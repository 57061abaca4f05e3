import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type LocalService, startLocalService } from '../../local-service/src/service.ts'
import { ConfigurationError } from '../../local-service/src/settings/configuration.ts'
import type { Framework, TestCase, ThroughService } from './results.ts'

const POLL_MS = 50
const MINUTE_MS = 60_000

export interface RunThroughService {
  readonly folder: string
  readonly framework: Framework
  readonly args: readonly string[]
  readonly env: NodeJS.ProcessEnv
  readonly temporaryFolder: string
  readonly limitMs?: number | undefined
}

/** Starts the local service for the folder, starts a run, and waits until the run has finished. */
export async function runThroughService(run: RunThroughService, stop: AbortSignal): Promise<ThroughService> {
  const { folder, framework, args, env, temporaryFolder, limitMs } = run
  let service: LocalService | undefined
  try {
    service = await startLocalService(
      { projects: { [basename(resolve(folder))]: { folder, framework, args } } },
      {
        folder,
        env,
        dataFolder: join(temporaryFolder, 'data'),
        temporaryFolder: tmpdir(),
        runLimitMinutes: limitMs && limitMs / MINUTE_MS,
        log: () => {},
      },
    )
    return await runTests(service, stop)
  } catch (error) {
    if (error instanceof ConfigurationError) return { kind: 'refused', reason: error.message }
    throw error
  } finally {
    await service?.close()
  }
}

async function runTests({ url, key, projects: [project] }: LocalService, stop: AbortSignal): Promise<ThroughService> {
  const runs = `${url}/v1/projects/${encodeURIComponent(project?.id ?? '')}/runs`
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const { runId } = await request<{ runId: string }>(runs, { method: 'POST', headers, body: '{}', signal: stop })
  for (;;) {
    const { status, finishedAt, message, results } = await request<Run>(`${runs}/${runId}`, { headers, signal: stop })
    if (finishedAt !== undefined) return { kind: 'finished', status, message, testCases: results?.testCases ?? [] }
    await delay(POLL_MS, undefined, { signal: stop })
  }
}

/** The parts of a run that are read here. */
interface Run {
  readonly status: string
  readonly finishedAt?: string
  readonly message?: string
  readonly results?: { readonly testCases: readonly TestCase[] }
}

async function request<Result>(url: string, options: RequestInit): Promise<Result> {
  const response = await fetch(url, options)
  if (response.ok) return (await response.json()) as Result
  throw new Error(`The local service responded with ${response.status}: ${await response.text()}`)
}
