import { realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import { messageOf } from '../../../src/text/untrusted.ts'
import { type CommandEnd, hasSucceeded } from '../machine/command.ts'
import { OverLimit, readPartOfFile, type TestedFolders } from '../machine/files.ts'
import { quote, toSentence } from '../text.ts'
import type { OnFile } from './blob-folder.ts'
import { findReports, type ReportLine } from './find-reports.ts'
import { millisecondsOf, resultOf, titleOf } from './junit-case.ts'
import { Places } from './junit-place.ts'
import { findToolLines, reasonOf } from './junit-reason.ts'
import { decodeXml, readJunitXml, type XmlElement } from './junit-xml.ts'
import { joinTitle, LIMIT_CASES, placeIn, type Report, type TestCase, toMessage } from './report.ts'
import { indexFiles, type SourceFiles } from './source-files.ts'

// Makes a report of the JUnit files that a command, an earlier step or an earlier job has written.

const LIMIT_BYTES = 64 * 1024 * 1024

export interface JunitReports {
  /** Paths and patterns, from the project's folder. */
  readonly patterns: readonly string[]
  readonly folders: TestedFolders
  /** The fingerprints of the files that were there before the command. */
  readonly old: ReadonlySet<string>
  /** How the command ended. If there is none, an earlier step or job wrote the reports, and nobody knows how it ended. */
  readonly end: CommandEnd
  /** The paths of the repository's files, each with a zero byte behind it. */
  readonly repositoryFiles: string
}

/** What is wrong with the reports, as in `Report`. `isComplete` says whether the reports have the results of all tests nevertheless. */
type Problem = Pick<Report, 'isComplete' | 'mustFail' | 'problem' | 'advice'>

/** `onFile` gets the name of each file before it is read. */
export async function readJunitReports(input: JunitReports, onFile: OnFile = () => undefined): Promise<Report> {
  const { patterns, folders, old, end, repositoryFiles } = input
  const found = await findReports(patterns, folders.folder)
  const lines = found.map((line) => toLine(line, old))
  const written = found.flatMap(({ files }) => files).filter(({ fingerprint }) => !old.has(fingerprint))
  // Two lines may name the same file.
  const paths = [...new Map(written.map(({ fingerprint, path }) => [fingerprint, path])).values()].sort()
  const hasPassed = hasSucceeded(end)
  const source = indexFiles(folders, repositoryFiles)
  const testCases: TestCase[] = []
  const problems: Problem[] = []
  for (const path of paths) {
    onFile(path)
    const report = readReport(path, folders.folder, LIMIT_CASES - testCases.length)
    const about = { path, isOneOfSeveral: paths.length > 1, hasPassed, source }
    for (const testCase of toTestCases(report.cases, about)) testCases.push(testCase)
    problems.push(...report.problems)
  }
  const ofLines = findProblem(lines, end)
  if (ofLines !== undefined) problems.push(ofLines)
  const worst = problems.find((one) => one.mustFail) ?? problems.find((one) => !one.isComplete) ?? problems[0]
  const { isComplete, mustFail, problem, advice }: Problem = worst ?? { isComplete: true }
  return {
    testCases,
    isComplete,
    mustFail,
    problem,
    advice,
    remark: hasPassed && problem === undefined ? findRemark(lines) : undefined,
    errors: hasPassed ? [] : findToolLines(end.output, testCases),
    said: [],
  }
}

function readReport(path: string, folder: string, mostCases: number) {
  const cases: XmlElement[] = []
  const problems: Problem[] = []
  const addProblem = (what: string, how: Problem) =>
    problems.push({ ...how, problem: toSentence(`The report ${quote(path)} ${what}`) })
  const onCase = (one: XmlElement) => {
    const { name, classname } = one.attributes
    if (cases.length === mostCases) throw new OverLimit(`has more than ${LIMIT_CASES} test cases`)
    // If pytest is stopped, the test that is running has neither a name nor a result.
    if (!name && !classname && one.outcomes.length === 0) return
    // If Jest cannot load a file, jest-junit lists the file twice.
    if (classname === 'Test suite failed to run' && name === cases.at(-1)?.attributes.name) return
    cases.push(one)
  }
  try {
    readJunitXml(readXml(path, folder), onCase, (what) => addProblem(what, { isComplete: true }))
  } catch (error) {
    // A report is over a limit because of what the tests wrote. So it fails the run.
    addProblem(messageOf(error), { isComplete: false, mustFail: error instanceof OverLimit })
  }
  return { cases, problems }
}

/** A line of `report`, after the command. */
interface Line extends Pick<ReportLine, 'line' | 'isName'> {
  /** `old` means that the command left all files as they were. */
  readonly state: 'no-file' | 'old' | 'written'
}

function toLine({ line, isName, files }: ReportLine, old: ReadonlySet<string>): Line {
  if (files.length === 0) return { line, isName, state: 'no-file' }
  return { line, isName, state: files.every(({ fingerprint }) => old.has(fingerprint)) ? 'old' : 'written' }
}

/**
 * What is wrong because of files that are missing, or that the command did not write. The first rule that applies decides. With a problem, a run whose
 * command exited with 0 is FAILED if `isComplete` is true, else INTERRUPTED.
 */
function findProblem(lines: readonly Line[], end: CommandEnd): Problem | undefined {
  const [withoutFile, old] = [linesThatAre('no-file', lines), linesThatAre('old', lines)]
  // Without a command, no file counts as old, and each line must have a file.
  if (end.kind === 'no-command') {
    if (withoutFile.length === 0) return undefined
    const next =
      'Look at the step or the job that should have written it: it may have been cancelled, or may have failed before.'
    return { isComplete: false, problem: noFileMatches(withoutFile), advice: next }
  }
  const isNothingWritten = withoutFile.length + old.length === lines.length
  // 1. Nothing was written, and there is an old file.
  if (isNothingWritten && old.length > 0) {
    const problem = `The command wrote no report. ${isOlder(old)}`
    return { isComplete: false, problem, advice: 'Let the command run all tests and write the report anew.' }
  }
  const advice =
    'Give "report" the path that the command writes, from the project\'s folder. If the path is right, what writes it may have failed before.'
  // 2. There is no file at all. But a command that has nothing to do, such as `nx affected`, exits with 0 and leaves patterns without a file.
  if (isNothingWritten) {
    const hadNothingToDo = hasSucceeded(end) && !lines.some(({ isName }) => isName)
    return hadNothingToDo ? undefined : { isComplete: false, problem: noFileMatches(lines), advice }
  }
  // 3. Some files were written, and a name has no file. The command has finished, so no other results come, and the report counts as complete.
  const lacking = withoutFile.filter(({ isName }) => isName)
  if (lacking.length > 0) return { isComplete: true, problem: noFileMatches(lacking), advice }
  // 4. Some files were written, and a name has an old file. A pattern without a file, or with old files, is only a remark.
  const notWritten = old.filter(({ isName }) => isName)
  if (notWritten.length === 0) return undefined
  const problem = `The command did not write ${quoteAny(notWritten)}, which is older than this run.`
  return { isComplete: true, problem, advice }
}

/** Which patterns gave no report to a run that passes. The tests of these reports may not have run. */
function findRemark(lines: readonly Line[]): string | undefined {
  const [withoutFile, old] = [linesThatAre('no-file', lines), linesThatAre('old', lines)]
  const parts = [
    ...(withoutFile.length > 0 ? [noFileMatches(withoutFile)] : []),
    ...(old.length > 0 ? [isOlder(old)] : []),
  ]
  return parts.join(' ') || undefined
}

function linesThatAre(state: Line['state'], lines: readonly Line[]): Line[] {
  return lines.filter((line) => line.state === state)
}

function noFileMatches(lines: readonly Line[]): string {
  return `No file in the project's folder matches ${quoteAny(lines)}.`
}

function isOlder(lines: readonly Line[]): string {
  return `What matches ${quoteAny(lines)} is older than this run.`
}

const quoteAny = (lines: readonly Line[]) => lines.map(({ line }) => quote(line)).join(' or ')

function readXml(path: string, folder: string): string {
  try {
    // A link may lead out of the project, as `bazel-testlogs` does.
    const file = realpathSync(resolve(folder, path))
    return decodeXml(readPartOfFile(file, 0, Number.POSITIVE_INFINITY, LIMIT_BYTES))
  } catch (error) {
    const problem = `cannot be read: ${messageOf(error)}`
    throw error instanceof OverLimit ? new OverLimit(problem) : new Error(problem)
  }
}

interface About {
  readonly path: string
  /** Several reports may have the same test, for example of several systems. */
  readonly isOneOfSeveral: boolean
  readonly hasPassed: boolean
  readonly source: SourceFiles
}

function toTestCases(cases: readonly XmlElement[], { path, isOneOfSeveral, hasPassed, source }: About): TestCase[] {
  const places = new Places(source, resolve(source.folder, path))
  const toTestCase = (found: XmlElement): TestCase => {
    const test = places.placeOf(found)
    const result = resultOf(found, hasPassed)
    const { reason, ...place } = places.failureOf(found, test, reasonOf(found, result))
    const isNamed = isOneOfSeveral && (result.status === 'FAILED' || result.status === 'FLAKY')
    const message = [reason, isNamed ? `in ${path}` : ''].filter((part) => part !== '').join('\n\n')
    return {
      title: joinTitle(titleOf(found, test.titleOfClass, source.folder)) || path,
      status: result.status,
      durationMs: millisecondsOf(found),
      message: toMessage(message) || undefined,
      ...placeIn(source, place),
    }
  }
  const tests = Map.groupBy(cases, ({ suites, file, attributes: { classname, name } }) =>
    JSON.stringify([suites, file, classname, name]),
  )
  return [...tests.values()].flatMap((attempts) => joinAttempts(attempts.map(toTestCase), hasPassed))
}

/**
 * `attempts` are the cases of one report that have the same name. A tool that runs a failed test again lists each attempt as such a
 * case, and stops after the first success. So the attempts of one test are failures, and then one success. If the command has failed,
 * all cases stay, because they may be two tests with one name.
 */
function joinAttempts(attempts: readonly TestCase[], hasPassed: boolean): readonly TestCase[] {
  const [last, lastFailed] = [attempts.at(-1), attempts.at(-2)]
  const isOnlyPass = last?.status === 'PASSED' && attempts.slice(0, -1).every(({ status }) => status === 'FAILED')
  if (!hasPassed || !isOnlyPass || lastFailed === undefined) return attempts
  return [{ ...lastFailed, status: 'FLAKY', durationMs: last.durationMs }]
}
