import { lstatSync, realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import { messageOf } from '../../../src/text/untrusted.ts'
import { type CommandEnd, hasSucceeded } from '../machine/command.ts'
import { isInside, readPartOfFile, type TestedFolders } from '../machine/files.ts'
import { quote } from '../text.ts'
import { findReports, isName, stateOf } from './find-reports.ts'
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
export async function readJunitReports(
  input: JunitReports,
  onFile: (file: string) => void = () => undefined,
): Promise<Report> {
  const { patterns, folders, old, end, repositoryFiles } = input
  const { files, patternsWithoutFile } = await findReports(patterns, folders.folder)
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
  problems.push(...findProblems(input, patternsWithoutFile, written.length))
  const { isComplete, problem, advice } = problems.find((one) => !one.isComplete) ?? problems[0] ?? { isComplete: true }
  const isRemark = hasPassed && problem === undefined && patternsWithoutFile.length > 0
  return {
    testCases,
    isComplete,
    problem,
    advice,
    remark: isRemark ? noFileMatches(patternsWithoutFile) : undefined,
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
    if (cases.length === mostCases) throw new Error(`has more than ${LIMIT_CASES} test cases`)
    // If pytest is stopped, the test that is running has neither a name nor a result.
    if (!one.attributes.name && !one.attributes.classname && one.outcomes.length === 0) return
    cases.push(one)
  }
  try {
    readJunitXml(readXml(path, folder), onCase, (what) => addProblem(what, true))
  } catch (error) {
    addProblem(messageOf(error), false)
  }
  return { cases, problems }
}

/** What is wrong with files that are missing, or that the command did not write. */
function findProblems(
  { patterns, folders, old, end }: JunitReports,
  patternsWithoutFile: readonly string[],
  written: number,
): Problem[] {
  const advice =
    end.kind === 'no-command'
      ? 'Look at the step or the job that should have written it: it may have been cancelled, or may have failed before'
      : 'Give "report" the path that the command writes, from the project\'s folder. If the path is right, what writes it may have failed before'
  const names = patterns.filter((pattern) => isName(pattern, folders.folder))
  const hasNoFile = patternsWithoutFile.length === patterns.length
  // A command that has nothing to do, such as `nx affected`, writes no report.
  const hadNothingToDo = hasSucceeded(end) && names.length === 0
  // Without an exit code, a pattern without a file may be that of a job that was cancelled.
  const mayLackTests = end.kind === 'no-command' ? patternsWithoutFile.length > 0 : hasNoFile && !hadNothingToDo
  if (mayLackTests) return [{ isComplete: false, problem: noFileMatches(patternsWithoutFile), advice }]
  if (written === 0 && !hasNoFile) {
    const problem = `it wrote no report: what matches ${quoteAny(patterns)} is older than this run`
    return [{ isComplete: false, problem, advice: 'Let the command run all tests and write the report anew' }]
  }
  const missing = names.filter((name) => patternsWithoutFile.includes(name))
  if (missing.length > 0) return [{ isComplete: true, problem: noFileMatches(missing), advice }]
  const notWritten = names.filter((name) => old.has(stateOf(resolve(folders.folder, name)) ?? ''))
  if (notWritten.length === 0) return []
  return [
    { isComplete: true, problem: `it did not write ${quoteAny(notWritten)}, which is older than this run`, advice },
  ]
}

function noFileMatches(patterns: readonly string[]): string {
  return `no file in the project's folder matches ${quoteAny(patterns)}`
}

const quoteAny = (patterns: readonly string[]) => patterns.map(quote).join(' or ')

function readXml(path: string, folder: string): string {
  try {
    const file = resolve(folder, path)
    const isLink = lstatSync(file).isSymbolicLink()
    const target = isLink ? realpathSync(file) : file
    if (isLink && !isInside(target, realpathSync(folder))) throw new Error('it is a link to a file outside the project')
    return decodeXml(readPartOfFile(target, 0, Number.POSITIVE_INFINITY, LIMIT_BYTES))
  } catch (error) {
    throw new Error(`cannot be read: ${messageOf(error)}`)
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
  const attempts = cases.map((found) => {
    const { name = '', classname } = found.attributes
    const test = places.testOf(found)
    const result = resultOf(found, hasPassed)
    const { status } = result
    const { reason, ...place } = places.failureOf(found, test, reasonOf(found, result))
    const whichReport = isOneOfSeveral && (status === 'FAILED' || status === 'FLAKY') ? `in ${path}` : ''
    const message = [reason, whichReport].filter((part) => part !== '').join('\n\n')
    const testCase: TestCase = {
      title: joinTitle(titleOf(found, test.rest, source.folder)) || path,
      status,
      durationMs: millisecondsOf(found),
      message: toMessage(message) || undefined,
      ...placeIn(source, place),
    }
    // If Jest cannot load a file, it lists the file twice.
    const isFile = test.file !== undefined && places.resolveFile(name) === test.file
    return { testCase, test: JSON.stringify([found.suites, classname, name, test.file]), isFile }
  })
  return [...Map.groupBy(attempts, ({ test }) => test).values()].flatMap((ofTest) => joinAttempts(ofTest, hasPassed))
}

/**
 * No tool runs a test again after it has passed. So attempts are failures in one report, and the one success behind them. If the
 * command has failed, two tests may have one name.
 */
function joinAttempts(
  attempts: readonly { readonly testCase: TestCase; readonly isFile: boolean }[],
  hasPassed: boolean,
) {
  const testCases = attempts.map(({ testCase }) => testCase)
  const failed = testCases.filter(({ status }) => status === 'FAILED')
  const [last, lastFailed] = [testCases.at(-1), failed.at(-1)]
  const isLastAlone = last?.status === 'PASSED' && failed.length === testCases.length - 1
  if (hasPassed && isLastAlone && lastFailed !== undefined)
    return [{ ...lastFailed, status: 'FLAKY' as const, durationMs: last.durationMs }]
  const isOneFile = failed.length === testCases.length && attempts.every(({ isFile }) => isFile)
  return isOneFile ? failed.slice(0, 1) : testCases
}
