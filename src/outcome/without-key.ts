import type { Failure } from './failure.ts'
import type { Run, TestCase } from './run.ts'
import type { StepResult } from './step-result.ts'

/** Puts `***` in the place of the API key. */
export type Redact = (text: string) => string

const MASK = '***'

/** A shorter piece of base64 could be a piece of anything. The key itself is masked however short it is. */
const SHORTEST_BASE64_CHARS = 8

/** Masks the key as it is, and in the forms that others echo it in: in an address, JSON, HTML, XML and base64. */
export function keyRedaction(apiKey: string): Redact {
  if (apiKey === '') return (text) => text
  const inBase64 = [0, 1, 2].flatMap((bytesBefore) => base64Of(apiKey, bytesBefore))
  const forms = inBase64.filter((form) => form.length >= SHORTEST_BASE64_CHARS).map(literally)
  const pattern = new RegExp([anyFormOf(apiKey), ...forms].join('|'), 'g')
  return (text) => text.replace(pattern, MASK)
}

/** A pattern for the key, however its characters are escaped. Nothing in it repeats without end, for texts are long. */
function anyFormOf(apiKey: string): string {
  const pieces = apiKey.match(/\\+|[^\\]/g) ?? []
  return pieces
    .map((piece, index) => {
      if (/[\w.~-]/.test(piece)) return literally(piece)
      const length = piece.length
      // JSON doubles backslashes, JSON within JSON doubles them again, and what follows may have some of its own.
      if (piece.startsWith('\\')) return `(?:(?:${codesOf('\\')}){${length}}|\\\\{${length},${4 * length + 3}})`
      const isAfterBackslash = pieces[index - 1]?.startsWith('\\') === true
      return `(?:${codesOf(piece)}|${isAfterBackslash ? '' : '\\\\{0,3}'}${literally(piece)})`
    })
    .join('')
}

/** In an address, in JSON for a page, in HTML and XML. */
function codesOf(character: string): string {
  const code = character.charCodeAt(0)
  const hex = Array.from(code.toString(16), (digit) => `[${digit}${digit.toUpperCase()}]`).join('')
  const name = NAMES_IN_MARKUP[character]
  return `%${hex}|\\\\{1,3}u00${hex}|&(?:${name === undefined ? '' : `${name}|`}#0{0,5}${code}|#[xX]0{0,5}${hex});`
}

const NAMES_IN_MARKUP: Readonly<Record<string, string>> = { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot', "'": 'apos' }

function literally(text: string): string {
  return text.replace(/\W/g, '\\$&')
}

/** What of the base64 form of a text is the key's alone, whatever stands before it and after it. */
function base64Of(apiKey: string, bytesBefore: number): readonly string[] {
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
    case 'no-response':
      return redactTexts(failure, ['reason'], redact)
    case 'untrusted-certificate':
      return redactTexts(failure, ['code'], redact)
    case 'status':
      return redactTexts(failure, ['error', 'location'], redact)
    case 'invalid-response':
      return redactTexts(failure, ['expected', 'got'], redact)
    case 'aborted':
      return failure
  }
}

/** What is told of a run, without the key. What the service sent stays in `raw`, as it was. */
export function runWithoutKey(run: Run, redact: Redact): Run {
  const told = redactTexts(run, ['rawStatus', 'branchName'], redact)
  if (run.testCases === undefined) return told
  const mended = (testCase: TestCase) => redactTexts(testCase, ['title', 'status'], redact)
  return { ...told, testCases: mapped(run.testCases, mended) }
}

/**
 * The result with the API key masked in what the user gave and in an id that was refused. What the service says comes
 * without it already (service/key-free-service.ts).
 */
export function resultWithoutKey(result: StepResult, redact: Redact): StepResult {
  const { ending, parameters, target } = result
  return {
    ...redactTexts(result, ['runId'], redact),
    parameters: redactTexts(parameters, ['branch', 'environment', 'frameworkProject', 'runGroup'], redact),
    target:
      target.kind === 'project'
        ? redactTexts(target, ['projectId'], redact)
        : redactTexts(target, ['testSuiteId'], redact),
    ending: ending.kind === 'gave-up' ? { ...ending, failure: failureWithoutKey(ending.failure, redact) } : ending,
  }
}

/** The value with the key masked in the texts of these names; itself where the key is in none of them. */
function redactTexts<Value extends object>(value: Value, names: readonly (keyof Value)[], redact: Redact): Value {
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
