import {
  type Failure,
  framesIn,
  type Place,
  type ReportEnd,
  type ReportWriter,
  type ResultFacts,
  type TestCaseStatus,
  type Thrown,
} from './report-writer.ts'

// What Jest's own results say, as the service's report has it. The types have what is read of them. Jest 29 and newer have it.

export interface JestTest {
  readonly path: string
  readonly context: { readonly config: { readonly displayName?: JestFile['displayName'] } }
}

export interface JestCase {
  readonly ancestorTitles: readonly string[]
  readonly title: string
  readonly status: string
  readonly duration?: number | null
  /** The stack of each error, as text. */
  readonly failureMessages: readonly string[]
  /** What was thrown. A worker process sends an error without its class. */
  readonly failureDetails?: readonly unknown[]
  readonly invocations?: number
  readonly location?: { readonly line: number } | null
  /** Only if the project asks for them with `logErrorsBeforeRetry`. */
  readonly retryReasons?: readonly string[]
}

export interface JestFile {
  readonly testFilePath: string
  readonly displayName?: { readonly name: string } | undefined
  readonly testResults: readonly JestCase[]
  /** Why the file could not be loaded, or what failed in it outside the tests. */
  readonly testExecError?: Thrown | null
}

export interface JestResults {
  readonly testResults: readonly JestFile[]
  readonly snapshot: {
    /** Whether obsolete snapshots make Jest exit with an error code. */
    readonly failure: boolean
    readonly unchecked: number
    readonly filesRemoved: number
    readonly uncheckedKeysByFile: readonly { readonly filePath: string; readonly keys: readonly string[] }[]
  }
}

/** `failedAttempts` has the last failed attempt of each test, by its key. Jest's results have only the final attempt, which may have passed. */
export function describeResults(
  results: JestResults,
  report: ReportWriter,
  failedAttempts: ReadonlyMap<string, JestCase> = new Map(),
): ReportEnd {
  const ordered = [...results.testResults].sort(
    (a, b) => Number(a.testFilePath > b.testFilePath) - Number(a.testFilePath < b.testFilePath),
  )
  const { snapshot } = results
  return {
    files: ordered.flatMap((file) => {
      if (!file.testExecError) return []
      const failure = report.describeFailure([errorOfFile(file.testExecError)], placesOf)
      return { ...describeFile(file), failure }
    }),
    tests: ordered.flatMap((file) =>
      file.testResults.map((test) => {
        return { ...describeTest(file, test), ...describeCase(test, report, failedAttempts.get(keyOfTest(file, test))) }
      }),
    ),
    errors: snapshot.failure ? [{ message: describeObsolete(snapshot) }] : [],
  }
}

export type FileOfProject = Pick<JestFile, 'displayName' | 'testFilePath'>

export type Titles = Pick<JestCase, 'ancestorTitles' | 'title'>

/** What tells a test from the others of its project. The project is not in it, because Jest's events of a test do not have it. */
export function keyOfTest({ testFilePath }: FileOfProject, { ancestorTitles, title }: Titles): string {
  return JSON.stringify([testFilePath, ...ancestorTitles, title])
}

export function describeFile({ displayName, testFilePath }: FileOfProject) {
  return { project: displayName?.name ?? '', file: testFilePath }
}

export function describeTest(file: FileOfProject, test: Titles & Pick<JestCase, 'location'>) {
  const about = describeFile(file)
  const path = [...test.ancestorTitles, test.title]
  return { ...about, id: `${about.project} ${keyOfTest(file, test)}`, path, line: test.location?.line }
}

export function describeCase(test: JestCase, report: ReportWriter, failedAttempt?: JestCase): ResultFacts {
  const { duration, retryReasons = [] } = test
  const status = statusOf(test)
  const logged = { failureMessages: retryReasons.slice(-1), failureDetails: [] }
  const failure = describeFailure(status === 'FLAKY' ? (failedAttempt ?? logged) : test, report)
  return { status, durationMs: duration ?? 0, failure }
}

function statusOf({ status, invocations = 1 }: JestCase): TestCaseStatus {
  if (status === 'failed') return 'FAILED'
  if (status === 'passed') return invocations > 1 ? 'FLAKY' : 'PASSED'
  return 'SKIPPED'
}

function describeFailure(
  { failureMessages, failureDetails = [] }: Pick<JestCase, 'failureMessages' | 'failureDetails'>,
  report: ReportWriter,
): Failure | undefined {
  return report.describeFailure(
    failureMessages.map((stack, index) => errorOfTest(stack, failureDetails[index])),
    placesOf,
  )
}

/**
 * Jest 30 writes the causes and the errors of an error into its text, with an empty line before each:
 *
 *     Error: top
 *
 *     [cause]: Error: deep
 *
 *     [errors]: Error: one
 *
 * The text does not say which error a part belongs to. So each part is attached to the one before it, as its cause or its errors, here without
 * the stacks: `{ message: 'top', cause: { message: 'deep', errors: [{ message: 'one' }] } }`. A report shows an error before its errors and its
 * cause, so it has the parts in the order of the text.
 */
function errorOfTest(text: string, thrown: unknown): Thrown {
  const [stack = '', ...parts] = text.split(/\n\n(?=\[(?:cause|errors)\]: )/)
  const { cause, errors } = Object(thrown)
  // Jest 29 writes no parts. There, only `thrown` has the causes and the errors, and a worker process loses them.
  let attached: Attached = parts.length === 0 ? { cause, errors } : {}
  // From the last part to the first, because each is attached to the one before it.
  for (const part of parts.reverse()) {
    const [, kind, stackOfPart = ''] = /^\[(cause|errors)\]: (.*)/s.exec(part) ?? []
    const error = { message: messageIn(stackOfPart), stack: stackOfPart, ...attached }
    attached = kind === 'cause' ? { cause: error } : { errors: [error] }
  }
  return joinErrorOfThrownValue({ message: messageIn(stack), stack, ...attached })
}

type Attached = Pick<Thrown, 'cause' | 'errors'>

/**
 * For `throw 'x'`, Jest makes two errors with the message x, one as the cause of the other. This returns one error with both stacks, because only
 * one of them has frames.
 */
function joinErrorOfThrownValue(error: Thrown): Thrown {
  const cause: Thrown = Object(error.cause)
  return cause.message === error.message ? { ...cause, stack: `${error.stack}\n${cause.stack}` } : error
}

/** What Jest printed before any test began. Its errors about the configuration have a headline: `● Validation Error:`. */
export function describePrinted(text: string, report: ReportWriter): Failure | undefined {
  const message = messageIn(text).replace(/^\s*● (.*:)\s*/, '$1 ')
  return report.describeFailure([{ message, stack: text }], placesOf)
}

/**
 * The stack may begin with advice about syntax that Jest does not know. The message has the error itself. As in Jest's own output, a plain `Error: `
 * is left out (separateMessageFromStack in jest-message-util).
 */
function errorOfFile({ name, message, stack, cause, errors }: Thrown): Thrown {
  return { name: name === 'Error' ? '' : name, message: message || messageIn(String(stack)), stack, cause, errors }
}

/** What is above the first frame, also without `Error: `. */
function messageIn(stack: string): string {
  const lines = stack.split('\n')
  const frame = lines.findIndex((line) => /^\s+at /.test(line))
  return lines
    .slice(0, frame === -1 ? undefined : frame)
    .join('\n')
    .replace(/^Error: /, '')
    .trimEnd()
}

/** Babel names the place in its message: `/shop/cart.test.js: Unexpected token (3:1)`. */
const PLACE_OF_PARSER = /^(\/.*): .*\((\d+):\d+\)$/m

function placesOf({ message, stack }: Thrown): Place[] {
  const [, file, line] = PLACE_OF_PARSER.exec(String(message)) ?? []
  return [...(file === undefined ? [] : [{ file, line: Number(line) }]), ...framesIn(stack)]
}

/** Says it in Jest's own words. */
function describeObsolete({ unchecked, filesRemoved, uncheckedKeysByFile }: JestResults['snapshot']): string {
  const count = (number: number, noun: string) =>
    number === 0 ? [] : [`${number} ${noun}${number === 1 ? '' : 's'} obsolete`]
  const names = uncheckedKeysByFile.flatMap(({ keys }) => keys)
  const listed = names.length === 0 ? '' : `: ${names.join(', ')}`
  return `${[...count(unchecked, 'snapshot'), ...count(filesRemoved, 'snapshot file')].join(', ')}${listed}`
}
