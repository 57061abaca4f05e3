import { styleText } from 'node:util'
import { describeEnd } from './compare.ts'
import type { TestByHand } from './results.ts'
import type { Result } from './run.ts'

const STATUSES = [
  'PASSED',
  'FLAKY',
  'FAILED',
  'TIMEDOUT',
  'INTERRUPTED',
  'PENDING',
  'SKIPPED',
] as const satisfies readonly TestByHand['status'][]
/** Both results side by side, and a sentence for each difference. */
export function describeResult({ byHand, throughService, comparison }: Result): string {
  const { differences, stricter } = comparison
  const conclusion =
    differences.length > 0
      ? ['Differences:', ...differences.map((text) => `- ${text}`)]
      : [stricter === undefined ? 'Both say the same.' : `The service is stricter, as its page says. ${stricter}`]
  const output =
    byHand.end === 0 && differences.length === 0 ? [] : ['', 'The output by hand:', byHand.output.trimEnd()]
  return [...table(summary({ byHand, throughService })), ...output, '', ...conclusion].join('\n')
}

type Row = readonly [byHand: string, throughService: string, what: string]

function summary({ byHand, throughService }: Pick<Result, 'byHand' | 'throughService'>): Row[] {
  const ofHand = byHand.report?.tests.map(({ status }) => status)
  const finished = throughService.kind === 'finished' ? throughService : undefined
  const ofService = finished?.testCases.map(({ status }) => status)
  const found = new Set<string>([...(ofHand ?? []), ...(ofService ?? [])])
  const count = (status: string, all: readonly string[] = []) => String(all.filter((one) => one === status).length)
  return [
    ['by hand', 'through the service', ''],
    [describeEnd(byHand), finished?.status ?? 'refused', 'end'],
    ...(ofHand === undefined ? [['no report', '', ''] as const] : []),
    ...STATUSES.filter((status) => found.has(status)).map(
      (status): Row => [count(status, ofHand), count(status, ofService), `tests ${status}`],
    ),
  ]
}

function table(rows: readonly Row[]): string[] {
  const widths = [0, 1].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  return rows.map((row, index) => {
    const line = row.map((text, column) => text.replaceAll(/\s+/g, ' ').padEnd(widths[column] ?? 0)).join('  ')
    return index === 0 ? styleText('bold', line.trimEnd()) : line.trimEnd()
  })
}
