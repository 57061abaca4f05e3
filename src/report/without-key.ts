import type { StepResult } from '../domain/step-result.ts'
import { failureWithoutKey, mapped, type Redact, redactTexts } from '../domain/without-key.ts'

/** JSON nested deeper than this is no answer of a test service; parsers would not read it back either. */
const DEEPEST_JSON = 200

/**
 * The result with the API key masked in what the user gave and in an id that was refused. What the service says comes
 * without it already (service/open-service.ts); what it sent stays as it was, for `jsonWithoutKey`.
 */
export function resultWithoutKey(result: StepResult, redact: Redact): StepResult {
  const { ending, order, target } = result
  return {
    ...redactTexts(result, ['runId'], redact),
    order: redactTexts(order, ['branch', 'environment', 'frameworkProject', 'runGroup'], redact),
    target:
      target.kind === 'project'
        ? redactTexts(target, ['projectId'], redact)
        : redactTexts(target, ['testSuiteId'], redact),
    ending: ending.kind === 'gave-up' ? { ...ending, failure: failureWithoutKey(ending.failure, redact) } : ending,
  }
}

/** Decoded JSON with the key masked in strings, names and numbers, and nested no deeper than parsers can follow. */
export function jsonWithoutKey(value: unknown, redact: Redact, depth = 0): unknown {
  if (typeof value === 'string') return redact(value)
  if (typeof value === 'number') return redactedNumber(value, redact)
  if (typeof value !== 'object' || value === null) return value
  if (depth === DEEPEST_JSON) return `(left out: nested deeper than ${DEEPEST_JSON} levels)`
  if (Array.isArray(value)) return mapped(value, (item) => jsonWithoutKey(item, redact, depth + 1))
  const members = value as Readonly<Record<string, unknown>>
  const names = Object.keys(members)
  let entries: [name: string, member: unknown][] | undefined
  for (const [index, name] of names.entries()) {
    const member = members[name]
    const mended: [string, unknown] = [redact(name), jsonWithoutKey(member, redact, depth + 1)]
    if (mended[0] !== name || mended[1] !== member) {
      entries ??= names.slice(0, index).map((before) => [before, members[before]])
    }
    entries?.push(mended)
  }
  return entries === undefined ? value : Object.fromEntries(entries)
}

function redactedNumber(value: number, redact: Redact): number | string {
  const text = String(value)
  const redacted = redact(text)
  return redacted === text ? value : redacted
}
