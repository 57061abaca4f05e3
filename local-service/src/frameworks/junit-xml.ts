import { type Handler, Parser } from 'htmlparser2'
import { withoutTerminalSequences } from '../../../src/text/visible-text.ts'
import { quote } from '../text.ts'

// Reads the XML that test tools call JUnit. There is no standard, so this file only collects what a report has. Tools write broken XML,
// for example a raw `&`. The parser is one that reads what browsers read, so such a character costs nothing else.

/** What a report says about one test, or about a suite that failed itself. Then there are no attributes. */
export interface XmlCase {
  readonly attributes: Readonly<Partial<Record<string, string>>>
  /** The names of the suites around the test, the outermost first. */
  readonly suites: readonly string[]
  /** Empty if the report does not have it. */
  readonly file: string
  readonly outcomes: readonly XmlOutcome[]
  /** What the test printed. */
  readonly output: string
  /** What is around the test. What a suite printed is known when the whole report is read. */
  readonly parent?: Pick<XmlCase, 'output'> | undefined
}

/** An element in a test, such as `failure`. A text is empty if the report does not have it. */
export interface XmlOutcome {
  readonly tag: string
  readonly type: string
  readonly message: string
  readonly text: string
}

/** An element, with what was in it so far. */
interface Element extends XmlCase {
  readonly parent?: Element | undefined
  readonly tag: string
  readonly outcomes: XmlOutcome[]
  output: string
  text: string
  /** How many of the outcomes in it are failures. */
  failures: number
}

const SUITE = /^testsuites?$/
const OUTCOME = /^(?:failure|error|skipped|flakyFailure|flakyError|rerunFailure|rerunError)$/

/** The text of a file, by its mark, else by its declaration. Some tools for .NET declare `utf-16` and write UTF-8. */
export function decodeXml(bytes: Buffer): string {
  const start = bytes.toString('latin1', 0, 200)
  const declared = /^\s*<\?xml\s[^>]*?encoding\s*=\s*["']([\w.:-]+)["']/.exec(start)?.[1] ?? 'utf-8'
  const wide = /^(?:\xFF\xFE|<\0)/.test(start) ? 'utf-16le' : /^(?:\xFE\xFF|\0<)/.test(start) ? 'utf-16be' : undefined
  return new TextDecoder(wide ?? declared.replace(/^utf-?16.*/i, 'utf-8')).decode(bytes)
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
  let hasElement = false
  /** Mocha names the file only in the first of several suites. */
  let fileOfSuites = ''
  /** The innermost element that is not closed yet. */
  let element: Element | undefined
  const handler: Partial<Handler> = {
    onopentag(name, attributes: XmlCase['attributes']) {
      const tag = name.replace(/^.*:/, '')
      if (element === undefined && !SUITE.test(tag))
        throw new Error(`is no JUnit report, because it begins with <${tag}>`)
      const { name: title = '', file = attributes.filepath ?? fileOfSuites } = attributes
      hasElement = true
      if (SUITE.test(tag)) fileOfSuites = file
      const around = element?.suites ?? []
      const suites = tag === 'testsuite' ? [...around, title] : around
      element = { parent: element, tag, attributes, suites, file, outcomes: [], output: '', text: '', failures: 0 }
    },
    ontext(more) {
      if (element !== undefined) element.text += more
    },
    onclosetag(name, isImplied) {
      // The parser closes an element by itself at the end tag of another one, and at `<testcase/>`.
      const isBroken = isImplied && text[parser.endIndex - 1] !== '/'
      if (isBroken || element === undefined) throw new Error(`is no XML: <${name}> is not closed`)
      const { parent, tag, failures } = element
      if (tag === 'testcase') onCase(element)
      else if (SUITE.test(tag)) {
        const outcomes = element.outcomes.filter((one) => /^(?:failure|error)$/.test(one.tag))
        if (outcomes.length > 0) onCase({ ...element, attributes: {}, outcomes })
        const missing = findMissing(element)
        if (missing !== undefined) onMissing(missing)
      } else if (parent !== undefined) moveContent(element, parent)
      if (parent !== undefined) parent.failures += failures
      element = parent
    },
  }
  const parser = new Parser(handler, { xmlMode: true })
  parser.write(text)
  if (text.trim() === '') throw new Error('is empty')
  if (!hasElement) throw new Error('is no JUnit report, because it has no element')
  if (element !== undefined) throw new Error('is cut off, because its last element is not closed')
}

/** What is in an element that is no test and no suite belongs to the element around it. */
function moveContent({ tag, attributes, outcomes, output, ...element }: Element, parent: Element): void {
  const { type = '' } = attributes
  const [message, text] = [attributes.message ?? '', element.text].map(withoutTerminalSequences) as [string, string]
  if (OUTCOME.test(tag)) {
    parent.outcomes.push({ tag, type, message, text })
    if (tag !== 'skipped') parent.failures++
  } else if (/^system-(?:out|err)$/.test(tag)) {
    parent.output += text
  } else {
    parent.text += text
  }
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
