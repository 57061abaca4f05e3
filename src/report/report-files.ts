import type { StepResult } from '../domain/step-result.ts'
import { ctrf } from './ctrf.ts'
import { fullSummary } from './job-summary.ts'
import { junit } from './junit.ts'
import { resultsJson } from './results-json.ts'
import { withoutKey } from './without-key.ts'

export interface ReportFile {
  readonly name: 'results.json' | 'junit.xml' | 'ctrf.json' | 'summary.md'
  /** The contents, made while they are read. */
  readonly chunks: () => Iterable<string>
}

/** The files for `report-dir`. There are none where the service never sent results. */
export function reportFiles(result: StepResult, { apiKey }: { readonly apiKey: string }): readonly ReportFile[] {
  if (result.run?.testCases === undefined) return []
  // Looked for once: what the files tell has no key in it any more, only what the service sent still has.
  const told = withoutKey(result, apiKey)
  const noKey = { apiKey: '' }
  return [
    { name: 'results.json', chunks: () => resultsJson(told, { apiKey }) },
    { name: 'junit.xml', chunks: () => junit(told, noKey) },
    { name: 'ctrf.json', chunks: () => ctrf(told, noKey) },
    { name: 'summary.md', chunks: () => fullSummary(told, noKey) },
  ]
}
