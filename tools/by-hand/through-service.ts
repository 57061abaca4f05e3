import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import type { Subject, TestCase, ThroughService } from './results.ts'

const COMMAND = resolve(import.meta.dirname, '../../local-service/src/main.ts')
const POLL_MS = 50
const MINUTE_MS = 60_000
/** The service exits with it if it cannot serve this folder with these arguments. */
const REFUSED = 2

/** Starts the local service for the folder, starts a run, and waits until the run has finished. */
export async function runThroughService(
  { folder, framework, args, env, limitMs }: Subject,
  temporaryFolder: string,
  stop: AbortSignal,
): Promise<ThroughService> {
  const options = ['--json', `--data=${join(temporaryFolder, 'data')}`, `--framework=${framework}`]
  options.push(...args.map((arg) => `--arg=${arg}`))
  if (limitMs !== undefined) options.push(`--run-limit-minutes=${limitMs / MINUTE_MS}`)
  // The group of its own keeps a Ctrl-C in the terminal from it. The service stops the run if it is stopped itself.
  const child = spawn(process.execPath, [COMMAND, ...options, resolve(await folder())], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  const exit = once(child, 'close') as Promise<[number | null]>
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text) => {
    errors += text
  })
  const [line, ended] = await Promise.race([
    once(createInterface(child.stdout), 'line').then(([text]) => [text as string, undefined] as const),
    exit.then(([code]) => [undefined, code] as const),
  ])
  if (line === undefined) {
    if (ended === REFUSED) return { kind: 'refused', reason: errors.trim() }
    throw new Error(`The local service ended with ${ended}: ${errors}`)
  }
  const end = () => child.kill('SIGTERM')
  stop.addEventListener('abort', end)
  try {
    return await runTests(JSON.parse(line), stop)
  } finally {
    end()
    await exit
    stop.removeEventListener('abort', end)
  }
}

interface Service {
  readonly url: string
  readonly key: string
  readonly projects: readonly [{ readonly id: string }]
}

async function runTests({ url, key, projects }: Service, stop: AbortSignal): Promise<ThroughService> {
  const runs = `${url}/v1/projects/${encodeURIComponent(projects[0].id)}/runs`
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
