import { type Handler, Parser } from 'htmlparser2'
import { quote } from '../text.ts'

// Reads the XML that test tools call JUnit. There is no standard, so this file only collects what a report has. Tools write broken XML,
// for example a raw `&`. The parser is as tolerant as a browser. It keeps such a character as text, and reads the rest.

/** An element of a report, with what was in it so far. A text is empty if the report does not have it. */
export interface XmlElement {
  readonly tag: string
  readonly attributes: Readonly<Partial<Record<string, string>>>
  readonly parent: XmlElement | undefined
  /** The names of the suites around it, the outermost first. If the element is a suite, its own name is the last one. */
  readonly suites: readonly string[]
  readonly file: string
  /** The elements in it that say how a test ended, such as `failure`. */
  readonly outcomes: XmlElement[]
  /** How many failures are in it and in the elements in it. */
  failures: number
  text: string
  /** What a test or a suite printed. */
  output: string
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
 * `onCase` gets each test. If a suite failed itself, `onCase` gets the suite too, without its attributes. If a suite counts more failures
 * than it lists, `onMissing` gets `counts 2 failed in "cart" and lists 0`. Throws an error such as `is empty`. Both texts are rests of
 * sentences that begin with the file.
 */
export function readJunitXml(
  text: string,
  onCase: (found: XmlElement) => void,
  onMissing: (problem: string) => void,
): void {
  let hasElement = false
  /** Where the last root ends. A root is an element without a parent. */
  let end = 0
  /** Mocha names the file only in the first of several suites. */
  let fileOfSuites = ''
  /** The innermost element that is not closed yet. */
  let element: XmlElement | undefined
  const handler: Partial<Handler> = {
    onopentag(name, attributes: XmlElement['attributes']) {
      const tag = name.replace(/^.*:/, '')
      if (element === undefined && !SUITE.test(tag))
        throw new Error(`is no JUnit report, because it begins with <${tag}>`)
      const { name: title = '', file = attributes.filepath ?? fileOfSuites } = attributes
      hasElement = true
      if (SUITE.test(tag)) fileOfSuites = file
      const around = element?.suites ?? []
      const suites = tag === 'testsuite' ? [...around, title] : around
      element = { tag, attributes, parent: element, suites, file, outcomes: [], failures: 0, text: '', output: '' }
    },
    ontext(more) {
      if (element !== undefined) element.text += more
    },
    onclosetag(name, isImplied) {
      // The parser implies an end tag for `<testcase/>`, and for an element that is not closed.
      const isSelfClosing = text[parser.endIndex - 1] === '/'
      if ((isImplied && !isSelfClosing) || element === undefined) throw new Error(`is no XML: <${name}> is not closed`)
      const { tag, parent, outcomes, failures } = element
      if (tag === 'testcase') onCase(element)
      else if (SUITE.test(tag)) {
        // The name of the suite is in `suites` already. With its attributes, the title would have it twice.
        if (outcomes.length > 0) onCase({ ...element, attributes: {} })
        const missing = findMissing(element)
        if (missing !== undefined) onMissing(missing)
      } else if (parent !== undefined) moveContent(element, parent)
      if (parent !== undefined) parent.failures += failures
      else end = parser.endIndex + 1
      element = parent
    },
  }
  const parser = new Parser(handler, { xmlMode: true })
  parser.write(text)
  if (text.trim() === '') throw new Error('is empty')
  if (!hasElement) throw new Error('is no JUnit report, because it has no element')
  // If the file ends in the middle of a tag, the parser says nothing. So this looks for the beginning of a further root at the end.
  const [, lastTag] = /<([^<>]*)$/.exec(text.slice(end)) ?? []
  const isRootOpen = lastTag !== undefined && ('testsuites'.startsWith(lastTag) || /^testsuites?\s/.test(lastTag))
  if (element !== undefined || isRootOpen) throw new Error('is cut off, because its last element is not closed')
}

/** Gives the content of an element such as `failure` or `system-out` to its parent. Tests and suites keep their content. */
function moveContent(element: XmlElement, parent: XmlElement): void {
  const { tag, text, outcomes } = element
  if (OUTCOME.test(tag)) {
    parent.outcomes.push(element)
    if (tag !== 'skipped') parent.failures++
  } else if (/^system-(?:out|err)$/.test(tag)) {
    parent.output += text
  } else {
    parent.text += text
  }
  parent.outcomes.push(...outcomes)
}

function findMissing({ attributes, suites, failures }: XmlElement): string | undefined {
  const [failed = 0, broken = 0] = [attributes.failures, attributes.errors].map((given) => Number(given) || 0)
  // @web/test-runner counts each failure as an error too.
  const counted = failed === failures && broken === failures ? failures : failed + broken
  const where = suites.length === 0 ? '' : ` in ${quote(suites.at(-1))}`
  return counted > failures ? `counts ${counted} failed${where} and lists ${failures}` : undefined
}
