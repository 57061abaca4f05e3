import type { ByHand, ReportByHand, TestByHand, TestCase, ThroughService } from './results.ts'

export interface Comparison {
  /** One sentence for each difference. */
  readonly differences: readonly string[]
  /** Why the service may be stricter than the command here. Undefined if it is not. */
  readonly stricter?: string | undefined
}

/** Compares what the framework's own command said with what a run through the service said. */
export function compare(byHand: ByHand, service: ThroughService): Comparison {
  const { difference, stricter } = compareEnds(byHand, service)
  const ofEnd = difference === undefined ? [] : [difference]
  const { report } = byHand
  // Playwright runs no test if a test.only is forbidden. A reporter of the project can keep Vitest from running any.
  const isComparable = stricter !== ONLY && byHand.end === byHand.endWithReport
  const canCompare = service.kind !== 'refused' && report !== undefined && isComparable
  return { differences: [...ofEnd, ...(canCompare ? compareTests(report, service) : [])], stricter }
}

type FinishedRun = Extract<ThroughService, { kind: 'finished' }>

const ONLY = 'A test.only was forgotten.'

/** The exit code of the command decides. The exceptions are the cases in which a run is red although the command is green. */
function compareEnds(byHand: ByHand, service: ThroughService): { difference?: string; stricter?: string } {
  const passedByHand = byHand.end === 0
  const passed = service.kind === 'finished' && service.status === 'PASSED'
  if (passed === passedByHand) return {}
  const hand = `By hand, "${byHand.command}" ${describeEnd(byHand)}`
  if (service.kind === 'refused') return { difference: `${hand}, but the service refuses it: ${service.reason}` }
  if (passed) return { difference: `${hand}, but the run is PASSED.` }
  const stricter = reasonToBeStricter(byHand, service)
  if (stricter !== undefined) return { stricter }
  const message = service.message === undefined ? '' : ` Its message: ${service.message}`
  return { difference: `${hand}, but the run is ${service.status}.${message}` }
}

export function describeEnd({ end }: Pick<ByHand, 'end'>): string {
  if (typeof end === 'number') return `exits with ${end}`
  return end === 'stopped' ? 'does not end' : `is ended by ${end}`
}

function reasonToBeStricter({ report }: ByHand, { message = '', testCases }: FinishedRun): string | undefined {
  if (report === undefined) return 'The process of the framework ended before it had reported.'
  if (report.tests.some(({ status }) => status === 'FAILED'))
    return 'The framework says failed tests, and exits with 0.'
  const texts = [message, ...testCases.map((testCase) => `${(testCase as { message?: unknown }).message}`)]
  return texts.some((text) => text.includes("'--forbid-only'")) ? ONLY : undefined
}

function compareTests(report: ReportByHand, { testCases, message }: FinishedRun): string[] {
  const { onlyByHand, onlyThroughService } = withoutEqual(report, testCases)
  const { tests, failedFiles, unexplainedFiles = [] } = report
  // Some entries of a run are no tests: a file or a describe block whose hook failed. By hand, the report says only that a file failed.
  const isOfFile = ({ status }: TestCase) => status === 'FAILED' && failedFiles.length + unexplainedFiles.length > 0
  const hasEntry = onlyThroughService.some(isOfFile)
  const saidByTests = new Set(tests.filter(({ status }) => SAY_IT.has(status)).map(({ file }) => file))
  // Playwright names the file of a global setup too. The message of the run says such an error.
  const unexplained = message === undefined && !hasEntry ? failedFiles.filter((file) => !saidByTests.has(file)) : []
  return [
    ...onlyByHand.map(
      (test) => `The test "${nameOf(test)}" is ${test.status} by hand. The run has no such test with this result.`,
    ),
    ...onlyThroughService
      .filter((testCase) => !isOfFile(testCase))
      .map(({ title, status }) => `The run has the test case "${title}", which is ${status}. By hand, there is none.`),
    ...unexplained.map(
      (file) => `By hand, the file ${file} failed, but neither a test case nor the message of the run says it.`,
    ),
  ]
}

const SAY_IT: ReadonlySet<string> = new Set(['FAILED', 'TIMEDOUT', 'PENDING'])

function nameOf({ project, file, path }: TestByHand): string {
  return [project ? `[${project}]` : '', file, ...path].filter((part) => part !== '').join(' > ')
}

function isSame({ status }: TestByHand, testCase: TestCase): boolean {
  if (status === 'PENDING') return testCase.status === 'SKIPPED' || testCase.status === 'INTERRUPTED'
  return status === testCase.status
}

/** Takes away each test case, and a test with its title and its result. What is left is a difference. */
function withoutEqual({ tests }: ReportByHand, testCases: readonly TestCase[]) {
  const left = Map.groupBy(tests, ({ path }) => path.join(' > '))
  const onlyThroughService = testCases.filter((testCase) => {
    for (const title of titlesIn(testCase.title)) {
      const candidates = left.get(title) ?? []
      const index = candidates.findIndex((test) => isSame(test, testCase))
      if (index === -1) continue
      candidates.splice(index, 1)
      return false
    }
    return true
  })
  return { onlyByHand: [...left.values()].flat(), onlyThroughService }
}

/** The service puts the name of the framework project before the title. Vitest's report does not have it. */
function titlesIn(title: string): string[] {
  const withoutProject = title.replace(/^\[[^\]]*\] > /, '')
  return withoutProject === title ? [title] : [title, withoutProject]
}
