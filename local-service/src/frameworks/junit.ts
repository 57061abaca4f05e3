import { lstatSync, statSync } from 'node:fs'
import { glob } from 'node:fs/promises'
import { basename, isAbsolute, relative, resolve } from 'node:path'
import { isInside } from '../../../src/text/path.ts'
import { messageOf } from '../../../src/text/untrusted.ts'
import { readRegularFile } from '../machine/files.ts'
import { quote, quoteCommand } from '../text.ts'
import type { Framework, FrameworkSettings } from './framework.ts'
import { readJunitXml, type XmlCase, type XmlOutcome } from './junit-xml.ts'
import { fitMessages, joinTitle, LIMIT_CASES, placeIn, type Report, type TestedFolders, toMessage } from './report.ts'
import type { TestCase, TestCaseStatus } from './test-case.ts'

// Every test tool that writes JUnit files: the project's own command runs it.

const LIMIT_BYTES = 64 * 1024 * 1024
const LIMIT_FILES = 10_000

/** What `report` names, and the state of each file. A file with another state was written since. */
async function findReports(pattern: string, folder: string): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  const exclude = (path: string) => ['node_modules', '.git'].includes(basename(path))
  for await (const path of glob(pattern, { cwd: folder, exclude })) {
    const file = lstatSync(resolve(folder, path), { bigint: true, throwIfNoEntry: false })
    if (file === undefined || file.isDirectory()) continue
    found.set(path, [file.ino, file.size, file.mtimeNs, file.ctimeNs].join())
    if (found.size > LIMIT_FILES) break
  }
  return found
}

async function readReports(pattern: string, folders: TestedFolders, old: ReadonlyMap<string, string>): Promise<Report> {
  const found = await findReports(pattern, folders.folder)
  const written = [...found.keys()].filter((path) => found.get(path) !== old.get(path)).sort()
  const cases: TestCase[] = []
  const resolveFile = createFileResolver(folders)
  const problems: string[] = []
  let readBytes = 0
  if (found.size > LIMIT_FILES) problems.push(`more than ${LIMIT_FILES} files match the report ${quote(pattern)}`)
  for (const path of problems.length > 0 ? [] : written) {
    try {
      const xml = readReport(resolve(folders.folder, path))
      readBytes += Buffer.byteLength(xml)
      if (readBytes > LIMIT_BYTES) throw new Error(`makes the reports larger than ${LIMIT_BYTES / 2 ** 20} MiB`)
      await readJunitXml(xml, (one) => {
        if (cases.length === LIMIT_CASES) throw new Error(`has more than ${LIMIT_CASES} test cases`)
        // If pytest is stopped, the test that is running has neither a name nor a result.
        if (one.name === '' && one.outcomes.length === 0) return
        cases.push(toTestCase(one, folders, resolveFile))
      })
    } catch (error) {
      problems.push(`its report ${quote(path)} ${messageOf(error)}`)
    }
  }
  if (written.length === 0) problems.push(whyNone(pattern, found.size))
  const isComplete = problems.length === 0
  return { testCases: fitMessages(cases), isComplete, problem: problems[0], errors: [] }
}

function readReport(file: string): string {
  try {
    return readRegularFile(file, { limitBytes: LIMIT_BYTES })
  } catch (error) {
    throw new Error(`cannot be read: ${messageOf(error)}`)
  }
}

function whyNone(pattern: string, oldCount: number): string {
  if (oldCount === 0) return `it wrote no report: no file in the project's folder matches ${quote(pattern)}`
  return `it wrote no report: what matches ${quote(pattern)} is older than this run`
}

const STATUS_OF_TAG: Readonly<Record<string, TestCaseStatus>> = {
  failure: 'FAILED',
  error: 'FAILED',
  rerunFailure: 'FAILED',
  rerunError: 'FAILED',
  skipped: 'SKIPPED',
  flakyFailure: 'FLAKY',
  flakyError: 'FLAKY',
}
const BY_WEIGHT: readonly TestCaseStatus[] = ['FAILED', 'SKIPPED', 'FLAKY']

function toTestCase(found: XmlCase, folders: TestedFolders, resolveFile: FileResolver): TestCase {
  const { outcomes } = found
  const statuses = outcomes.map(({ tag }) => STATUS_OF_TAG[tag])
  // Node lists the failure of a test that is still to do, and does not count it.
  const isToDo = outcomes.some(({ tag, type }) => tag === 'skipped' && type === 'todo')
  const status = isToDo ? 'SKIPPED' : (BY_WEIGHT.find((one) => statuses.includes(one)) ?? 'PASSED')
  const file = resolveFile(found.file)
  const fromFolder = file === undefined ? '' : relative(folders.folder, file)
  const text = status === 'PASSED' || status === 'SKIPPED' ? '' : describe(outcomes, status)
  const milliseconds = Math.round(Number(found.time.replaceAll(',', '')) * 1000)
  return {
    // Node's name of an error outside the tests is the whole path of the file.
    title: joinTitle(pathOf({ ...found, name: found.name === file ? fromFolder : found.name.trim() }, fromFolder)),
    status,
    durationMs: milliseconds > 0 && Number.isSafeInteger(milliseconds) ? milliseconds : 0,
    ...(text === '' ? {} : { message: toMessage(text) }),
    ...placeIn(folders.root, findPlace(text, resolveFile) ?? { file, line: Number(found.line) }),
  }
}

/** The parts of the title. */
function pathOf({ name, classname, suites }: XmlCase, file: string): readonly string[] {
  const own = withoutFile(classname?.trim() ?? '', file)
  // Jest and Mocha put the names of the blocks before the name of the test, in one attribute or in both.
  const [short, long] = [own, name].toSorted((a, b) => a.length - b.length) as [string, string]
  if (own !== '' && (long === short || long.endsWith(` ${short}`))) return [long]
  // Node has "test" as the class of tests, and newer versions have the names of the suites, joined by dots.
  const isOfSuites = classname === undefined || classname === 'test' || classname === suites.join('.')
  return [...(isOfSuites ? suites : [own]), name]
}

/** In pytest, the class `tests.test_cart.TestCart` begins with the file `tests/test_cart.py`. */
function withoutFile(classname: string, file: string): string {
  const path = file.replace(/\.\w+$/, '')
  const dotted = path.replaceAll('/', '.')
  if ([file, path, dotted, basename(file), basename(path)].includes(classname)) return ''
  return classname.startsWith(`${dotted}.`) ? classname.slice(dotted.length + 1) : classname
}

/** The message in the attribute is often the beginning of the text, which goes on with the stack. */
function describe(outcomes: readonly XmlOutcome[], status: TestCaseStatus): string {
  const ofStatus = outcomes.filter(({ tag }) => STATUS_OF_TAG[tag] === status)
  const lastTry = ofStatus.findLast(({ tag }) => /^(rerun|flaky)/.test(tag))
  const chosen = lastTry === undefined ? ofStatus : [lastTry]
  return chosen.map(textOf).join('\n\n')
}

/** Readers show the first line of a message. So the message of the attribute comes first, unless the text begins with it. */
function textOf({ message, text, type }: XmlOutcome): string {
  const [said, all] = [message, text].map((one) => one.replaceAll('\r\n', '\n').trim()) as [string, string]
  const isFirst = all.replace(/^[\w.$]+(?: \[\w+\])?: /, '').startsWith(said) || all.startsWith(said)
  // The attribute of gotestsum has only this word.
  const whole = isFirst || (all !== '' && said === 'Failed') ? all : `${said}\n\n${all}`
  return whole.replace(/\n +at .*(?:node_modules\/|\(?node:|\(<anonymous>\)).*/g, '').trim() || type
}

type FileResolver = (path: string) => string | undefined

/** Finds the file of the project that a report names. Its path starts in the project's folder or in the root. */
function createFileResolver({ folder, root }: TestedFolders): FileResolver {
  const known = new Map<string, string | undefined>()
  return (path) => {
    if (!known.has(path)) {
      const candidates = [resolve(folder, path), resolve(root, path)]
      known.set(
        path,
        candidates.find((file) => isInside(file, root) && isFile(file)),
      )
    }
    return known.get(path)
  }
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile()
  } catch {
    return false
  }
}

/** Further positions are not looked up. */
const MOST_POSITIONS = 20

/** The first position in a text that is in a file of the project. .NET writes `Cart.cs:line 7`. */
function findPlace(text: string, resolveFile: FileResolver): { file: string; line: number } | undefined {
  const positions = text.matchAll(/(?:^|[\s(])(?:file:\/\/)?((?:\/|\w|\.\/)[^\s():]*\.\w+):(?:line )?(\d+)\b/g)
  for (const [, path = '', line] of [...positions].slice(0, MOST_POSITIONS)) {
    const file = /node_modules|site-packages/.test(path) ? undefined : resolveFile(path)
    if (file !== undefined) return { file, line: Number(line) }
  }
  return undefined
}

const NEEDED =
  'The framework "junit" needs "command", which runs the tests, and "report", the JUnit file that it writes'

function refuse({ command, report }: FrameworkSettings): string | undefined {
  if (command === undefined || report === undefined)
    return `cannot be served: ${NEEDED}. There is no "${command === undefined ? 'command' : 'report'}".`
  if (isAbsolute(report))
    return `cannot be served: "report" is ${quote(report)}. Give a path from the project's folder.`
  return undefined
}

export const junit: Framework = {
  name: 'junit',
  packages: [],
  isUsedIn: () => false,
  hasProjects: false,
  refuse,
  async run({ argv }, { folders, report = '' }) {
    const old = await findReports(report, folders.folder)
    return { argv, env: {}, title: quoteCommand(argv), readReport: () => readReports(report, folders, old) }
  },
}
