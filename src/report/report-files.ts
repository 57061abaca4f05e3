import type { StepResult } from '../domain/step-result.ts'
import { ctrf } from './ctrf.ts'
import { fullSummary } from './job-summary.ts'
import { junit } from './junit.ts'
import { resultsJson } from './results-json.ts'

export interface ReportFile {
  readonly name: 'results.json' | 'junit.xml' | 'ctrf.json' | 'summary.md'
  /** The contents, made while they are read. */
  readonly chunks: () => Iterable<string>
}

/** The files for `report-dir`. There are none where the service never sent results. */
export function reportFiles(result: StepResult, options: { readonly apiKey: string }): readonly ReportFile[] {
  if (result.run?.testCases === undefined) return []
  return [
    { name: 'results.json', chunks: () => resultsJson(result, options) },
    { name: 'junit.xml', chunks: () => junit(result, options) },
    { name: 'ctrf.json', chunks: () => ctrf(result, options) },
    { name: 'summary.md', chunks: () => fullSummary(result, options) },
  ]
}
