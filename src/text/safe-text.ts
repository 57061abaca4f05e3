import { type Untrusted, untrusted } from './untrusted.ts'
import { isSecure } from './web-address.ts'

// The only way out for text that is not ours. Each sink has a template tag (JSON, a function): the literal parts are
// ours and stand as written; every value between them, whoever wrote it, is made safe for that sink. The outputs take
// only what was made here, so that raw text cannot reach them.

declare const brand: unique symbol

class SafeText<Name extends string> {
  declare readonly [brand]: Name
  readonly sink: Name
  readonly text: string
  /** What a log line was made of: in another sink it is written anew. */
  readonly source: Fragment | undefined

  constructor(sink: Name, text: string, source?: Fragment) {
    this.sink = sink
    this.text = text
    this.source = source
  }
}

export type LogLine = SafeText<'log line'>
/** HTML within Markdown, for the job summary and the pull request comment. */
export type Html = SafeText<'HTML'>
export type Xml = SafeText<'XML'>

/** Part of a sentence, not yet made for a sink: every tag takes it, escapes its words and makes its values safe there. */
class Fragment {
  readonly write: (sink: Sink) => string

  constructor(write: (sink: Sink) => string) {
    this.write = write
  }
}

type Value = string | number | Untrusted | Fragment

// As a type alone: a fragment made by hand could write anybody's words.
export type { Fragment }

/** A long text, of which V8 would keep every part that `+=` adds: here the parts are bytes at once. */
export class LongText {
  readonly #chunks: Buffer[] = []
  #tail = ''

  add(safe: Html | Xml): void {
    this.#tail += safe.text
    if (this.#tail.length > 65_536) this.#flush()
  }

  toBuffer(): Buffer {
    this.#flush()
    return Buffer.concat(this.#chunks)
  }

  #flush(): void {
    this.#chunks.push(Buffer.from(this.#tail))
    this.#tail = ''
  }
}

export function render(safe: LogLine | Html | Xml): string {
  return safe.text
}

/**
 * Words of a sentence. The name of an input or a variable goes in as a value, as in `${'base-url'}`, although it is ours:
 * pages then show it as code.
 */
export function fragment(literals: TemplateStringsArray, ...values: readonly Value[]): Fragment {
  return new Fragment((sink) => write(sink, literals.map(sink.words), values))
}

/** A value in quotation marks; in HTML the `<code>` around every value says the same. Its limit is the same in each sink. */
export function quote(value: string | Untrusted, limitChars: number): Fragment {
  return new Fragment((sink) => sink.quote(oneLine(truncateCharacters(value as string, limitChars))))
}

export function untruncated(value: string | Untrusted): Fragment {
  return new Fragment((sink) => sink.text(oneLine(value as string)))
}

/** Words that lead to a page; in text and XML the address follows them. Words alone if the address is not one of the web. */
export function link(url: string, words: Fragment): Fragment {
  const address = URL.parse(url)
  if (address === null || !isSecure(address)) return words
  return new Fragment((sink) => sink.link(address.href, words.write(sink)))
}

interface Sink {
  readonly name: string
  readonly limitChars: number
  words(literal: string): string
  text(sanitized: string): string
  quote(sanitized: string): string
  number(value: number): string
  link(url: string, words: string): string
}

function write(sink: Sink, literals: readonly string[], values: readonly unknown[]): string {
  let text = literals[0] ?? ''
  for (let index = 0; index < values.length; index++) {
    text += writeValue(sink, values[index]) + (literals[index + 1] ?? '')
  }
  return text
}

function writeValue(sink: Sink, value: unknown): string {
  if (typeof value === 'string') return sink.text(oneLine(value, sink.limitChars))
  if (typeof value === 'number') return sink.number(value)
  if (value instanceof Fragment) return value.write(sink)
  if (value instanceof SafeText && value.sink === sink.name) return value.text
  if (value instanceof SafeText) return writeValue(sink, value.source ?? value.text)
  if (Array.isArray(value)) return value.map((item) => writeValue(sink, item)).join('')
  return writeValue(sink, String(value))
}

function readableNumber(value: number): string {
  return Number.isInteger(value) ? String(value).replace(/\B(?=(?:\d{3})+$)/g, ',') : String(value)
}

// Each expression below matches one character, or repeats one plain class: on a string of millions of characters
// anything else overflows the stack of the regular expression engine, or takes quadratic time.

/** Most text is plainly visible, and needs no more. */
const PLAINLY_VISIBLE =
  /^[ -~\u00A1-\u00AC\u00AE-\u034E\u0370-\u05FF\u0900-\u10FF\u2010-\u2027\u2030-\u205E\u2070-\u3130\u3165-\uD7FF]*$/
// Controls, bidi and zero-width characters, line separators, lone surrogates, and what Unicode reserves. The two
// variation selectors that choose between text and emoji stay.
const INVISIBLE = /[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{DI}\p{NChar}]--[\uFE0E\uFE0F]]/gv
/** A terminal's colours, cursor movements, titles and links: CSI and OSC sequences, whole. */
const TERMINAL_SEQUENCE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for
  /(?:\u001B\[|\u009B)[0-?]*[ -/]*[@-~]|\u001B\][^\u0007\u001B]*(?:\u0007|\u001B\\)/g
/** NUL stands for what was invisible. */
const REMOVED = /\0+/g

/** Text on one line, in visible characters, still to be escaped: for reports that compare or name things by it. */
export function sanitize(value: string | Untrusted, limitChars?: number): Untrusted {
  return untrusted(oneLine(value as string, limitChars))
}

/** Truncates before anything else is done. What is invisible leaves a space behind, so that words do not run together. */
function oneLine(value: string, limitChars = Number.POSITIVE_INFINITY): string {
  const text = truncate(value, limitChars)
  if (PLAINLY_VISIBLE.test(text)) return text.trim()
  return text.replace(TERMINAL_SEQUENCE, '\0').replace(INVISIBLE, '\0').replace(REMOVED, ' ').trim()
}

/** At most `limitChars` UTF-16 units, never half a character; an ellipsis stands for what was removed. */
function truncate(text: string, limitChars: number): string {
  if (text.length <= limitChars) return text
  const splitsPair = /[\uD800-\uDBFF]/.test(text.charAt(limitChars - 2))
  return `${text.slice(0, splitsPair ? limitChars - 2 : limitChars - 1)}…`
}

/** At most `limitChars` Unicode characters. A character may have two UTF-16 units. */
function truncateCharacters(text: string, limitChars: number): string {
  if (text.length <= limitChars) return text
  const characters = [...text.slice(0, 2 * (limitChars + 1))]
  return characters.length <= limitChars ? text : `${characters.slice(0, limitChars - 1).join('')}…`
}

/** GitHub truncates messages at 4,096. */
const LINE_LIMIT_CHARS = 4000

const LINE: Sink = {
  name: 'log line',
  limitChars: 1000,
  words: (literal) => literal,
  text: (value) => value,
  quote: (value) => `“${value}”`,
  number: readableNumber,
  link: (url, words) => `${words} (${url})`,
}

/** `logLine\`Run ${id}: ${status}\``: one log line in which no value can start a workflow command or move the cursor. */
export function logLine(literals: TemplateStringsArray, ...values: readonly (Value | LogLine)[]): LogLine {
  const text = write(LINE, literals, values)
    // The runner obeys `##[name]` anywhere in a line, and `::name::` at its start.
    .replace(/#(?=#\[)/g, '# ')
    .replace(/^\s*:(?=:)/, ': ')
  return new SafeText('log line', truncate(text, LINE_LIMIT_CHARS), fragment(literals, ...(values as Value[])))
}

/**
 * The message of an error or warning command. If the runner cuts between the halves of a surrogate pair, at 256 UTF-16
 * units or at 4,096, its worker crashes and the job has no result. Masks can make a message of any length longer.
 */
export function commandMessage(message: LogLine): string {
  return render(message).replace(/[\u{10000}-\u{10FFFF}]/gu, '\uFFFD')
}

const HTML: Sink = {
  name: 'HTML',
  limitChars: 300,
  words: escapeText,
  text: inCode,
  quote: inCode,
  number: readableNumber,
  link: (url, words) => `<a href="${escapeAttribute(url)}">${words}</a>`,
}

/**
 * Values stand as escaped text in `<code>`: GitHub looks for mentions, references and links everywhere but there, and
 * neither backslashes nor entities stop it. If the literal has a value, it must begin its line with a block-level HTML
 * tag, because Markdown is not parsed there.
 */
export function html(
  literals: TemplateStringsArray,
  ...values: readonly (Value | LogLine | Html | readonly Html[])[]
): Html {
  return new SafeText('HTML', write(HTML, literals, values))
}

function inCode(value: string): string {
  return `<code>${escapeText(value)}</code>`
}

/** A hidden comment of ours, as written; an HTML comment is all that it can be. */
export function hiddenMarker(marker: string): Html {
  if (!/^<!--[^\n\r>]*-->$/.test(marker)) throw new TypeError('A marker must be one HTML comment on one line')
  return new SafeText('HTML', marker)
}

const XML: Sink = {
  name: 'XML',
  limitChars: 1000,
  words: escapeAttribute,
  text: escapeAttribute,
  quote: (value) => `“${escapeAttribute(value)}”`,
  number: String,
  link: (url, words) => `${words} (${escapeAttribute(url)})`,
}

/** Values are fit for text and for attributes in double quotes; characters that XML 1.0 forbids are removed. */
export function xml(literals: TemplateStringsArray, ...values: readonly (Value | LogLine | Xml)[]): Xml {
  return new SafeText('XML', write(XML, literals, values))
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
}

/**
 * The runner masks the user's secrets in the summary as they are, and with all five characters escaped as XML does, but
 * not in a mixture: quotation marks stay as they are unless something else must be escaped.
 */
function escapeText(text: string): string {
  return /[&<>]/.test(text) ? escapeAttribute(text) : escapeCommands(text)
}

function escapeAttribute(text: string): string {
  return /[&<>"'#]/.test(text) ? escapeCommands(text.replace(/[&<>"']/g, entity)) : text
}

function entity(character: string): string {
  return ENTITIES[character] ?? ''
}

function escapeCommands(text: string): string {
  return text.replaceAll('##[', '##&#91;')
}

/** Nothing is lost: what is invisible, or would be a command of the runner, is written as an escape sequence. */
export function json(value: unknown): string {
  return escapeJson(JSON.stringify(value) ?? 'null')
}

/** JSON that somebody else wrote, with everything at its place, made safe like `json`. */
export function inertJson(text: Untrusted | undefined): string {
  return escapeJson((text as string | undefined) ?? 'null')
}

// White space between the parts of JSON stays. Within its strings JSON has none but the space.
const PLAIN_JSON = new RegExp(PLAINLY_VISIBLE.source.replace('[', '[\\t\\n\\r'))
const INVISIBLE_IN_JSON = new RegExp(INVISIBLE.source.replace('--[', '--[\\t\\n\\r'), 'gv')

function escapeJson(text: string): string {
  if (PLAIN_JSON.test(text) && !text.includes('##[')) return text
  return text.replace(INVISIBLE_IN_JSON, escapeSequence).replaceAll('##[', '##\\u005b')
}

function escapeSequence(character: string): string {
  const units = character.split('').map((unit) => unit.charCodeAt(0).toString(16).padStart(4, '0'))
  return `\\u${units.join('\\u')}`
}
