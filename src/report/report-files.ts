import type { StepOutcome } from '../outcome/step-outcome.ts'
import { ctrf } from './ctrf.ts'
import { fullSummary } from './job-summary.ts'
import { junit } from './junit.ts'
import { resultsJson } from './results-json.ts'

export interface ReportFile {
  readonly name: 'results.json' | 'junit.xml' | 'ctrf.json' | 'summary.md'
  /** The contents, made while they are read: a million test cases never stand in memory as text. */
  readonly chunks: () => Iterable<string>
}

/** The files for `report-dir`. There are none if the service never sent results. */
export function reportFiles(outcome: StepOutcome): readonly ReportFile[] {
  if (outcome.run?.testCases === undefined) return []
  return [
    { name: 'results.json', chunks: () => joined(resultsJson(outcome)) },
    { name: 'junit.xml', chunks: () => joined(junit(outcome)) },
    { name: 'ctrf.json', chunks: () => joined(ctrf(outcome)) },
    { name: 'summary.md', chunks: () => joined(fullSummary(outcome)) },
  ]
}

const CHUNK_CHARS = 65_536

/** Joins small pieces: each chunk costs a call of the operating system. */
function* joined(pieces: Iterable<string>): Iterable<string> {
  let chunk = ''
  for (const piece of pieces) {
    chunk += piece
    if (chunk.length < CHUNK_CHARS) continue
    yield chunk
    chunk = ''
  }
  if (chunk !== '') yield chunk
}
