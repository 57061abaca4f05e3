import { setImmediate as nextTurn } from 'node:timers/promises'
import sax from 'sax'

// Reads the XML that test tools call JUnit. There is no standard, so this file only collects what a report has.
// local-service/test/frameworks/junit.test.ts tests this file.

/** What a report says about one test. A text is empty if the report does not have it. */
export interface XmlCase {
  readonly name: string
  /** Undefined if the report does not have it, which some tools distinguish from an empty one. */
  readonly classname: string | undefined
  /** The names of the suites around the test, the outermost first. */
  readonly suites: readonly string[]
  readonly file: string
  readonly line: string
  readonly time: string
  readonly outcomes: readonly XmlOutcome[]
}

/** An element in a test, such as `failure`. */
export interface XmlOutcome {
  readonly tag: string
  readonly type: string
  readonly message: string
  text: string
}

const SUITES = ['testsuites', 'testsuite']
const OUTCOMES = ['failure', 'error', 'skipped', 'flakyFailure', 'flakyError', 'rerunFailure', 'rerunError']

/** A chunk is parsed at once, and the service responds between two chunks. */
const CHUNK_CHARS = 64 * 1024
/** Of a value that the parser holds in memory. Messages are cut to much less. */
const LONGEST_VALUE_CHARS = 1024 * 1024
const LONGEST_TEXT_CHARS = 64 * 1024
const DEEPEST = 100
const MOST_ATTRIBUTES = 100

/** Calls `onCase` for each test. Throws an error whose message is the rest of a sentence that begins with the file. */
export async function readJunitXml(xml: string, onCase: (found: XmlCase) => void): Promise<void> {
  Object.assign(sax, { MAX_BUFFER_LENGTH: LONGEST_VALUE_CHARS })
  // Without positions, the parser does not check how long a value is.
  const parser = sax.parser(true, { position: true })
  const tags: string[] = []
  const suites: string[] = []
  /** Mocha names the file only in the first of several suites. */
  let fileOfSuites = ''
  let found: (XmlCase & { readonly outcomes: XmlOutcome[] }) | undefined
  let outcome: XmlOutcome | undefined
  let attributes = 0
  let problem: string | undefined
  const refuse = (what: string) => {
    problem ??= what
  }
  const onText = (text: string) => {
    // In Surefire's reports, the text of a flaky test is in an element `stackTrace`, beside its output.
    if (outcome === undefined || ![outcome.tag, 'stackTrace'].includes(tags.at(-1) ?? '')) return
    outcome.text += text.slice(0, LONGEST_TEXT_CHARS - outcome.text.length)
  }
  parser.onerror = ({ message }) => refuse(`is no XML: ${message.split('\n', 1)[0]}`)
  parser.ondoctype = () => refuse('has a DOCTYPE, which no test tool writes')
  parser.onattribute = () => {
    if (++attributes > MOST_ATTRIBUTES) refuse(`has an element with more than ${MOST_ATTRIBUTES} attributes`)
  }
  parser.onopentag = ({ name: tag, attributes: given }) => {
    attributes = 0
    const attribute = (name: string) => (Object.hasOwn(given, name) ? String(given[name]) : undefined)
    const name = attribute('name') ?? ''
    const file = attribute('file') ?? attribute('filepath') ?? ''
    if (tags.length === 0 && !SUITES.includes(tag)) refuse(`is no JUnit report, because it begins with <${tag}>`)
    if (tags.push(tag) > DEEPEST) refuse(`has more than ${DEEPEST} elements in one another`)
    if (tag === 'testsuite') {
      fileOfSuites = file || fileOfSuites
      suites.push(name)
    } else if (tag === 'testcase') {
      found = {
        name,
        classname: attribute('classname'),
        suites: [...suites],
        file: file || fileOfSuites,
        line: attribute('line') ?? '',
        time: attribute('time') ?? '',
        outcomes: [],
      }
    } else if (found !== undefined && OUTCOMES.includes(tag)) {
      outcome = { tag, type: attribute('type') ?? '', message: attribute('message') ?? '', text: '' }
      found.outcomes.push(outcome)
    }
  }
  parser.onclosetag = (tag) => {
    tags.pop()
    if (tag === outcome?.tag) outcome = undefined
    if (tag === 'testsuite') suites.pop()
    if (tag !== 'testcase' || found === undefined) return
    onCase(found)
    found = undefined
  }
  parser.ontext = onText
  parser.oncdata = onText
  for (let at = 0; at < xml.length; at += CHUNK_CHARS) {
    parser.write(xml.slice(at, at + CHUNK_CHARS))
    if (problem !== undefined) throw new Error(problem)
    await nextTurn()
  }
  if (xml.trim() === '') throw new Error('is empty')
  if (tags.length > 0) throw new Error('is cut off, because its last element is not closed')
  parser.close()
  if (problem !== undefined) throw new Error(problem)
}
