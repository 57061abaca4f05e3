import sax from 'sax'
import { quote } from '../text.ts'

// Reads the XML that test tools call JUnit. There is no standard, so this file only collects what a report has. How the parser treats
// broken XML stands only in its source: https://github.com/isaacs/sax-js/blob/main/lib/sax.js

/** What a report says about one test, or about a suite that failed itself. Then there are no attributes. */
export interface XmlCase {
  readonly attributes: Readonly<Partial<Record<string, string>>>
  /** The names of the suites around the test, the outermost first. */
  readonly suites: readonly string[]
  /** Empty if the report does not have it. */
  readonly file: string
  readonly outcomes: readonly XmlOutcome[]
  /** The end of what the test printed. */
  readonly output: string
  /** The end of what its suite printed. It is known when the whole report is read. */
  suiteOutput(): string
}

/** An element in a test, such as `failure`. A text is empty if the report does not have it. */
export interface XmlOutcome {
  readonly tag: string
  readonly type: string
  readonly message: string
  readonly text: string
}

/** An element that is not closed yet, with what was in it so far. */
interface Element extends Omit<XmlCase, 'suiteOutput'> {
  readonly tag: string
  readonly outcomes: XmlOutcome[]
  output: string
  text: string
  /** How many of the outcomes in it are failures. */
  failures: number
}

const SUITE = /^testsuites?$/
const OUTCOME = /^(?:failure|error|skipped|flakyFailure|flakyError|rerunFailure|rerunError)$/

const PART_CHARS = 64 * 1024
const LONGEST_REFERENCE_CHARS = 20
const LONGEST_TEXT_CHARS = 64 * 1024

/** The text of a file, by its mark, else by its declaration. Some tools for .NET declare `utf-16` and write UTF-8. */
export function decodeXml(bytes: Buffer): string {
  const start = bytes.toString('latin1', 0, 200)
  const declared = /^\s*<\?xml\s[^>]*?encoding\s*=\s*["']([\w.:-]+)["']/.exec(start)?.[1] ?? 'utf-8'
  const wide = /^(?:\xFF\xFE|<\0)/.test(start) ? 'utf-16le' : /^(?:\xFE\xFF|\0<)/.test(start) ? 'utf-16be' : undefined
  const encoding = wide ?? declared.replace(/^utf-?16.*/i, 'utf-8')
  try {
    return new TextDecoder(encoding).decode(bytes)
  } catch {
    throw new Error(`has the encoding ${declared}, which is not known`)
  }
}

/**
 * `onCase` gets each test, and each suite that failed itself. `onMissing` gets what else says that a test failed. This and the
 * message of an error are rests of sentences that begin with the file.
 */
export function readJunitXml(
  text: string,
  onCase: (found: XmlCase) => void,
  onMissing: (problem: string) => void,
): void {
  const parser = createParser()
  // Outside an element, the parser reports each character as an error ("Text data outside of root node"). So the file is in an element of our own.
  parser.write('<file>')
  const elements: Element[] = []
  /** Mocha names the file only in the first of several suites. */
  let fileOfSuites: string | undefined
  parser.onopentag = (opened) => {
    const tag = opened.name.replace(/^.*:/, '')
    const parent = elements.at(-1)
    if (parent === undefined && !SUITE.test(tag)) throw new Error(`is no JUnit report, because it begins with <${tag}>`)
    const attributes = toAttributes(opened.attributes)
    const { name = '', file = attributes.filepath ?? fileOfSuites ?? '' } = attributes
    if (SUITE.test(tag)) fileOfSuites = file
    const around = parent?.suites ?? []
    const suites = tag === 'testsuite' ? [...around, name] : around
    elements.push({ tag, attributes, suites, file, outcomes: [], output: '', text: '', failures: 0 })
  }
  parser.ontext = (more) => {
    const element = elements.at(-1)
    if (element !== undefined) element.text += more
  }
  parser.oncdata = parser.ontext
  parser.onclosetag = () => {
    const element = elements.pop()
    if (element === undefined) throw new Error('is no XML: it closes an element that it has not opened')
    const parent = elements.at(-1)
    const suiteOutput = () => endOf(parent)
    const found = { ...element, output: endOf(element), suiteOutput }
    if (element.tag === 'testcase') onCase(found)
    else if (SUITE.test(element.tag)) {
      const outcomes = found.outcomes.filter(({ tag }) => /^(?:failure|error)$/.test(tag))
      if (outcomes.length > 0) onCase({ ...found, attributes: {}, outcomes })
      const missing = findMissing(element)
      if (missing !== undefined) onMissing(missing)
    } else if (parent !== undefined) moveContent(element, parent)
    if (parent !== undefined) parent.failures += element.failures
  }
  for (const part of partsOf(text)) parser.write(part.replace(REFERENCE, toCharacter))
  if (text.trim() === '') throw new Error('is empty')
  if (fileOfSuites === undefined) throw new Error('is no JUnit report, because it has no element')
  if (elements.length > 0) throw new Error('is cut off, because its last element is not closed')
}

/** V8 ends the whole process if one replacement has very many matches. So a text is replaced in parts, and no part ends in a reference. */
function* partsOf(text: string): Generator<string> {
  for (let at = 0; at < text.length; ) {
    const end = at + PART_CHARS
    // A search in the whole text would go back to its beginning, for each part.
    const reference = text.slice(end - LONGEST_REFERENCE_CHARS, end).lastIndexOf('&')
    const next = reference === -1 ? end : end - LONGEST_REFERENCE_CHARS + reference
    yield text.slice(at, next)
    at = next
  }
}

function endOf(element: Element | undefined): string {
  return clean(element?.output.slice(-LONGEST_TEXT_CHARS) ?? '')
}

/** What is in an element that is no test and no suite belongs to the element around it. */
function moveContent({ tag, attributes, outcomes, output, text }: Element, parent: Element): void {
  const { type = '', message = '' } = attributes
  if (OUTCOME.test(tag)) {
    parent.outcomes.push({ tag, type, message, text: clean(text) })
    if (tag !== 'skipped') parent.failures++
  } else parent[/^system-(?:out|err)$/.test(tag) ? 'output' : 'text'] += text
  parent.outcomes.push(...outcomes)
  parent.output += output
}

function findMissing({ attributes, suites, failures }: Element): string | undefined {
  const [failed = 0, broken = 0] = [attributes.failures, attributes.errors].map((given) => Number(given) || 0)
  // @web/test-runner counts each failure as an error too.
  const counted = failed === failures && broken === failures ? failures : failed + broken
  const where = suites.length === 0 ? '' : ` in ${quote(suites.at(-1))}`
  return counted > failures ? `counts ${counted} failed${where} and lists ${failures}` : undefined
}

/** Behind these errors, the parser goes on. */
const COSTS_ONE_VALUE =
  /^(?:Invalid character (?:in )?entity|.*attribute|Unencoded <|Malformed comment|Inappropriately located)/i

function createParser(): sax.SAXParser {
  // By default, a value of more than 64 KiB is an error. The types do not have this setting.
  Object.assign(sax, { MAX_BUFFER_LENGTH: Number.POSITIVE_INFINITY })
  const parser = sax.parser(true)
  parser.onerror = ({ message }) => {
    if (!COSTS_ONE_VALUE.test(message)) throw new Error(`is no XML: ${message.split('\n', 1)[0]}`)
    parser.resume()
  }
  // The parser's function `attrib` calls this method of the object with the attributes.
  parser.onattribute = ({ name }) => name === 'hasOwnProperty' && Reflect.deleteProperty(parser.tag.attributes, name)
  return parser
}

/** The parser takes a character behind a raw `&` as a part of an entity, even the quote at the end of a value (its states `*_ENTITY`). No text has this character. */
const AMPERSAND = '\uFDD0'
const REFERENCE = /&(?:#(x[\da-f]+|\d+);|(?!\w+;))/gi
/** What XML does not allow. Tools write it, also as `&#27;`. */
const NO_XML = /(?![\t\n\r\u0080-\u009F])[\p{Cc}\p{Cs}\uFFFE\uFFFF]/gu
const COLOUR = /[\p{Cc}\uFFFD]\[[\d;:]*m/gu

function toCharacter(whole: string, digits: string | undefined): string {
  if (digits === undefined) return AMPERSAND
  const code = Number(`0${digits}`)
  return code > 0x10_ff_ff || String.fromCodePoint(code).search(NO_XML) === 0 ? '\uFFFD' : whole
}

/** What may have to be replaced. Few texts have it. */
const UNUSUAL = new RegExp(`[\\p{Cc}\\p{Cs}\\uFFFD-\\uFFFF${AMPERSAND}]`, 'u')

function clean(text: string): string {
  if (text.length <= LONGEST_TEXT_CHARS && !UNUSUAL.test(text)) return text
  const cut = text.slice(0, LONGEST_TEXT_CHARS).replaceAll(AMPERSAND, '&')
  return cut.replace(COLOUR, '').replace(NO_XML, '\uFFFD')
}

function toAttributes(given: object): XmlCase['attributes'] {
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, clean(value)]))
}
