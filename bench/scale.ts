import { globSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { observeStep } from './measured-step.ts'
import { median, type Part, table } from './table.ts'

const SIZES = [1_000, 10_000, 100_000]
const REPETITIONS = 3
/** Four in five pass, as a bad day would have it. */
const STATUSES = ['PASSED', 'PASSED', 'PASSED', 'FAILED', 'PASSED', 'PASSED', 'SKIPPED', 'PASSED', 'PASSED', 'PASSED']

/** What a large response costs, from its arrival to the exit of the process, reports included. */
export async function scale(): Promise<Part> {
  const costs: Cost[] = []
  for (const size of SIZES) costs.push(await costOf(size))
  const largest = costs.at(-1) as Cost
  return {
    title: 'Scale',
    findings: [
      {
        what: 'Processor time of 100,000 cases',
        goal: '< 1 s',
        result: `${(largest.cpuMs / 1_000).toFixed(2)} s`,
        isReached: largest.cpuMs < 1_000,
      },
      {
        what: 'Peak memory of 100,000 cases',
        goal: '< 300 MB',
        result: megabytes(largest.peakBytes),
        isReached: largest.peakBytes < 300e6,
      },
    ],
    details: `From the last response's first byte to the exit of the process; medians of ${REPETITIONS} runs, of the memory the highest.

${table(
  ['Cases', 'Response', 'Processor time', 'Peak memory', 'Summary', 'Report files'],
  costs.map((cost) => [
    cost.size.toLocaleString('en'),
    megabytes(cost.responseBytes),
    `${cost.cpuMs.toFixed(0)} ms`,
    megabytes(cost.peakBytes),
    megabytes(cost.summaryBytes),
    megabytes(cost.fileBytes),
  ]),
)}`,
  }
}

interface Cost {
  readonly size: number
  readonly responseBytes: number
  readonly cpuMs: number
  readonly peakBytes: number
  readonly summaryBytes: number
  readonly fileBytes: number
}

async function costOf(size: number): Promise<Cost> {
  const cases = Array.from({ length: size }, (_, index) => ({
    title: `shop ${index % 97} > checkout > pays for order ${index} with a saved card`,
    status: STATUSES[index % STATUSES.length],
    durationMs: (index * 37) % 5_000,
  }))
  const costs: Cost[] = []
  for (let repetition = 0; repetition < REPETITIONS; repetition++) {
    const tempDir = mkdtempSync(join(tmpdir(), 'bench-'))
    const { ended, marks, peakBytes } = await observeStep({ script: { end: 'FAILED', cases }, tempDir })
    const files = globSync('test-run-*/*', { cwd: tempDir })
    const fileBytes = files.reduce((sum, file) => sum + statSync(join(tempDir, file)).size, 0)
    rmSync(tempDir, { recursive: true })
    const [response, exit] = marks.slice(-2)
    if (response === undefined || exit === undefined) throw new Error('The step was not observed to its end.')
    costs.push({
      size,
      responseBytes: Buffer.byteLength(JSON.stringify(cases)),
      cpuMs: exit.cpuMs - response.cpuMs,
      peakBytes,
      summaryBytes: Buffer.byteLength(ended.files.STEP_SUMMARY),
      fileBytes,
    })
  }
  return {
    ...(costs[0] as Cost),
    cpuMs: median(costs.map(({ cpuMs }) => cpuMs)),
    peakBytes: Math.max(...costs.map(({ peakBytes }) => peakBytes)),
  }
}

function megabytes(bytes: number): string {
  const megabytes = bytes / 1e6
  return `${megabytes.toFixed(megabytes < 10 ? 2 : 0)} MB`
}
