import type { Untrusted } from '../outcome/untrusted.ts'
import { INVISIBLE, PLAINLY_VISIBLE, truncate, visible } from './visible-text.ts'

// The one door out for text that is not ours. Each place that text may go to has a template tag (JSON, a function):
// the literal parts are ours and stand as written, every interpolated value, whoever wrote it, is made inert for that
// place. The outputs take only what was made here, so that raw text cannot reach them.

declare const brand: unique symbol

class Inert<Place extends string> {
  declare readonly [brand]: Place
  readonly place: Place
  readonly text: string

  constructor(place: Place, text: string) {
    this.place = place
    this.text = text
  }
}

/** One line for the log or the message of an annotation. */
export type LogLine = Inert<'log line'>
/** HTML within Markdown, for the job summary and the pull request comment. */
export type Html = Inert<'HTML'>
/** A piece of an XML 1.0 document. */
export type Xml = Inert<'XML'>
/** JSON on one line, in visible characters alone. */
export type Json = Inert<'JSON'>

/** A sentence that is not yet made for a place: any tag takes it, and makes its values inert there. */
class Fragment {
  readonly literals: readonly string[]
  readonly values: readonly Value[]

  constructor(literals: readonly string[], values: readonly Value[]) {
    this.literals = literals
    this.values = values
  }
}

class Quote {
  readonly value: string | Untrusted

  constructor(value: string | Untrusted) {
    this.value = value
  }
}

type Value = string | number | Untrusted | Fragment | Quote

// As a type alone: a sentence made by hand could have anybody's words among its literals.
export type { Fragment }

/** Reads what a tag made, for the moment of writing it out. */
export function render(inert: LogLine | Html | Xml | Json): string {
  return inert.text
}

export function fragment(literals: TemplateStringsArray, ...values: readonly Value[]): Fragment {
  return new Fragment(literals, values)
}

/** A value in quotation marks; in HTML the `<code>` around every value says the same. */
export function quote(value: string | Untrusted, limitChars: number): Quote {
  return new Quote(truncate(value, limitChars))
}

interface Place {
  readonly name: string
  text(value: string): string
  quoted(value: string): string
  number(value: number): string
}

function write(place: Place, literals: readonly string[], values: readonly unknown[]): string {
  let text = literals[0] ?? ''
  for (let index = 0; index < values.length; index++) {
    text += writeValue(place, values[index]) + (literals[index + 1] ?? '')
  }
  return text
}

function writeValue(place: Place, value: unknown): string {
  if (typeof value === 'string') return place.text(value)
  if (typeof value === 'number') return place.number(value)
  if (value instanceof Fragment) return write(fragmentsIn(place), value.literals, value.values)
  if (value instanceof Quote) return place.quoted(value.value as string)
  if (value instanceof Inert) return value.place === place.name ? value.text : place.text(value.text)
  if (Array.isArray(value)) return value.map((item) => writeValue(place, item)).join('')
  return place.text(String(value))
}

/** Sentences are for people, also where the numbers around them are for programs. */
function fragmentsIn(place: Place): Place {
  return { ...place, number: readableNumber }
}

function readableNumber(value: number): string {
  return Number.isInteger(value) ? String(value).replace(/\B(?=(?:\d{3})+$)/g, ',') : String(value)
}

// --- log lines

const LINE_VALUE_LIMIT_CHARS = 1000
/** GitHub cuts messages at 4,096. */
const LINE_LIMIT_CHARS = 4000

const LINE: Place = {
  name: 'log line',
  text: (value) => inSight(value, LINE_VALUE_LIMIT_CHARS),
  quoted: (value) => `“${inSight(value, LINE_VALUE_LIMIT_CHARS)}”`,
  number: readableNumber,
}

/** `logLine\`Run ${id}: ${status}\``: one log line in which no value can start a workflow command or move the cursor. */
export function logLine(literals: TemplateStringsArray, ...values: readonly (Value | LogLine)[]): LogLine {
  const text = write(LINE, literals, values)
    // The runner obeys `##[name]` anywhere in a line, and `::name::` where a line starts.
    .replace(/#(?=#\[)/g, '# ')
    .replace(/^\s*:(?=:)/, ': ')
  return new Inert('log line', truncate(text, LINE_LIMIT_CHARS) as unknown as string)
}

function inSight(value: string, limitChars: number): string {
  return visible(truncate(value, limitChars)) as unknown as string
}

// --- HTML within Markdown

const HTML_VALUE_LIMIT_CHARS = 300

/**
 * Values stand as escaped text in `<code>`: GitHub looks for mentions, references and links everywhere but there, and
 * neither backslashes nor entities stop it. The literal must begin its line with a block-level HTML tag wherever it
 * has a value, for only there is Markdown asleep.
 */
export function html(
  literals: TemplateStringsArray,
  ...values: readonly (Value | Html | readonly (Html | Fragment)[])[]
): Html {
  return new Inert('HTML', write(HTML, literals, values))
}

/** As `html`, with values of any length. */
export function untruncatedHtml(literals: TemplateStringsArray, ...values: readonly (Value | Html)[]): Html {
  return new Inert('HTML', write(UNTRUNCATED_HTML, literals, values))
}

/**
 * As `html`, for a cell of a table: its long words may break on a narrow screen, as they do elsewhere by themselves.
 * Whoever searches the Markdown for such a word does not find it, so ids have no place here.
 */
export function cellHtml(literals: TemplateStringsArray, ...values: readonly (Value | Html)[]): Html {
  return new Inert('HTML', write(CELL_HTML, literals, values))
}

/** A link to an address of ours; words alone where it is none of the web. */
export function link(url: string, words: Fragment): Html {
  if (!/^https?:\/\//.test(url)) return html`${words}`
  return new Inert('HTML', `<a href="${escapeMarkup(visible(url) as unknown as string)}">${render(html`${words}`)}</a>`)
}

/** A hidden comment of ours, as written; an HTML comment is all that it can be. */
export function hiddenMarker(marker: string): Html {
  if (!/^<!--[^\n\r>]*-->$/.test(marker)) throw new TypeError('A marker must be one HTML comment on one line')
  return new Inert('HTML', marker)
}

const HTML = htmlPlace((value) => inSight(value, HTML_VALUE_LIMIT_CHARS))
const UNTRUNCATED_HTML = htmlPlace((value) => inSight(value, Number.POSITIVE_INFINITY))
const CELL_HTML = htmlPlace((value) => breakable(inSight(value, HTML_VALUE_LIMIT_CHARS)))

function htmlPlace(shown: (value: string) => string): Place {
  const text = (value: string) => `<code>${escapeMarkup(shown(value))}</code>`
  return { name: 'HTML', text, quoted: text, number: readableNumber }
}

/** Marks with NUL, which visible text cannot hold, where a long word may be broken. */
function breakable(text: string): string {
  return text.replace(LONG_WORD, (word) => word.replace(BREAKING_POINT, '$&\0'))
}

/** Shorter ones fit a phone's column whole, and are found in the page's source as they are. */
const LONG_WORD = /\S{25,}/gu
/** After punctuation, in a camel's dip, and where neither comes for ten letters and more are to follow. */
const BREAKING_POINT =
  /[/\\._:=,;&?-]+(?=.)|\p{Ll}(?=\p{Lu})|(?:(?!\p{Ll}\p{Lu})[^/\\._:=,;&?-]){10}(?=[^/\\._:=,;&?-]{3})/gu

const MARKUP: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '\0': '<wbr>',
}

function escapeMarkup(text: string): string {
  return text.replace(/[&<>"'\0]/g, (character) => MARKUP[character] ?? '').replaceAll('##[', '##&#91;')
}

// --- XML

const XML_VALUE_LIMIT_CHARS = 1000

const XML: Place = {
  name: 'XML',
  text: (value) => escapeMarkup(inSight(value, XML_VALUE_LIMIT_CHARS)),
  quoted: (value) => `“${escapeMarkup(inSight(value, XML_VALUE_LIMIT_CHARS))}”`,
  number: String,
}

/** Values are fit for text and for attributes; characters that XML 1.0 forbids are gone. */
export function xml(literals: TemplateStringsArray, ...values: readonly (Value | LogLine | Xml)[]): Xml {
  return new Inert('XML', write(XML, literals, values))
}

// --- JSON

/** Nothing is lost: what is invisible, or would be a command of the runner, is written as an escape sequence. */
export function json(value: unknown): Json {
  const text = JSON.stringify(value) ?? 'null'
  if (PLAINLY_VISIBLE.test(text) && !text.includes('##[')) return new Inert('JSON', text)
  return new Inert('JSON', text.replace(INVISIBLE, escaped).replaceAll('##[', '##\\u005b'))
}

function escaped(character: string): string {
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index))
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('')
}
