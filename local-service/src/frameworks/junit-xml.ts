import { setImmediate as nextTurn } from 'node:timers/promises'
import sax from 'sax'
import { quote } from '../text.ts'

// Reads the XML that test tools call JUnit. There is no standard, so this file only collects what a report has.

/** What a report says about one test, or about a suite that failed itself. Then there are no attributes. */
export interface XmlCase {
  readonly attributes: Attributes
  /** The names of the suites around the test, the outermost first. */
  readonly suites: readonly string[]
  /** Empty if the report does not have it. */
  readonly file: string
  readonly outcomes: XmlOutcome[]
  /** The end of what the test printed. */
  output: string
}

type Attributes = Readonly<Partial<Record<string, string>>>

/** An element in a test, such as `failure`. A text is empty if the report does not have it. */
export interface XmlOutcome {
  readonly tag: string
  readonly type: string
  readonly message: string
  text: string
}

interface Element {
  readonly tag: string
  /** A suite, with the number of failures that its attributes say, and that it has. */
  readonly suite: { readonly names: readonly string[]; readonly counted: number; listed: number }
  readonly found?: XmlCase | undefined
  readonly outcome?: XmlOutcome | undefined
}

const OUTCOMES = ['failure', 'error', 'skipped', 'flakyFailure', 'flakyError', 'rerunFailure', 'rerunError']

/** A chunk is parsed at once, and the service responds between two chunks. */
const CHUNK_CHARS = 64 * 1024
const LONGEST_TEXT_CHARS = 64 * 1024
/** Every part of a name is tried as a file. */
const LONGEST_NAME_CHARS = 1000
const DEEPEST = 100

/** The text of a file, by its mark, else by its declaration. Some tools for .NET declare `utf-16` and write UTF-8. */
export function decodeXml(bytes: Buffer): string {
  const start = bytes.toString('latin1', 0, 200)
  const declared = /^\s*<\?xml\s[^>]*?encoding\s*=\s*["']([\w.:-]+)["']/.exec(start)?.[1] ?? 'utf-8'
  const wide = (/^(?:\xFF\xFE|<\0)/.test(start) && 'utf-16le') || (/^(?:\xFE\xFF|\0<)/.test(start) && 'utf-16be')
  const encoding = wide || (/^utf-?16/i.test(declared) ? 'utf-8' : declared)
  try {
    return new TextDecoder(encoding).decode(bytes)
  } catch {
    throw new Error(`has the encoding ${declared}, which is not known`)
  }
}

/** Yields each test, and each suite that failed itself. The messages are rests of sentences that begin with the file. */
export async function* readJunitXml(text: string, onMissing: (problem: string) => void): AsyncGenerator<XmlCase> {
  const xml = text.replace(REFERENCE, toCharacter)
  const parser = sax.parser(true, OPTIONS)
  const collector = createCollector(onMissing)
  let problem: string | undefined
  parser.onerror = ({ message }) => {
    // Outside of the first element, the parser would report each character.
    Object.assign(parser, { error: null, sawRoot: true, closedRoot: false })
    // A long value would take 32 bytes for each character.
    const [, long] = /^Max buffer length exceeded: (\w+)/.exec(message) ?? []
    if (long !== undefined) Object.assign(parser, { [long]: Reflect.get(parser, long).slice(0, LONGEST_TEXT_CHARS) })
    if (!COSTS_ONE_VALUE.test(message)) problem ??= `is no XML: ${message.split('\n', 1)[0]}`
  }
  parser.onopentag = ({ name, attributes }) => {
    const cleaned = Object.entries(attributes).map(([key, value]) => [
      key,
      clean(String(value), key === 'message' ? LONGEST_TEXT_CHARS : LONGEST_NAME_CHARS),
    ])
    problem ??= collector.open(name.replace(/^.*:/, ''), Object.fromEntries(cleaned))
  }
  parser.onclosetag = () => problem ?? collector.close()
  parser.ontext = collector.text
  parser.oncdata = collector.text
  for (let at = 0; at < xml.length; at += CHUNK_CHARS) {
    parser.write(xml.slice(at, at + CHUNK_CHARS))
    yield* collector.take()
    if (problem !== undefined) throw new Error(problem)
    await nextTurn()
  }
  if (xml.trim() === '') throw new Error('is empty')
  if (!collector.hasBegun()) throw new Error('is no JUnit report, because it has no element')
  if (collector.isOpen()) throw new Error('is cut off, because its last element is not closed')
}

/** The types of `sax` do not have the second one, so it is no literal in the call. */
const OPTIONS = { position: true, strictEntities: true }
/** Behind these errors, the parser goes on. */
const COSTS_ONE_VALUE =
  /^(?:Invalid character (?:in )?entity|.*attribute|Unencoded <|Malformed comment|Max buffer|Inappropriately located|Text data outside|Non-whitespace before)/i

/** The parser takes a character behind a raw `&` as a part of an entity, even the quote at the end of a value. No text has this character. */
const AMPERSAND = '\uFDD0'
/** In CDATA, there are no references. */
const REFERENCE = /<!\[CDATA\[(?:(?!<!\[CDATA\[)[\s\S])*?\]\]>|&#(x[\da-f]+|\d+);|&(?!#?\w+;)/gi

/** Tools write characters that XML does not allow, such as `&#27;`. The parser takes them only as they are. */
function toCharacter(whole: string, digits: string | undefined): string {
  if (digits === undefined) return whole === '&' ? AMPERSAND : whole
  const code = Number(`0${digits}`)
  const character = code > 0x10_ff_ff ? '\uFFFD' : String.fromCodePoint(code)
  return /[<>&"']/.test(character) ? whole : character
}

const COLOUR = /\p{Cc}\[[\d;:]*m/gu
const NO_XML = /(?![\t\n\r\u0080-\u009F])[\p{Cc}\uFFFE\uFFFF]/gu

function clean(text: string, limitChars = LONGEST_TEXT_CHARS): string {
  const cut = text.slice(0, limitChars).replaceAll(AMPERSAND, '&')
  return cut.replace(COLOUR, '').replace(NO_XML, '\uFFFD').toWellFormed()
}

function createCollector(onMissing: (problem: string) => void) {
  const elements: Element[] = []
  const ready: XmlCase[] = []
  /** Mocha names the file only in the first of several suites. */
  let fileOfSuites = ''
  let hasBegun = false

  function elementOf(tag: string, attributes: Attributes, parent: Element | undefined): Element {
    const { name = '', type = '', message = '', file = attributes.filepath } = attributes
    if (parent === undefined || tag === 'testsuite') {
      fileOfSuites = file ?? fileOfSuites
      const names = [...(parent?.suite.names ?? []), ...(tag === 'testsuite' ? [name] : [])]
      const counted = (Number(attributes.failures) || 0) + (Number(attributes.errors) || 0)
      return { tag, suite: { names, counted, listed: 0 } }
    }
    const { suite, found } = parent
    const newCase = { attributes, suites: suite.names, file: file ?? fileOfSuites, outcomes: [], output: '' }
    if (tag === 'testcase') return { tag, suite, found: newCase }
    const isOutcome = OUTCOMES.includes(tag) && (found !== undefined || /^(?:failure|error)$/.test(tag))
    if (!isOutcome) return { ...parent, tag }
    const outcome = { tag, type, message, text: '' }
    const failed = found ?? { ...newCase, attributes: {} }
    failed.outcomes.push(outcome)
    if (tag !== 'skipped') suite.listed++
    return { tag, suite, found: failed, outcome }
  }

  return {
    /** Returns why the report is refused. */
    open(tag: string, attributes: Attributes): string | undefined {
      const parent = elements.at(-1)
      if (elements.length === DEEPEST) return `has more than ${DEEPEST} elements in one another`
      if (parent === undefined && !/^testsuites?$/.test(tag))
        return `is no JUnit report, because it begins with <${tag}>`
      elements.push(elementOf(tag, attributes, parent))
      hasBegun = true
      return undefined
    },
    close(): void {
      const { suite, found, outcome } = elements.pop() as Element
      const parent = elements.at(-1)
      if (outcome !== undefined && outcome !== parent?.outcome) outcome.text = clean(outcome.text)
      if (found !== undefined && found !== parent?.found) ready.push({ ...found, output: clean(found.output) })
      if (suite === parent?.suite) return
      const { counted, listed, names } = suite
      const where = names.length === 0 ? '' : ` in ${quote(names.at(-1))}`
      if (counted > listed) onMissing(`counts ${counted} failed${where} and lists ${listed}`)
      if (parent !== undefined) parent.suite.listed += Math.max(counted, listed)
    },
    text(text: string): void {
      const { tag = '', found, outcome } = elements.at(-1) ?? {}
      // In Surefire's reports, the text of a flaky test is in an element `stackTrace`, beside its output.
      if (!/^system-(?:out|err)$/.test(tag)) {
        if (outcome !== undefined) outcome.text += text.slice(0, LONGEST_TEXT_CHARS - outcome.text.length)
      } else if (found !== undefined) found.output = (found.output + text).slice(-LONGEST_TEXT_CHARS)
    },
    hasBegun: () => hasBegun,
    isOpen: () => elements.length > 0,
    take: () => ready.splice(0),
  }
}
