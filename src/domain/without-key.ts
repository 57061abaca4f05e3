import type { Failure } from './errors.ts'
import type { Run, TestCase } from './run.ts'

/** Puts `***` in the place of the API key. */
export type Redact = (text: string) => string

const MASK = '***'

/** A shorter piece of an encoded key could be a piece of anything. The key itself is masked however short it is. */
const SHORTEST_ENCODING_CHARS = 8

/** Masks the key as the runner masks secrets in its log: as it is, and in the encodings that others echo it in. */
export function keyRedaction(apiKey: string): Redact {
  if (apiKey === '') return (text) => text
  const encodings = encodingsOf(apiKey).filter((encoding) => encoding.length >= SHORTEST_ENCODING_CHARS)
  const longestFirst = [...new Set([apiKey, ...encodings])].sort((one, other) => other.length - one.length)
  const pattern = new RegExp(longestFirst.map((text) => text.replace(/[^\w]/g, '\\$&')).join('|'), 'g')
  return (text) => text.replace(pattern, MASK)
}

function encodingsOf(apiKey: string): readonly string[] {
  const inUrl = encodeURIComponent(apiKey)
  const inMarkup = apiKey.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  return [
    inUrl,
    inUrl.replace(/%../g, (code) => code.toLowerCase()),
    JSON.stringify(apiKey).slice(1, -1),
    inMarkup,
    inMarkup.replaceAll('"', '&quot;').replaceAll("'", '&#39;'),
    inMarkup.replaceAll('"', '&quot;').replaceAll("'", '&apos;'),
    ...[0, 1, 2].flatMap((bytesBefore) => inBase64(apiKey, bytesBefore)),
  ]
}

/** What of the base64 form of a text is the key's alone, whatever stands before it and after it. */
function inBase64(apiKey: string, bytesBefore: number): readonly string[] {
  const base64 = Buffer.from(' '.repeat(bytesBefore) + apiKey)
    .toString('base64')
    .replace(/=+$/, '')
  const isShared = (bytesBefore + apiKey.length) % 3 !== 0
  const ownBits = base64.slice(Math.ceil((bytesBefore * 8) / 6), isShared ? -1 : undefined)
  return [ownBits, ownBits.replaceAll('+', '-').replaceAll('/', '_')]
}

/** What is not ours in a failure, without the key. */
export function failureWithoutKey(failure: Failure, redact: Redact): Failure {
  switch (failure.kind) {
    case 'not-sent':
    case 'no-answer':
      return redactTexts(failure, ['reason'], redact)
    case 'untrusted-certificate':
      return redactTexts(failure, ['code'], redact)
    case 'status':
      return redactTexts(failure, ['error'], redact)
    case 'broken-answer':
      return redactTexts(failure, ['expected', 'got'], redact)
    case 'aborted':
      return failure
  }
}

/** What is told of a run, without the key. What the service sent stays in `asSent`, as it was. */
export function runWithoutKey(run: Run, redact: Redact): Run {
  const told = redactTexts(run, ['statusText', 'branchName'], redact)
  if (run.testCases === undefined) return told
  const mended = (testCase: TestCase) => redactTexts(testCase, ['title', 'status'], redact)
  return { ...told, testCases: mapped(run.testCases, mended) }
}

/** The value with the key masked in the texts of these names; itself where the key is in none of them. */
export function redactTexts<Value extends object>(
  value: Value,
  names: readonly (keyof Value)[],
  redact: Redact,
): Value {
  let copy = value
  for (const name of names) {
    const text = value[name]
    if (typeof text !== 'string') continue
    const redacted = redact(text)
    if (redacted === text) continue
    if (copy === value) copy = { ...value }
    copy[name] = redacted as typeof text
  }
  return copy
}

/** A hundred thousand items of which none changes cost a look, and no memory. */
export function mapped<Item>(items: readonly Item[], mend: (item: Item) => Item): readonly Item[] {
  let copy: Item[] | undefined
  for (const [index, item] of items.entries()) {
    const mended = mend(item)
    if (mended === item) continue
    copy ??= [...items]
    copy[index] = mended
  }
  return copy ?? items
}
