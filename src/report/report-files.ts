import type { StepOutcome } from '../outcome/step-outcome.ts'
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
export function reportFiles(result: StepOutcome): readonly ReportFile[] {
  if (result.run?.testCases === undefined) return []
  return [
    { name: 'results.json', chunks: () => resultsJson(result) },
    { name: 'junit.xml', chunks: () => junit(result) },
    { name: 'ctrf.json', chunks: () => ctrf(result) },
    { name: 'summary.md', chunks: () => fullSummary(result) },
  ]
}
