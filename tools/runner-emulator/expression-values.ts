// The values of GitHub's expression language: how they compare, convert and are looked into.

export type ExpressionValue =
  | null
  | boolean
  | number
  | string
  | readonly ExpressionValue[]
  | { readonly [name: string]: ExpressionValue }

/** What a value becomes where text is wanted. */
export function toText(value: ExpressionValue): string {
  if (value === null) return ''
  if (typeof value === 'number') return numberToText(value)
  if (isArray(value)) return 'Array'
  return typeof value === 'object' ? 'Object' : String(value)
}

interface KnownFunction {
  readonly least: number
  readonly most: number
  readonly apply: (parameters: readonly ExpressionValue[]) => ExpressionValue
}

/** By their names in lower case. Status functions are not among them. */
export const FUNCTIONS: ReadonlyMap<string, KnownFunction> = new Map<string, KnownFunction>([
  ['contains', { least: 2, most: 2, apply: ([within = null, what = null]) => contains(within, what) }],
  ['startswith', { least: 2, most: 2, apply: (texts) => compareTexts(texts, (text, part) => text.startsWith(part)) }],
  ['endswith', { least: 2, most: 2, apply: (texts) => compareTexts(texts, (text, part) => text.endsWith(part)) }],
  ['format', { least: 1, most: 255, apply: ([pattern = null, ...values]) => format(toText(pattern), values) }],
  ['join', { least: 1, most: 2, apply: ([items = null, separator = ',']) => join(items, separator) }],
  ['tojson', { least: 1, most: 1, apply: ([value = null]) => toJson(value) }],
  ['fromjson', { least: 1, most: 1, apply: ([text = null]) => JSON.parse(toText(text)) as ExpressionValue }],
])

function contains(within: ExpressionValue, what: ExpressionValue): boolean {
  if (isArray(within)) return within.some((item) => areEqual(item, what))
  return compareTexts([within, what], (text, part) => text.includes(part))
}

function compareTexts(
  [text = null, part = null]: readonly ExpressionValue[],
  holds: (text: string, part: string) => boolean,
): boolean {
  return isPrimitive(text) && isPrimitive(part) && holds(foldCase(toText(text)), foldCase(toText(part)))
}

function format(pattern: string, values: readonly ExpressionValue[]): string {
  return pattern.replace(/\{\{|\}\}|\{(\d+)\}|[{}]/g, (match: string, index: string | undefined) => {
    if (match === '{{' || match === '}}') return match.slice(1)
    if (index === undefined || Number(index) >= values.length) {
      throw new Error(
        `format() cannot use ${JSON.stringify(pattern)} with ${values.length} values: look at "${match}".`,
      )
    }
    return toText(values[Number(index)] ?? null)
  })
}

function join(items: ExpressionValue, separator: ExpressionValue): string {
  if (isPrimitive(items)) return toText(items)
  return isArray(items) ? items.map(toText).join(isPrimitive(separator) ? toText(separator) : ',') : ''
}

function toJson(value: ExpressionValue): string {
  // The runner's JSON writer escapes these three line ends; JSON.stringify leaves them.
  return JSON.stringify(value, null, 2).replace(
    /[\u0085\u2028\u2029]/g,
    (lineEnd) => `\\u${lineEnd.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** What `*` yields. Asked for a property, it answers with that property of each of its items. */
class FilteredArray extends Array<ExpressionValue> {}

/** `of.*` */
export function allOf(of: ExpressionValue): ExpressionValue {
  if (of instanceof FilteredArray) return FilteredArray.from(of.flatMap((item) => childrenOf(item)))
  return FilteredArray.from(childrenOf(of))
}

function childrenOf(of: ExpressionValue): readonly ExpressionValue[] {
  if (isPrimitive(of)) return []
  return isArray(of) ? of : Object.values(of)
}

/** `of[key]`; whatever is not there is null. Names are compared without case. */
export function at(of: ExpressionValue, key: ExpressionValue): ExpressionValue {
  if (of instanceof FilteredArray) {
    return FilteredArray.from(of.map((item) => child(item, key)).filter((item) => item !== undefined))
  }
  return child(of, key) ?? null
}

function child(of: ExpressionValue, key: ExpressionValue): ExpressionValue | undefined {
  if (isPrimitive(of) || !isPrimitive(key)) return undefined
  if (isArray(of)) {
    const index = Math.floor(toNumber(key))
    return index >= 0 ? of[index] : undefined
  }
  const wanted = toText(key)
  const name = Object.hasOwn(of, wanted) ? wanted : Object.keys(of).find((known) => sameText(known, wanted))
  return name === undefined ? undefined : of[name]
}

function isArray(value: ExpressionValue): value is readonly ExpressionValue[] {
  return Array.isArray(value)
}

function isPrimitive(value: ExpressionValue): value is null | boolean | number | string {
  return value === null || typeof value !== 'object'
}

export function isTruthy(value: ExpressionValue): boolean {
  return Boolean(value)
}

export function areEqual(left: ExpressionValue, right: ExpressionValue): boolean {
  if (!isPrimitive(left) || !isPrimitive(right)) return left === right
  if (typeof left === 'string' && typeof right === 'string') return sameText(left, right)
  if (typeof left === typeof right) return left === right
  return toNumber(left) === toNumber(right)
}

export function isOrdered(operator: string, left: ExpressionValue, right: ExpressionValue): boolean {
  if (operator.endsWith('=') && areEqual(left, right)) return true
  if (!isPrimitive(left) || !isPrimitive(right) || (left === null && right === null)) return false
  const bothText = typeof left === 'string' && typeof right === 'string'
  const [first, second] = bothText ? [foldCase(left), foldCase(right)] : [toNumber(left), toNumber(right)]
  return operator.startsWith('<') ? first < second : first > second
}

export function toNumber(value: null | boolean | number | string): number {
  if (typeof value !== 'string') return Number(value)
  const text = value.trim()
  const isPlain = /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(text)
  const isPrefixed = /^0(x[\da-f]+|o[0-7]+)$/i.test(text) && /^0[xo]/.test(text)
  const isInfinite = /^-?Infinity$/.test(text)
  return text === '' || isPlain || isPrefixed || isInfinite ? Number(text) : Number.NaN
}

/** .NET's "G15": at most 15 digits, an exponent from 1E+15 on and from 1E-05 down. */
function numberToText(value: number): string {
  if (!Number.isFinite(value)) return String(value)
  const [digits = '', exponent = ''] = value.toExponential(14).split('e')
  const power = Number(exponent)
  if (power > -5 && power < 15) return Object.is(value, -0) ? '-0' : String(Number(value.toPrecision(15)))
  const sign = power < 0 ? '-' : '+'
  return `${digits.replace(/\.?0+$/, '')}E${sign}${String(Math.abs(power)).padStart(2, '0')}`
}

/** Without case, as names and texts are compared everywhere. */
export function sameText(left: string, right: string): boolean {
  return foldCase(left) === foldCase(right)
}

/** Ordinal case folding, character by character: "ß" stays itself where `toUpperCase` makes "SS" of it. */
function foldCase(text: string): string {
  return text.replace(/\P{ASCII}|[a-z]+/gu, (part) => {
    const upper = part.toUpperCase()
    return upper.length === part.length ? upper : part
  })
}
