import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type RunByHand, runByHand } from './by-hand.ts'
import { type Comparison, compare } from './compare.ts'
import type { ByHand, ThroughService } from './results.ts'
import { runThroughService } from './through-service.ts'

export interface RunOfBoth extends Omit<RunByHand, 'temporaryFolder'> {
  /** How long the tests may take by hand, and through the service. If it is absent, the limits are those of both. */
  readonly limitMs?: number
}

export interface Result {
  readonly byHand: ByHand
  readonly throughService: ThroughService
  readonly comparison: Comparison
}

/** Runs a project by hand and through the service, one after the other, and compares the results. */
export function runBoth({ env, ...run }: RunOfBoth, stop: AbortSignal): Promise<Result> {
  return withTemporaryFolder(async (temporaryFolder) => {
    const both = { ...run, env: { ...env, CI: 'true' }, temporaryFolder }
    const limits = run.limitMs === undefined ? [] : [AbortSignal.timeout(run.limitMs)]
    const byHand = await runByHand(both, AbortSignal.any([stop, ...limits]))
    stop.throwIfAborted()
    const throughService = await runThroughService({ ...both, folder: await run.folder() }, stop)
    return { byHand, throughService, comparison: compare(byHand, throughService) }
  })
}

export async function withTemporaryFolder<Result>(use: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'by-hand-'))
  try {
    return await use(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  }
}
