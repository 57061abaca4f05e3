import { describeEnd } from './compare.ts'
import type { Result } from './run.ts'

/** Both results, and a sentence for each difference. */
export function describeResult({ byHand, throughService, comparison }: Result): string {
  const { differences, stricter } = comparison
  const conclusion =
    differences.length > 0
      ? ['Differences:', ...differences.map((text) => `- ${text}`)]
      : [stricter === undefined ? 'Both say the same.' : `The service is stricter, as its page says. ${stricter}`]
  const output =
    byHand.end === 0 && differences.length === 0 ? [] : ['', 'The output by hand:', byHand.output.trimEnd()]
  const { report } = byHand
  const ofHand = [describeEnd(byHand), ...(report === undefined ? ['no report'] : countsOf(report.tests))]
  const ofService =
    throughService.kind === 'refused' ? ['refused'] : [throughService.status, ...countsOf(throughService.testCases)]
  const results = [`by hand: ${ofHand.join(', ')}`, `through the service: ${ofService.join(', ')}`]
  return [...results, ...output, '', ...conclusion].join('\n')
}

/** Such as `3 PASSED`. */
function countsOf(tests: readonly { readonly status: string }[]): string[] {
  const byStatus = Map.groupBy(tests, ({ status }) => status)
  return [...byStatus].map(([status, all]) => `${all.length} ${status}`).sort()
}
