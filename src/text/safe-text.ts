import { TERMINAL_SEQUENCE, withoutTerminalSequences } from './terminal.ts'
import { type Untrusted, untrusted } from './untrusted.ts'
import { isSecure } from './web-address.ts'

// Text of others leaves the action only through this file. A sink is a format: the log, HTML or XML. JSON and
// workflow commands have functions of their own. A template tag makes
// a fragment, HTML or XML. The literal parts of a template are ours, and every value between them is made safe for the sink.
// The log, the summary and the comment accept only text that was made here.

declare const brand: unique symbol

class SafeText<Name extends string> {
  declare readonly [brand]: Name
  readonly sink: Name
  readonly text: string

  constructor(sink: Name, text: string) {
    this.sink = sink
    this.text = text
  }
}

/** The value of a property of a workflow command, such as the file of an annotation. */
export type CommandProperty = SafeText<'command property'>
/** HTML within Markdown, for the job summary and the pull request comment. */
export type Html = SafeText<'HTML'>
export type Xml = SafeText<'XML'>

/**
 * Words of ours with values between them: a sentence, several sentences, or a part of a sentence. Each sink writes it with
 * its words escaped and its values made safe.
 */
class Fragment {
  declare readonly [brand]: 'fragment'
  readonly write: (sink: Sink) => string

  constructor(write: (sink: Sink) => string) {
    this.write = write
  }
}

type Value = string | number | Untrusted | Fragment

// Only the type is exported, because a fragment that is made elsewhere could write raw text.
export type { Fragment }

/** A long text. Its parts become bytes early, because V8 keeps every part of a string that `+=` makes. */
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

/** The text. A fragment becomes text for the log. It is one line, unless a caller put the lines of a
 * message or a line break into it. */
export function render(safe: Fragment | Html | Xml | CommandProperty): string {
  return safe instanceof Fragment ? withoutCommands(safe.write(LINE)) : safe.text
}

/** Pass the name of an input as a value (`${'base-url'}`), because pages show values as code. */
export function fragment(literals: TemplateStringsArray, ...values: readonly Value[]): Fragment {
  return new Fragment((sink) => write(sink, literals.map(sink.words), values))
}

/** A value in quotation marks, or in HTML in `<code>`. `limitChars` replaces the sink's own limit. */
export function quote(value: string | Untrusted, limitChars: number): Fragment {
  return new Fragment((sink) => sink.quote(oneLine(value as string, limitChars)))
}

export function untruncated(value: string | Untrusted): Fragment {
  return new Fragment((sink) => sink.text(oneLine(value as string)))
}

/** The lines of a message that somebody else wrote, with their indentation. Each sink has its own line break. */
export function linesOf(message: Untrusted): Fragment {
  const visible = visibleLines(message as unknown as string)
  return new Fragment((sink) => sink.lines(visible))
}

/** How much of a message is shown. */
export interface MessageLimit {
  readonly lines: number
  readonly chars: number
}

/** The first lines of a message. An ellipsis replaces what is left out. Blank lines at both ends do not count. */
export function beginningOf(message: Untrusted, limit: MessageLimit): Fragment {
  const all = withoutBlankEnds(visibleLines(message as unknown as string))
  const ellipsis = all.length > limit.lines ? ' …' : ''
  const first = `${all.slice(0, limit.lines).join('\n')}${ellipsis}`
  const shown = truncate(first, limit.chars).split('\n')
  return new Fragment((sink) => sink.lines(shown))
}

/** The first line of a message that is not blank. Empty if there is none. A line over 10,000 characters counts as several. */
export function firstLineOf(message: Untrusted): Untrusted {
  // Not `split`, because a hostile message may have millions of lines.
  for (const [line] of (message as unknown as string).matchAll(/[^\n\r]{1,10000}/g)) {
    const visible = visibleLine(line).trim()
    if (visible !== '') return untrusted(visible)
  }
  return untrusted('')
}

/** A message in visible characters, but not escaped. Its lines and their indentation stay. */
export function visibleMessage(message: Untrusted): Untrusted {
  return untrusted(visibleLines(message as unknown as string).join('\n'))
}

/**
 * Words with a link. In text and XML, the address follows the words. If the address is not secure, the words stay
 * alone.
 */
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
  lines(visible: readonly string[]): string
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
  if (Array.isArray(value)) return value.map((item) => writeValue(sink, item)).join('')
  throw new TypeError('A value is neither text, a number, a fragment, nor text for this sink')
}

function readableNumber(value: number): string {
  return Number.isInteger(value) ? String(value).replace(/\B(?=(?:\d{3})+$)/g, ',') : String(value)
}

// Each expression below matches one character, or repeats one class of characters. On a string of millions of
// characters, other expressions overflow the engine's stack or take quadratic time.

/** Most text has only these characters, and needs no replacement. */
const PLAIN = String.raw` -~\u00A1-\u00AC\u00AE-\u034E\u0370-\u05FF\u0900-\u10FF\u2010-\u2027\u2030-\u205E\u2070-\u3130\u3165-\uD7FF`
const PLAIN_TEXT = new RegExp(`^[${PLAIN}]*$`)
/** JSON has these line ends and tabs only between its parts, and not in its strings. */
const PLAIN_JSON = new RegExp(`^[${PLAIN}\\t\\n\\r]*$`)
// Controls, bidi and zero-width characters, line separators, lone surrogates, and what Unicode reserves. The two
// variation selectors that choose between text and emoji stay.
const INVISIBLE = /[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{DI}\p{NChar}]--[\uFE0E\uFE0F]]/gv
/** `oneLine` first writes NUL in place of what is invisible. INVISIBLE with a `+` would overflow the engine's stack. */
const REMOVED = /\0+/g

/** Text on one line, in visible characters, but not escaped. Reports compare such texts, and make names of them. */
export function visibleText(value: string | Untrusted, limitChars?: number): Untrusted {
  return untrusted(oneLine(value as string, limitChars))
}

/** Truncates first, because the text may be very long. A space replaces what is invisible, so that words stay apart. */
function oneLine(value: string, limitChars = Number.POSITIVE_INFINITY): string {
  const text = truncate(value, limitChars)
  if (PLAIN_TEXT.test(text)) return text.trim()
  return text.replace(TERMINAL_SEQUENCE, '\0').replace(INVISIBLE, '\0').replace(REMOVED, ' ').trim()
}

/** Each line of a text, in visible characters and tabs. Blanks stay. */
function visibleLines(text: string): readonly string[] {
  return text.split(/\r\n|[\n\r]/).map(visibleLine)
}

function visibleLine(line: string): string {
  if (PLAIN_TEXT.test(line)) return line
  return withoutTerminalSequences(line).replace(INVISIBLE, (character) => (character === '\t' ? character : ' '))
}

/** At most `limitChars` Unicode characters, each of one or two UTF-16 units. An ellipsis replaces what was removed. */
export function truncate(text: string, limitChars: number): string {
  if (text.length <= limitChars) return text
  const characters = [...text.slice(0, 2 * (limitChars + 1))]
  return characters.length <= limitChars ? text : `${characters.slice(0, limitChars - 1).join('')}…`
}

const LINE: Sink = {
  name: 'log line',
  limitChars: 1000,
  words: (literal) => literal,
  text: (value) => value,
  quote: (value) => `“${value}”`,
  number: readableNumber,
  lines: (visible) => visible.join('\n'),
  link: (url, words) => `${words} (${url})`,
}

const OLD_COMMAND = /#(?=#\[)/g

/** The runner obeys `##[name]` anywhere in a line of the log, and `::name::` at its start. */
function withoutCommands(text: string): string {
  return text.replace(OLD_COMMAND, '# ').replace(/^([^\S\n]*):(?=:)/gm, '$1: ')
}

/** GitHub truncates messages at 4,096. */
const MESSAGE_LIMIT_CHARS = 4000

/**
 * The message of an error or warning command. If the runner cuts between the halves of a surrogate pair, at 256 UTF-16
 * units or at 4,096, its worker crashes and the job has no result. So there are no pairs. Truncating alone would not
 * help, because masks make the message longer afterwards.
 */
export function commandMessage(message: Fragment): string {
  return truncate(inBasicPlane(render(message)), MESSAGE_LIMIT_CHARS)
}

function inBasicPlane(text: string): string {
  return text.replace(/[\u{10000}-\u{10FFFF}]/gu, '\uFFFD')
}

/** `@actions/core` escapes the characters that would end the property. */
export function commandProperty(value: Untrusted): CommandProperty {
  return new SafeText('command property', inBasicPlane(oneLine(value as unknown as string)).replace(OLD_COMMAND, '# '))
}

const HTML: Sink = {
  name: 'HTML',
  limitChars: 300,
  words: escapeText,
  text: inCode,
  quote: inCode,
  number: readableNumber,
  lines: (visible) =>
    withoutBlankEnds(visible)
      .map((line) => (line.trim() === '' ? '' : inCode(line)))
      .join('<br>'),
  link: (url, words) => `<a href="${escapeAttribute(url)}">${words}</a>`,
}

/**
 * Values are escaped text in `<code>`, because GitHub finds mentions, references and links everywhere else. Begin each
 * line that has a value with a block-level HTML tag, because GitHub parses no Markdown after such a tag.
 */
export function html(literals: TemplateStringsArray, ...values: readonly (Value | Html | readonly Html[])[]): Html {
  return new SafeText('HTML', write(HTML, literals, values))
}

function withoutBlankEnds(lines: readonly string[]): readonly string[] {
  const isText = (line: string) => line.trim() !== ''
  const first = lines.findIndex(isText)
  return first === -1 ? [] : lines.slice(first, lines.findLastIndex(isText) + 1)
}

function inCode(value: string): string {
  return `<code>${escapeText(value)}</code>`
}

/** An HTML comment of our own words, which pages do not show. */
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
  // A program may print the file to the log of a job.
  lines: (visible) => visible.map((line) => escapeAttribute(line).replace(/^(\s*):(?=:)/, '$1&#58;')).join('\n'),
  link: (url, words) => `${words} (${escapeAttribute(url)})`,
}

/** Values may be text, or attributes in double quotes. Characters that XML 1.0 forbids are removed. */
export function xml(literals: TemplateStringsArray, ...values: readonly (Value | Xml)[]): Xml {
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
 * The runner masks a secret that is written raw, or with all five of & < > " ' escaped, and no mixture. So quotation
 * marks are escaped only if another character must be.
 */
function escapeText(text: string): string {
  return /[&<>]/.test(text) ? escapeAttribute(text) : escapeCommands(text)
}

function escapeAttribute(text: string): string {
  return escapeCommands(text.replace(/[&<>"']/g, entity))
}

function entity(character: string): string {
  return ENTITIES[character] ?? ''
}

function escapeCommands(text: string): string {
  return text.replaceAll('##[', '##&#91;')
}

/** An escape sequence replaces what is invisible, and what would be a command of the runner. So nothing is lost. */
export function json(value: unknown): string {
  return escapeJson(JSON.stringify(value))
}

/** JSON that somebody else wrote, made safe like `json`. Its order and its numbers do not change. */
export function safeJson(text: Untrusted): string {
  return escapeJson(text as unknown as string)
}

function escapeJson(text: string): string {
  if (PLAIN_JSON.test(text) && !text.includes('##[')) return text
  const visible = text.replace(INVISIBLE, (found) => ('\t\n\r'.includes(found) ? found : escapeSequence(found)))
  return visible.replaceAll('##[', '##\\u005b')
}

function escapeSequence(character: string): string {
  const units = character.split('').map((unit) => unit.charCodeAt(0).toString(16).padStart(4, '0'))
  return `\\u${units.join('\\u')}`
}
