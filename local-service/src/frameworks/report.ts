import { isAbsolute, relative, sep } from 'node:path'
import { withoutTerminalSequences } from '../../../src/text/visible-text.ts'
import { createIsOwnFile, OverLimit, type TestedFolders } from '../machine/files.ts'
import {
  cutMessage,
  type Failure,
  type FileFacts,
  type Place,
  type ReportEnd,
  type ReportedTest,
  STATUSES,
  type TestCaseStatus,
} from '../reporters/report-writer.ts'
import type { Events } from './report-reader.ts'

// Makes test cases of what the service's reporters wrote.

export interface TestCase {
  readonly title: string
  readonly status: TestCaseStatus
  readonly durationMs: number
  /** Why it did not pass. A flaky test has the message of its last failed attempt. */
  readonly message?: string | undefined
  /**
   * The file of the test, or of the failure if there is no test. It starts at the root of the repository. If there is no repository,
   * it starts at the project's folder.
   */
  readonly filePath?: string | undefined
  /** The line of this file at which the test failed. */
  readonly line?: number | undefined
}

/** Whether a test case keeps its run from passing. */
export function isBad({ status }: TestCase): boolean {
  return status === 'FAILED' || status === 'TIMEDOUT' || status === 'INTERRUPTED'
}

export interface Report {
  readonly testCases: readonly TestCase[]
  /** Whether the framework said that it has finished. */
  readonly isComplete: boolean
  /** Errors that are of no test and of no file of tests, for example of a global setup. */
  readonly errors: readonly string[]
  /** The place of the first of these errors that has one. */
  readonly place?: Pick<TestCase, 'filePath' | 'line'> | undefined
  /** What the framework said about itself, without colours. */
  readonly said: readonly string[]
  /**
   * What is wrong with the report, as one or more sentences. A run with a problem never passes. If the report is complete, or if `mustFail` is
   * true, the run is FAILED. Otherwise, the exit code decides between FAILED and INTERRUPTED.
   */
  readonly problem?: string | undefined
  readonly mustFail?: boolean | undefined
  /** What to do about the problem, as sentences. */
  readonly advice?: string | undefined
  /** What the log says about the report of a run that may pass, as sentences. */
  readonly remark?: string | undefined
  /** What Playwright says about the whole run. */
  readonly status?: string | undefined
  /** Whether Vitest's coverage is switched on. */
  readonly hasCoverage?: boolean | undefined
}

/** The longest message of a test case or of a run. */
const MESSAGE_LIMIT_CHARS = 10_000

/** A text without colours, cut at the limit. */
export function toMessage(text: string): string {
  return cutMessage(withoutTerminalSequences(text).trimEnd(), MESSAGE_LIMIT_CHARS)
}

/** How many frames a message shows. The others are kept too, because `lineOf` looks for one that is in the test's file. */
export const SHOWN_FRAMES = 5

/** So many of the last lines of an output stand in a message. */
export const QUOTED_LINES = 10

/** With more test cases, a response would be larger than clients accept, whatever is left out. */
export const LIMIT_CASES = 150_000

/** Undefined if the framework reported nothing. Throws OverLimit if there are too many test cases. */
export function toReport(events: Events, folders: TestedFolders): Report | undefined {
  const { tests, filesWithoutTest, failedFiles, said, isComplete, problem, status, hasCoverage } = events
  if (!isComplete && tests.length === 0 && filesWithoutTest.length === 0) return undefined
  if (tests.length > LIMIT_CASES) throw new OverLimit(`it has more than ${LIMIT_CASES} test cases`)
  const repository = { ...folders, isOwnFile: createIsOwnFile(folders.root) }
  const errors = withoutRepeats(events.errors)
  return {
    testCases: [
      ...tests.map((test) => caseOfTest(test, repository)),
      ...filesWithoutTest.map((file) => caseOfUnfinishedFile(file, repository)),
      ...withoutRepeats(failedFiles).map((file) => caseOfFailedFile(file, repository)),
    ],
    isComplete,
    errors: errors.map((error) => describeError(error, repository)),
    place: errors.map((error) => placeIn(repository, error)).find(({ filePath }) => filePath !== undefined),
    said: said.map(withoutTerminalSequences),
    problem,
    status,
    hasCoverage,
  }
}

/** In a merge, each shard may have the same error, for example of a file that none of them can load. */
function withoutRepeats<T>(all: readonly T[]): T[] {
  return [...new Map(all.map((one) => [JSON.stringify(one), one])).values()]
}

function caseOfTest(test: ReportedTest, repository: Repository): TestCase {
  const { path, file, startedAtMs, durationMs, failure } = test
  const status = statusOf(test)
  const isFine = status === 'PASSED' || status === 'SKIPPED'
  const unfinished = status === 'INTERRUPTED' ? 'This test had not finished when the run ended.' : undefined
  // Only a test that has not finished has `startedAtMs`.
  const spentMs = Math.round(startedAtMs === undefined ? durationMs : Date.now() - startedAtMs)
  return {
    title: joinTitle([...prefixesOf(test), ...path]),
    status,
    // Tests can write any duration to the report.
    durationMs: Number.isSafeInteger(spentMs) ? Math.max(0, spentMs) : 0,
    // The reason of a skipped test is why it was skipped.
    message: status === 'PASSED' ? undefined : (failure && describeReason(failure, file, repository)) || unfinished,
    ...placeIn(repository, isFine ? { file } : { file, line: lineOf(test) }),
  }
}

/** A file that could not be loaded, or that had a failure outside its tests. Its place is that of the failure. */
function caseOfFailedFile(found: ReportEnd['files'][number], repository: Repository): TestCase {
  const { failure, file } = found
  const place = failure?.file === undefined ? { file } : { file: failure.file, line: failure.line }
  return {
    title: titleOfFile(found, repository),
    status: 'FAILED',
    durationMs: 0,
    message: (failure && describeReason(failure, place.file, repository)) || undefined,
    ...placeIn(repository, place),
  }
}

function caseOfUnfinishedFile(found: FileFacts, repository: Repository): TestCase {
  return {
    title: titleOfFile(found, repository),
    status: 'INTERRUPTED',
    durationMs: 0,
    message: 'This file had not finished when the run ended.',
    ...placeIn(repository, { file: found.file }),
  }
}

/** What a title begins with. A title depends on no other test, so it is the same in each run. */
function prefixesOf({ project, label }: FileFacts): string[] {
  return [project ? `[${project}]` : '', label ? `[${label}]` : '']
}

function titleOfFile(found: FileFacts, { folder }: Repository): string {
  return joinTitle([...prefixesOf(found), relative(folder, found.file)])
}

/**
 * The file of a test is its own file, also if a helper threw. Otherwise, its place would depend on its result, and earlier runs could
 * not be compared. So the line is that of the innermost frame in this file, else that of the test.
 */
function lineOf({ file, line, failure }: ReportedTest): number | undefined {
  const frame = failure?.frames?.find((one) => one.file === file)
  const lineOfFailure = failure?.file === file ? failure.line : undefined
  return frame?.line ?? lineOfFailure ?? line
}

/** The message ends with the frames, unless the only frame is in the file of the test case, and so says no more than its place. */
function describeReason(failure: Failure, fileOfCase: string, repository: Repository): string {
  const frames = failure.frames?.slice(0, SHOWN_FRAMES) ?? []
  const isPlace = frames.length === 1 && failure.file === fileOfCase
  const shown = isPlace ? [] : frames.flatMap((frame) => describeFrame(frame, repository) ?? [])
  return toMessage([failure.message.trimEnd(), ...shown].join('\n'))
}

/** As Node and Playwright print it, but with the path from the root. */
function describeFrame({ method, column, ...place }: Place, repository: Repository): string | undefined {
  const { filePath, line } = placeIn(repository, place)
  if (line === undefined) return undefined
  const where = `${filePath}:${line}:${column}`
  return method === undefined ? `at ${where}` : `at ${method} (${where})`
}

/** Tests can write any status to the report. */
function statusOf({ status }: ReportedTest): TestCaseStatus {
  return STATUSES.includes(status) ? status : 'FAILED'
}

export interface Repository extends TestedFolders {
  /** Whether a file below the root is of this repository, and not of a submodule. */
  isOwnFile(file: string): boolean
}

/** The path from the root. Files outside the root, and those of other repositories, have no place. */
export function placeIn(
  { root, isOwnFile }: Repository,
  { file, line }: Pick<Failure, 'file' | 'line'>,
): Pick<TestCase, 'filePath' | 'line'> {
  if (file === undefined || !isAbsolute(file)) return {}
  const parts = relative(root, file).split(sep)
  if (parts[0] === '' || parts[0] === '..' || !isOwnFile(file)) return {}
  return { filePath: parts.join('/'), line: Number.isInteger(line) && Number(line) > 0 ? line : undefined }
}

function describeError(error: ReportEnd['errors'][number], repository: Repository): string {
  const { filePath, line } = placeIn(repository, error)
  const place = filePath === undefined ? '' : `\nat ${filePath}${line === undefined ? '' : `:${line}`}`
  return toMessage([`${error.message ?? ''}${place}`, error.origin ?? ''].join('\n'))
}

export function joinTitle(path: readonly string[]): string {
  return path.filter((part) => part !== '').join(' > ')
}
