import { rawText, type Untrusted } from './untrusted.ts'
import { colouredLines, oneLine, TEXT_LIMIT_CHARS, truncate, visibleLines, withVisibleEscapes } from './visible-text.ts'
import { isSecure } from './web-address.ts'

// How text leaves the action. Others write most of what the reports show, and their text may contain a command of the runner,
// Markdown, a tag or a mention. So the reports use template tags, which make each value safe for its place: the log, HTML or XML.
//
//   const sentence = fragment`Run ${id} failed.`   // a fragment: it can be written anywhere
//   html`<p>${sentence}</p>`                       // <p>Run <code>r-1</code> failed.</p>
//   xml`<error>${sentence}</error>`                // <error>Run r-1 failed.</error>
//   render(sentence)                               // Run r-1 failed.
//
// A fragment waits for its place, which is called a sink here. HTML and XML are final. Whatever writes to the log, the summary or
// the comment takes what a tag has made, and no string.
//
//   in a tag                 is cut at           lines   in HTML
//   ${text}                  500 characters      one     <code>
//   ${quote(text)}           500, or a limit     one     <code>, elsewhere in quotation marks
//   ${code('strict')}        nothing             one     <code>
//   ${untruncated(text)}     nothing             one     <code>
//   ${linesOf(message)}      nothing             all     <pre>
//   ${beginningOf(message)}  lines, characters   some    <pre>, with the colours of a diff
//   ${outputLines(lines)}    nothing             all     <pre>. In the log, it keeps its colours
//   ${12345}                                             12,345

declare const brand: unique symbol

/** Final text for one sink. The brand exists only for the type checker, so that it accepts no other object with these fields. */
class SafeText<Name extends string> {
  declare readonly [brand]: Name
  readonly sink: Name
  readonly text: string

  constructor(sink: Name, text: string) {
    this.sink = sink
    this.text = text
  }
}

/** HTML within Markdown. */
export type Html = SafeText<'HTML'>
export type Xml = SafeText<'XML'>

/** Words of ours with values between them. */
class Fragment {
  declare readonly [brand]: 'fragment'
  readonly writeTo: (sink: Sink) => string

  constructor(writeTo: (sink: Sink) => string) {
    this.writeTo = writeTo
  }
}

type Value = string | number | Untrusted | Fragment

// Only the type is exported, because a fragment that is made elsewhere could write raw text.
export type { Fragment }

/** How a sink writes each part. What comes from others is visible text, and the sink escapes it. */
interface Sink {
  readonly name: string
  literal(words: string): string
  value(visible: string): string
  quoted(visible: string): string
  number(value: number): string
  /** With `lang`, GitHub colours the lines that begin with `-` and `+`. */
  lines(visible: readonly string[], lang?: 'diff'): string
  /** `words` are already of this sink. */
  link(url: string, words: string): string
}

/** The final text. A fragment becomes text for the log. */
export function render(safe: Fragment | Html | Xml): string {
  return safe instanceof Fragment ? withoutCommands(safe.writeTo(LINE)) : safe.text
}

/** The literals are words, so each sink escapes them. In `html` and `xml`, they are markup, which stays as it is. */
export function fragment(literals: TemplateStringsArray, ...values: readonly Value[]): Fragment {
  return new Fragment((sink) => fill(sink, literals.map(sink.literal), values))
}

/** A word of ours, such as the name of an input. The name of this function tells the reader that it is no value from outside. */
export function code(name: string): Fragment {
  return untruncated(name)
}

/** A value in quotation marks, or in HTML in `<code>`. */
export function quote(value: string | Untrusted, limitChars = TEXT_LIMIT_CHARS): Fragment {
  return new Fragment((sink) => sink.quoted(oneLine(rawText(value), limitChars)))
}

export function untruncated(value: string | Untrusted): Fragment {
  return new Fragment((sink) => sink.value(oneLine(rawText(value))))
}

export function linesOf(message: Untrusted): Fragment {
  const visible = visibleLines(rawText(message))
  return new Fragment((sink) => sink.lines(visible))
}

/**
 * Lines that a program has written for a terminal. Their colours stay. A sequence that is removed may stand in the middle of the key. So
 * the key is looked for in what is left.
 */
export function outputLines(lines: readonly Untrusted[], redact = (text: string) => text): Fragment {
  const visible = redact(colouredLines(lines.map(rawText).join('\n')))
  return new Fragment((sink) => sink.lines(visible.split('\n')))
}

/** The first lines of a message. A last line says what is left out. Blank lines at both ends do not count. */
export function beginningOf(message: Untrusted, limit: { readonly lines: number; readonly chars: number }): Fragment {
  const visible = visibleLines(rawText(message))
  const isText = (line: string) => line.trim() !== ''
  const all = visible.slice(visible.findIndex(isText), visible.findLastIndex(isText) + 1)
  const text = all.slice(0, limit.lines).join('\n')
  const shown = truncate(text, limit.chars)
  const more = all.length - limit.lines
  const lines = shown.split('\n')
  if (shown !== text) lines.push('… The rest is left out.')
  else if (more > 0) lines.push(more === 1 ? '… 1 more line' : `… ${readableNumber(more)} more lines`)
  return new Fragment((sink) => sink.lines(lines, 'diff'))
}

/** Words with a link. In text and XML, the address follows the words. If the address is not secure, the words stay alone. */
export function link(url: string, words: Fragment): Fragment {
  const address = URL.parse(url)
  if (address === null || !isSecure(address)) return words
  return new Fragment((sink) => sink.link(address.href, words.writeTo(sink)))
}

function fill(sink: Sink, literals: readonly string[], values: readonly unknown[]): string {
  return literals.map((words, index) => (index === 0 ? '' : valueIn(sink, values[index - 1])) + words).join('')
}

function valueIn(sink: Sink, value: unknown): string {
  if (typeof value === 'string') return sink.value(oneLine(value, TEXT_LIMIT_CHARS))
  if (typeof value === 'number') return sink.number(value)
  if (value instanceof Fragment) return value.writeTo(sink)
  if (value instanceof SafeText && value.sink === sink.name) return value.text
  if (Array.isArray(value)) return value.map((item) => valueIn(sink, item)).join('')
  throw new TypeError('A value is neither text, a number, a fragment, nor text for this sink')
}

function readableNumber(value: number): string {
  return Number.isInteger(value) ? String(value).replace(/\B(?=(?:\d{3})+$)/g, ',') : String(value)
}

// The log.

const LINE: Sink = {
  name: 'log line',
  literal: (words) => words,
  value: (visible) => visible,
  quoted: (visible) => `“${visible}”`,
  number: readableNumber,
  lines: (visible) => visible.join('\n'),
  link: (url, words) => `${words} (${url})`,
}

export interface Log {
  info(message: Fragment): void
  warning(message: Fragment): void
  /** Absent if debug logging is off. A call with `?.` then does not even build the message. */
  readonly debug?: ((message: Fragment) => void) | undefined
}

const OLD_COMMAND = /#(?=#\[)/g

/** The runner obeys `##[name]` anywhere in a line of the log, and `::name::` at its start (its `ActionCommand.cs`). */
function withoutCommands(text: string): string {
  return text.replace(OLD_COMMAND, '# ').replace(/^([^\S\n]*):(?=:)/gm, '$1: ')
}

// GitHub's runner (seen in 2.336) cuts the messages of error and warning commands at 256 UTF-16 units and at 4,096
// (`_maxIssueMessageLength` in its `ExecutionContext.cs`). If a cut separates the halves of a surrogate pair, its worker crashes, and the
// job has no result.

/**
 * Surrogate pairs stay only in the first 80 units. The runner masks a message before it cuts the message. If each unit is a secret, each becomes
 * `***`. So the first 80 units become at most 240, and no cut can hit a pair in them.
 */
const UNITS_WITH_PAIRS = 80
/** So that a reader sees where a long message is cut: it ends with `…`. */
const MESSAGE_LIMIT_UNITS = 4000

/** The message of an error or warning command. */
export function commandMessage(message: Fragment): string {
  const text = inBasicPlane(render(message), UNITS_WITH_PAIRS)
  return text.length <= MESSAGE_LIMIT_UNITS ? text : `${text.slice(0, MESSAGE_LIMIT_UNITS - 1)}…`
}

/** Replaces each surrogate pair that is not within the first units. */
function inBasicPlane(text: string, unitsWithPairs = 0): string {
  return text.replace(/[\u{10000}-\u{10FFFF}]/gu, (pair, index: number) =>
    index + pair.length <= unitsWithPairs ? pair : '\uFFFD',
  )
}

/** The value of a property, such as the file of an annotation. `@actions/core` escapes the characters that would end it. */
export function commandProperty(value: Untrusted): string {
  return inBasicPlane(oneLine(rawText(value))).replace(OLD_COMMAND, '# ')
}

// HTML.

const HTML: Sink = {
  name: 'HTML',
  literal: escapeText,
  value: inCode,
  quoted: inCode,
  number: readableNumber,
  // `&#10;` in place of line breaks, so that no line of a message can begin a list or a code block of Markdown. GitHub looks for no
  // mentions and links in `<pre>`.
  lines: (visible, lang) =>
    `${lang === 'diff' ? '<pre lang="diff">' : '<pre>'}${visible.map(escapeText).join('&#10;')}</pre>`,
  link: (url, words) => `<a href="${escapeAttribute(url)}">${words}</a>`,
}

/**
 * Values are escaped text in `<code>`, and the lines of a message in `<pre>`, because GitHub finds mentions, references and links
 * everywhere else. Begin each line that has a value with a block-level HTML tag, because GitHub parses no Markdown after such a
 * tag.
 */
export function html(literals: TemplateStringsArray, ...values: readonly (Value | Html | readonly Html[])[]): Html {
  return new SafeText('HTML', fill(HTML, literals, values))
}

function inCode(visible: string): string {
  return `<code>${escapeText(visible)}</code>`
}

export function hiddenMarker(marker: string): Html {
  if (!/^<!--[^\n\r>]*-->$/.test(marker)) throw new TypeError('A marker must be one HTML comment on one line')
  return new SafeText('HTML', marker)
}

// XML.

const XML: Sink = {
  name: 'XML',
  literal: escapeAttribute,
  value: escapeAttribute,
  quoted: (visible) => `“${escapeAttribute(visible)}”`,
  number: String,
  // A program may print the file to the log of a job.
  lines: (visible) => visible.map((line) => escapeAttribute(line).replace(/^(\s*):(?=:)/, '$1&#58;')).join('\n'),
  link: (url, words) => `${words} (${escapeAttribute(url)})`,
}

/** Values may be text, or attributes in double quotes. visible-text.ts has already replaced the characters that XML 1.0 forbids. */
export function xml(literals: TemplateStringsArray, ...values: readonly (Value | Xml)[]): Xml {
  return new SafeText('XML', fill(XML, literals, values))
}

/** `##[` is here because the runner obeys it. */
const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
  '##[': '##&#91;',
}

/**
 * The runner looks for each secret in two forms: as it is, and with all five of & < > " ' escaped (its `ValueEncoders.cs`). If only some of
 * them were escaped, it would find neither form. HTML needs & < > escaped. So a text with one of these three has its quotation marks escaped
 * too, and every other text stays as it is. For example:
 *
 *   the secret   in HTML
 *   a"b          a"b
 *   a<"b         a&lt;&quot;b    not a&lt;"b
 */
function escapeText(text: string): string {
  return /[&<>]/.test(text) ? escapeAttribute(text) : text.replaceAll('##[', '##&#91;')
}

function escapeAttribute(text: string): string {
  return text.replace(/[&<>"']|##\[/g, (found) => ENTITIES[found] ?? '')
}

// JSON.

/** An escape sequence replaces what is invisible, and what would be a command of the runner. So nothing is lost. */
export function safeJson(json: string | Untrusted): string {
  return withVisibleEscapes(rawText(json)).replaceAll('##[', '##\\u005b')
}
