import { isAbsolute, relative, sep } from 'node:path'
import { fieldsOf, isObject } from '../../../src/text/json.ts'
import { withoutTerminalSequences } from '../../../src/text/visible-text.ts'
import { createIsOwnFile, OverLimit, type TestedFolders } from '../machine/files.ts'
import { cutMessage, SHOWN_FRAMES } from '../reporters/report-writer.ts'
import { type Events, type Fields, keyOf, stringOf } from './report-reader.ts'

// Makes test cases of what the service's reporters wrote. Tests can write to the report too, so anything may stand in it.

/** The interface leaves the statuses of a test case open. This service sends these statuses. */
export type TestCaseStatus = 'PASSED' | 'FLAKY' | 'FAILED' | 'TIMEDOUT' | 'INTERRUPTED' | 'SKIPPED'

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
   * What is wrong with the report, as the rest of a sentence about the framework. If the report is complete, this is a failure that no
   * test case has.
   */
  readonly problem?: string | undefined
  /** What to do about the problem, as sentences. */
  readonly advice?: string | undefined
  /** What the log says about the report of a run that may pass. */
  readonly remark?: string | undefined
}

/** The longest message of a test case or of a run. */
const MESSAGE_LIMIT_CHARS = 10_000

/** A text without colours, cut at the limit. */
export function toMessage(text: string): string {
  return cutMessage(withoutTerminalSequences(text).trimEnd(), MESSAGE_LIMIT_CHARS)
}

/** With more test cases, a response would be larger than clients accept, whatever is left out. */
export const LIMIT_CASES = 150_000

/** Undefined if the framework reported nothing. Throws OverLimit if there are too many test cases. */
export function toReport({ said, finished, ...unfinished }: Events, folders: TestedFolders): Report | undefined {
  // The last event alone has the results. Without it, the other events show how far the run came.
  const tests = finished === undefined ? unfinished.tests : objectsIn(finished.tests)
  const files = finished === undefined ? unfinished.files : objectsIn(finished.files).filter((file) => file.hasFailed)
  if (finished === undefined && tests.length === 0 && files.length === 0) return undefined
  if (tests.length > LIMIT_CASES) throw new OverLimit(`it has more than ${LIMIT_CASES} test cases`)
  const repository = { ...folders, isOwnFile: createIsOwnFile(folders.root) }
  // The file could not be loaded, or a hook failed. In an unfinished run, a test or a hook of the file keeps its process busy.
  const statusOfFile = finished === undefined ? 'INTERRUPTED' : 'FAILED'
  // A test of the file with the same status says the same, unless the file has a failure of its own.
  const filesOfTests = new Set(tests.filter((test) => statusOf(test) === statusOfFile).map(keyOf))
  const others = withoutRepeats(files).filter((file) => isObject(file.failure) || !filesOfTests.has(keyOf(file)))
  const testCases = [
    ...tests.map((test) => toTestCase(test, statusOf(test), repository)),
    ...others.map((file) => toTestCase(file, statusOfFile, repository)),
  ]
  const errors = withoutRepeats(objectsIn(finished?.errors))
  return {
    testCases,
    isComplete: finished !== undefined,
    errors: errors.map((error) => describeError(error, repository)),
    place: errors.map((error) => placeIn(repository, error)).find(({ filePath }) => filePath !== undefined),
    said: said.map((text) => withoutTerminalSequences(stringOf(text))),
  }
}

/** In a merge, each shard may have the same error, for example of a file that none of them can load. */
function withoutRepeats(facts: readonly Fields[]): Fields[] {
  return [...new Map(facts.map((one) => [JSON.stringify(one), one])).values()]
}

/**
 * The title has the framework project, the label of a merged report, the describe blocks and the name. It depends on no other test, so it
 * is the same in each run.
 */
function toTestCase(
  { project, label, path, state, atMs, durationMs, failure, file, line }: Fields,
  status: TestCaseStatus,
  repository: Repository,
): TestCase {
  const titles = Array.isArray(path) ? path.map(stringOf) : undefined
  const isTest = titles !== undefined
  const spent = state === 'pending' && typeof atMs === 'number' ? Date.now() - atMs : durationMs
  const needsReason = status !== 'PASSED' && status !== 'SKIPPED'
  const reason = describeReason(fieldsOf(failure), isTest ? file : undefined, repository)
  const unfinished =
    status === 'INTERRUPTED' ? `This ${isTest ? 'test' : 'file'} had not finished when the run ended.` : undefined
  const [name, system] = [stringOf(project), stringOf(label)]
  return {
    title: joinTitle([
      name && `[${name}]`,
      system && `[${system}]`,
      ...(titles ?? [relative(repository.folder, stringOf(file))]),
    ]),
    status,
    durationMs: typeof spent === 'number' && spent > 0 ? Math.round(spent) : 0,
    // The reason of a skipped test is why it was skipped.
    message: status === 'PASSED' ? undefined : reason || unfinished,
    ...placeIn(repository, needsReason ? placeOf({ failure, file, line }, isTest) : { file }),
  }
}

/**
 * The file of a test is its own file, also if a helper threw. Otherwise, its place would depend on its result, and earlier runs could
 * not be compared. Only the failure to load a file has the place of the failure.
 */
function placeOf({ failure, file, line }: Fields, isOfTest: boolean): Fields {
  const { file: failed, line: failedLine, frames } = fieldsOf(failure)
  if (!isOfTest || file === undefined) return failed === undefined ? { file, line } : { file: failed, line: failedLine }
  const inTest = [...objectsIn(frames), { file: failed, line: failedLine }].find((frame) => frame.file === file)
  return { file, line: inTest?.line ?? line }
}

/** The message ends with the frames, unless they say no more than the place. */
function describeReason({ message, ...failure }: Fields, testFile: unknown, repository: Repository): string {
  const frames = objectsIn(failure.frames).slice(0, SHOWN_FRAMES)
  const { file } = failure
  const isPlace = frames.length === 1 && (testFile === undefined || file === testFile)
  const shown = isPlace ? [] : frames.flatMap((frame) => describeFrame(frame, repository) ?? [])
  return toMessage([stringOf(message).trimEnd(), ...shown].join('\n'))
}

/** As Node and Playwright print it, but with the path from the root. */
function describeFrame({ method, column, ...place }: Fields, repository: Repository): string | undefined {
  const { filePath, line } = placeIn(repository, place)
  if (filePath === undefined || line === undefined || typeof column !== 'number') return undefined
  const where = `${filePath}:${line}:${column}`
  const name = stringOf(method)
  return name === '' ? `at ${where}` : `at ${name} (${where})`
}

/** A pending test had begun when the run ended without the framework's last event. */
const STATUSES: ReadonlyMap<unknown, TestCaseStatus> = new Map([
  ['passed', 'PASSED'],
  ['skipped', 'SKIPPED'],
  ['timedOut', 'TIMEDOUT'],
  ['pending', 'INTERRUPTED'],
  ['interrupted', 'INTERRUPTED'],
])

function statusOf({ state, isFlaky }: Fields): TestCaseStatus {
  return state === 'passed' && isFlaky === true ? 'FLAKY' : (STATUSES.get(state) ?? 'FAILED')
}

export interface Repository extends TestedFolders {
  /** Whether a file below the root is of this repository, and not of a submodule. */
  isOwnFile(file: string): boolean
}

/** The path from the root. Files outside the root, and those of other repositories, have no place. */
export function placeIn({ root, isOwnFile }: Repository, { file, line }: Fields): Pick<TestCase, 'filePath' | 'line'> {
  if (typeof file !== 'string' || !isAbsolute(file)) return {}
  const parts = relative(root, file).split(sep)
  if (parts[0] === '' || parts[0] === '..' || !isOwnFile(file)) return {}
  const hasLine = typeof line === 'number' && Number.isInteger(line) && line > 0
  return { filePath: parts.join('/'), line: hasLine ? line : undefined }
}

function describeError(error: Fields, repository: Repository): string {
  const { filePath, line } = placeIn(repository, error)
  const place = filePath === undefined ? '' : `\nat ${filePath}${line === undefined ? '' : `:${line}`}`
  return toMessage([`${stringOf(error.message)}${place}`, stringOf(error.origin)].join('\n'))
}

export function joinTitle(path: readonly string[]): string {
  return path.filter((part) => part !== '').join(' > ')
}

/** The objects in what should be a list. */
function objectsIn(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}
