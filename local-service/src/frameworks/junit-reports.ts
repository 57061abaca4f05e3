import { realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import { messageOf } from '../../../src/text/untrusted.ts'
import { type CommandEnd, hasSucceeded } from '../machine/command.ts'
import { isInside, OverLimit, readPartOfFile, type TestedFolders } from '../machine/files.ts'
import { quote } from '../text.ts'
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
  /** The states of the files that were there before the command. */
  readonly old: ReadonlySet<string>
  /** Without a command, nobody knows how the command ended that has written the reports. */
  readonly end: CommandEnd
  /** The paths of the repository's files, each with a zero byte behind it. */
  readonly repositoryFiles: string
}

/** As in a report of the run. It is complete if the files say all about the tests. */
type Problem = Pick<Report, 'isComplete' | 'problem' | 'advice'>

/** `onFile` gets the name of each file before it is read. */
export async function readJunitReports(input: JunitReports, onFile: OnFile = () => undefined): Promise<Report> {
  const { patterns, folders, old, end, repositoryFiles } = input
  const lines = await findReports(patterns, folders.folder)
  const files = new Map(lines.flatMap((line) => [...line.files]))
  const written = [...files].filter(([state]) => !old.has(state)).map(([, path]) => path)
  const hasPassed = hasSucceeded(end)
  const source = indexFiles(folders, repositoryFiles)
  const testCases: TestCase[] = []
  const problems: Problem[] = []
  for (const path of written.sort()) {
    onFile(path)
    const report = readReport(path, folders.folder, LIMIT_CASES - testCases.length)
    const about = { path, isOneOfSeveral: written.length > 1, hasPassed, source }
    for (const testCase of toTestCases(report.cases, about)) testCases.push(testCase)
    problems.push(...report.problems)
  }
  problems.push(...findProblems(lines, input))
  const { isComplete, problem, advice } = problems.find((one) => !one.isComplete) ?? problems[0] ?? { isComplete: true }
  return {
    testCases,
    isComplete,
    problem,
    advice,
    remark: hasPassed && problem === undefined ? findRemark(lines, old) : undefined,
    errors: hasPassed ? [] : findToolLines(end.output, testCases),
    said: [],
  }
}

function readReport(path: string, folder: string, mostCases: number) {
  const cases: XmlElement[] = []
  const problems: Problem[] = []
  const addProblem = (what: string, isComplete: boolean) =>
    problems.push({ isComplete, problem: `its report ${quote(path)} ${what}` })
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
    readJunitXml(readXml(path, folder), onCase, (what) => addProblem(what, true))
  } catch (error) {
    // A report that is too large says that its tests have ended.
    addProblem(messageOf(error), error instanceof OverLimit)
  }
  return { cases, problems }
}

/** What is wrong with files that are missing, or that the command did not write. */
function findProblems(lines: readonly ReportLine[], { old, end }: JunitReports): Problem[] {
  const isOld = (line: ReportLine) => hasOldFiles(line, old)
  const missing = lines.filter(hasNoFile)
  const hasNoReport = missing.length === lines.length
  if (!hasNoReport && lines.every((line) => hasNoFile(line) || isOld(line))) {
    const problem = `it wrote no report: ${isOlder(lines)}`
    return [{ isComplete: false, problem, advice: 'Let the command run all tests and write the report anew' }]
  }
  const advice =
    end.kind === 'no-command'
      ? 'Look at the step or the job that should have written it: it may have been cancelled, or may have failed before'
      : 'Give "report" the path that the command writes, from the project\'s folder. If the path is right, what writes it may have failed before'
  // Without an exit code, a pattern without a file may be that of a job that was cancelled.
  const isNeeded = ({ isName }: ReportLine) => isName || end.kind === 'no-command'
  // A command that has nothing to do, such as `nx affected`, writes no report.
  const hadNothingToDo = hasSucceeded(end) && !lines.some(isNeeded)
  const lacking = hasNoReport && !hadNothingToDo ? missing : missing.filter(isNeeded)
  if (lacking.length > 0) {
    const isComplete = !hasNoReport && end.kind !== 'no-command'
    return [{ isComplete, problem: noFileMatches(lacking), advice }]
  }
  const notWritten = lines.filter((line) => line.isName && isOld(line))
  if (notWritten.length === 0) return []
  const problem = `it did not write ${quoteAny(notWritten)}, which is older than this run`
  return [{ isComplete: true, problem, advice }]
}

/** Which patterns gave no report to a run that passes. The tests of these reports may not have run. */
function findRemark(lines: readonly ReportLine[], old: ReadonlySet<string>): string | undefined {
  const missing = lines.filter(hasNoFile)
  const notWritten = lines.filter((line) => hasOldFiles(line, old))
  const parts = [
    ...(missing.length > 0 ? [noFileMatches(missing)] : []),
    ...(notWritten.length > 0 ? [isOlder(notWritten)] : []),
  ]
  return parts.join(', and ') || undefined
}

const hasNoFile = ({ files }: ReportLine) => files.size === 0

function hasOldFiles({ files }: ReportLine, old: ReadonlySet<string>): boolean {
  return files.size > 0 && [...files.keys()].every((state) => old.has(state))
}

function isOlder(lines: readonly ReportLine[]): string {
  return `what matches ${quoteAny(lines)} is older than this run`
}

function noFileMatches(lines: readonly ReportLine[]): string {
  return `no file in the project's folder matches ${quoteAny(lines)}`
}

const quoteAny = (lines: readonly ReportLine[]) => lines.map(({ line }) => quote(line)).join(' or ')

function readXml(path: string, folder: string): string {
  try {
    const file = resolve(folder, path)
    const target = realpathSync(file)
    if (target !== file && !isInside(target, realpathSync(folder)))
      throw new Error('it is a link to a file outside the project')
    return decodeXml(readPartOfFile(target, 0, Number.POSITIVE_INFINITY, LIMIT_BYTES))
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
    const test = places.testOf(found)
    const result = resultOf(found, hasPassed)
    const { reason, ...place } = places.failureOf(found, test, reasonOf(found, result))
    const isNamed = isOneOfSeveral && (result.status === 'FAILED' || result.status === 'FLAKY')
    const message = [reason, isNamed ? `in ${path}` : ''].filter((part) => part !== '').join('\n\n')
    return {
      title: joinTitle(titleOf(found, test.rest, source.folder)) || path,
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
 * No tool runs a test again after it has passed. So attempts are failures in one report, and the one success behind them. If the
 * command has failed, two tests may have one name.
 */
function joinAttempts(attempts: readonly TestCase[], hasPassed: boolean): readonly TestCase[] {
  const [last, lastFailed] = [attempts.at(-1), attempts.at(-2)]
  const isOnlyPass = last?.status === 'PASSED' && attempts.slice(0, -1).every(({ status }) => status === 'FAILED')
  if (!hasPassed || !isOnlyPass || lastFailed === undefined) return attempts
  return [{ ...lastFailed, status: 'FLAKY', durationMs: last.durationMs }]
}
