import type { StepOutcome } from '../outcome/step-outcome.ts'
import { inertJson, render } from '../text/safe-text.ts'
import { ctrf } from './ctrf.ts'
import { fullSummary } from './job-summary.ts'
import { junit } from './junit.ts'

export interface ReportFile {
  readonly name: 'results.json' | 'junit.xml' | 'ctrf.json' | 'summary.md'
  /** Made when it is written, so that only one stands in memory at a time. */
  readonly text: () => string | Buffer
}

/** The files for `report-dir`. There are none if the service never sent results. */
export function reportFiles(outcome: StepOutcome): readonly ReportFile[] {
  const { run } = outcome
  if (run?.testCases === undefined) return []
  return [
    { name: 'results.json', text: () => render(inertJson(run.responseText)) },
    { name: 'junit.xml', text: () => junit(outcome) },
    { name: 'ctrf.json', text: () => ctrf(outcome) },
    { name: 'summary.md', text: () => fullSummary(outcome) },
  ]
}
