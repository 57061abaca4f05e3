import { lstatSync, realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import { messageOf } from '../../../src/text/untrusted.ts'
import { type CommandEnd, hasSucceeded } from '../machine/command.ts'
import { isInside, readPartOfFile, type TestedFolders } from '../machine/files.ts'
import { quote } from '../text.ts'
import { findReports, stateOf } from './find-reports.ts'
import { millisecondsOf, statusOf, titleOf } from './junit-case.ts'
import { Places } from './junit-place.ts'
import { findToolLines, reasonOf } from './junit-reason.ts'
import { decodeXml, readJunitXml, type XmlCase } from './junit-xml.ts'
import { joinTitle, LIMIT_CASES, placeIn, type Report, type TestCase, toMessage } from './report.ts'
import { SourceFiles } from './source-files.ts'

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

/** `onFile` gets the name of each file before it is read. */
export async function readJunitReports(
  input: JunitReports,
  onFile: (file: string) => void = () => undefined,
): Promise<Report> {
  const { patterns, folders, old, end, repositoryFiles } = input
  const { files, patternsWithoutFile } = await findReports(patterns, folders.folder)
  const written = [...files].filter(([state]) => !old.has(state)).map(([, path]) => path)
  const hasPassed = hasSucceeded(end)
  const source = new SourceFiles(folders, repositoryFiles)
  const entries: Entry[] = []
  let unreadable: string | undefined
  let miscounted: string | undefined
  for (const path of written.sort()) {
    onFile(path)
    const report = readReport(path, folders.folder, LIMIT_CASES - entries.length)
    unreadable ??= report.unreadable
    miscounted ??= report.miscounted
    const places = new Places(source, resolve(folders.folder, path))
    const about = { hasPassed, isOneOfSeveral: written.length > 1, places, source }
    for (const one of report.cases) entries.push(toEntry(one, path, about))
  }
  const incomplete = asProblem(unreadable) ?? whyIncomplete(input, patternsWithoutFile, written.length)
  // If all could be read, the run may fail nevertheless.
  const problem = incomplete ?? asProblem(miscounted) ?? whyNotAllWritten(input, patternsWithoutFile)
  const testCases = joinAttempts(entries, hasPassed)
  return {
    testCases,
    isComplete: incomplete === undefined,
    problem: problem?.fact,
    advice: problem?.advice,
    remark: hasPassed && problem === undefined ? whatIsMissing(patternsWithoutFile) : undefined,
    errors: hasPassed ? [] : findToolLines(end.output, testCases),
    said: [],
  }
}

interface Problem {
  /** The rest of a sentence about the command. */
  readonly fact: string
  /** What to do, as sentences. */
  readonly advice?: string
}

function asProblem(fact: string | undefined): Problem | undefined {
  return fact === undefined ? undefined : { fact }
}

interface ReadReport {
  readonly cases: readonly XmlCase[]
  /** Why it could not be read, or only a part of it. */
  readonly unreadable?: string | undefined
  /** What is wrong with a suite that counts more failures than it has. */
  readonly miscounted?: string | undefined
}

function readReport(path: string, folder: string, mostCases: number): ReadReport {
  const about = (what: string | undefined) => what && `its report ${quote(path)} ${what}`
  const cases: XmlCase[] = []
  const miscounted: string[] = []
  const onCase = (one: XmlCase) => {
    if (cases.length === mostCases) throw new Error(`has more than ${LIMIT_CASES} test cases`)
    // If pytest is stopped, the test that is running has neither a name nor a result.
    if (!one.attributes.name && !one.attributes.classname && one.outcomes.length === 0) return
    cases.push(one)
  }
  try {
    readJunitXml(decodeXml(readFileOf(path, folder)), onCase, (what) => miscounted.push(what))
    return { cases, miscounted: about(miscounted[0]) }
  } catch (error) {
    return { cases, unreadable: about(messageOf(error)) }
  }
}

function isPattern(path: string): boolean {
  return /[*?[{]/.test(path)
}

function whatIsMissing(patternsWithoutFile: readonly string[]): string | undefined {
  if (patternsWithoutFile.length === 0) return undefined
  return `no file in the project's folder matches ${quoteAny(patternsWithoutFile)}`
}

const quoteAny = (patterns: readonly string[]) => patterns.map(quote).join(' or ')

function whyIncomplete(
  { patterns, end }: JunitReports,
  patternsWithoutFile: readonly string[],
  written: number,
): Problem | undefined {
  const hasNoFile = patternsWithoutFile.length === patterns.length
  // A command that has nothing to do, such as `nx affected`, writes no report.
  const hadNothingToDo = hasSucceeded(end) && patterns.every(isPattern)
  // Without an exit code, a pattern without a file may be that of a job that was cancelled.
  const needsFiles = end.kind === 'no-command' || (hasNoFile && !hadNothingToDo)
  const missing = needsFiles ? whatIsMissing(patternsWithoutFile) : undefined
  if (missing !== undefined) return { fact: missing, advice: whatToDo(end) }
  if (hasNoFile || written > 0) return undefined
  const fact = `it wrote no report: what matches ${quoteAny(patterns)} is older than this run`
  return { fact, advice: 'Let the command run all tests and write the report anew' }
}

/** A line that is no pattern names one file. */
function whyNotAllWritten(
  { patterns, folders, old, end }: JunitReports,
  patternsWithoutFile: readonly string[],
): Problem | undefined {
  const isName = (path: string) => !isPattern(path)
  const missing = patternsWithoutFile.filter(isName)
  if (missing.length > 0) return { fact: `there is no file ${missing.map(quote).join(', ')}`, advice: whatToDo(end) }
  const isOld = (path: string) => old.has(stateOf(resolve(folders.folder, path)) ?? '')
  const notWritten = patterns.filter((path) => isName(path) && isOld(path))
  if (notWritten.length === 0) return undefined
  return {
    fact: `it did not write ${notWritten.map(quote).join(', ')}, which is older than this run`,
    advice: whatToDo(end),
  }
}

/** What to do about a file that is not there. */
function whatToDo(end: CommandEnd): string {
  return end.kind === 'no-command'
    ? 'Look at the step or the job that should have written it: it may have been cancelled, or may have failed before'
    : 'Give "report" the path that the command writes, from the project\'s folder. If the path is right, what writes it may have failed before'
}

function readFileOf(path: string, folder: string): Buffer {
  try {
    const file = resolve(folder, path)
    const isLink = lstatSync(file).isSymbolicLink()
    const target = isLink ? realpathSync(file) : file
    if (isLink && !isInside(target, realpathSync(folder))) throw new Error('it is a link to a file outside the project')
    return readPartOfFile(target, 0, Number.POSITIVE_INFINITY, LIMIT_BYTES)
  } catch (error) {
    throw new Error(`cannot be read: ${messageOf(error)}`)
  }
}

type Entry = ReturnType<typeof toEntry>

interface About {
  readonly hasPassed: boolean
  /** Several reports may have the same test, for example of several systems. */
  readonly isOneOfSeveral: boolean
  readonly places: Places
  readonly source: SourceFiles
}

function toEntry(found: XmlCase, report: string, { hasPassed, isOneOfSeveral, places, source }: About) {
  const { name, classname } = found.attributes
  const test = places.testOf(found)
  const status = statusOf(found, hasPassed)
  const { reason, ...place } = places.failureOf(found, test, reasonOf(found, status))
  const whichReport = isOneOfSeveral && (status === 'FAILED' || status === 'FLAKY') ? `in ${report}` : ''
  const message = [reason, whichReport].filter((part) => part !== '').join('\n\n')
  const testCase: TestCase = {
    title: joinTitle(titleOf(found, test, source.repository.folder)) || report,
    status,
    durationMs: millisecondsOf(found),
    message: toMessage(message) || undefined,
    ...placeIn(source.repository, place),
  }
  // If Jest cannot load a file, it lists the file twice.
  const isFile = test.file !== undefined && places.resolveFile(name ?? '') === test.file
  const keyOfAttempts = JSON.stringify([report, found.suites, classname, name, test.file])
  return { testCase, keyOfAttempts, isFile }
}

/**
 * No tool runs a test again after it has passed. So attempts are failures in one report, and the one success behind them. If the
 * command has failed, two tests may have one name.
 */
function joinAttempts(entries: readonly Entry[], hasPassed: boolean): TestCase[] {
  return [...Map.groupBy(entries, ({ keyOfAttempts }) => keyOfAttempts).values()].flatMap((attempts) => {
    const testCases = attempts.map(({ testCase }) => testCase)
    const failed = testCases.filter(({ status }) => status === 'FAILED')
    const [last, lastFailed] = [testCases.at(-1), failed.at(-1)]
    if (lastFailed === undefined) return testCases
    const isLastAlone = last?.status === 'PASSED' && failed.length === testCases.length - 1
    if (hasPassed && isLastAlone) return [{ ...lastFailed, status: 'FLAKY', durationMs: last.durationMs }]
    const isOneFile = failed.length === testCases.length && attempts.every(({ isFile }) => isFile)
    return isOneFile ? failed.slice(0, 1) : testCases
  })
}
