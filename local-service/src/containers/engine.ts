import { execFile } from 'node:child_process'
import type { EngineName } from '../project.ts'

/** A command-line program that runs containers, and the environment in which it is called. */
export interface ContainerEngine {
  readonly name: EngineName
  readonly env: NodeJS.ProcessEnv
  /** How long the engine may take to respond. */
  readonly responseLimitMs?: number | undefined
}

export type EngineResult =
  | { readonly kind: 'ok'; readonly output: string }
  | { readonly kind: 'failed'; readonly reason: string; readonly isSilent: boolean }

const ENGINES: readonly EngineName[] = ['docker', 'podman']
export const RESPONSE_LIMIT_MS = 20_000

type FoundEngine =
  | { readonly kind: 'found'; readonly engine: ContainerEngine; readonly reason: string }
  | { readonly kind: 'none'; readonly reason: string }

/** The wanted engine, or the first engine that works. The reason says why earlier engines do not work. */
export async function findEngine(
  wanted: EngineName | undefined,
  options: Omit<ContainerEngine, 'name'>,
): Promise<FoundEngine> {
  const reasons: string[] = []
  for (const name of wanted === undefined ? ENGINES : [wanted]) {
    const engine = { ...options, name }
    // This fails if the daemon or the storage does not work.
    const result = await callEngine(engine, ['ps', '--quiet'])
    if (result.kind === 'ok') return { kind: 'found', engine, reason: reasons.join('; ') }
    reasons.push(`${name}: ${result.reason}`)
  }
  return { kind: 'none', reason: reasons.join('; ') }
}

export function callEngine(
  { name, env, responseLimitMs = RESPONSE_LIMIT_MS }: ContainerEngine,
  args: readonly string[],
  workMs = 0,
): Promise<EngineResult> {
  return new Promise((resolve) => {
    const timeout = workMs + responseLimitMs
    execFile(name, args, { env, timeout, killSignal: 'SIGKILL' }, (error, stdout, stderr) => {
      if (error === null) return resolve({ kind: 'ok', output: stdout })
      const isSilent = error.killed === true
      // The reason becomes part of a sentence, so the punctuation at its end is removed.
      const words = (stderr.trim().split('\n').at(-1) || error.message).replace(/[.?!]+$/, '')
      const reason = isSilent ? `did not respond within ${timeout / 1000} s` : words
      resolve({ kind: 'failed', reason, isSilent })
    })
  })
}
