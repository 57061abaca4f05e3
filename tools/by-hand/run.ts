import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runByHand } from './by-hand.ts'
import { type Comparison, compare } from './compare.ts'
import type { ByHand, Subject, ThroughService } from './results.ts'
import { runThroughService } from './through-service.ts'

export interface Result {
  readonly byHand: ByHand
  readonly throughService: ThroughService
  readonly comparison: Comparison
}

export const temporaryFolder = () => mkdtempDisposable(join(tmpdir(), 'by-hand-'))

/** Runs a project by hand and through the service, one after the other, and compares the results. */
export async function runBoth({ env, ...given }: Subject, stop: AbortSignal): Promise<Result> {
  await using temporary = await temporaryFolder()
  const subject = { ...given, env: { ...env, CI: 'true' } }
  const limits = subject.limitMs === undefined ? [] : [AbortSignal.timeout(subject.limitMs)]
  const byHand = await runByHand(subject, temporary.path, AbortSignal.any([stop, ...limits]))
  stop.throwIfAborted()
  const throughService = await runThroughService(subject, temporary.path, stop)
  return { byHand, throughService, comparison: compare(byHand, throughService) }
}
