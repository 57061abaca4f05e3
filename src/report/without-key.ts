import type { Failure } from '../domain/errors.ts'
import type { Run, TestCase } from '../domain/run.ts'
import type { StepResult } from '../domain/step-result.ts'
import type { Cancellation, Ending } from '../domain/verdict.ts'

const MASK = '***'

/** JSON nested deeper than this is no answer of a test service; parsers would not read it back either. */
const DEEPEST_JSON = 200

/**
 * The result with the API key masked wherever somebody repeated it. Done before any report is written: once text is
 * escaped or cut, the key is no longer found in it. Our own words (kinds, outcomes, conclusions) are no text and stay,
 * whatever the key; what the service sent stays for `jsonWithoutKey`.
 */
export function withoutKey(result: StepResult, apiKey: string): StepResult {
  if (apiKey === '') return result
  const mask: Mask = (value, names) => {
    let copy = value
    for (const name of names) {
      const text = value[name]
      if (typeof text !== 'string' || !text.includes(apiKey)) continue
      if (copy === value) copy = { ...value }
      copy[name] = redact(text, apiKey) as typeof text
    }
    return copy
  }
  return {
    ...mask(result, ['runId']),
    order: mask(result.order, ['branch', 'environment', 'frameworkProject', 'runGroup']),
    target:
      result.target.kind === 'project' ? mask(result.target, ['projectId']) : mask(result.target, ['testSuiteId']),
    ending: maskEnding(result.ending, mask),
    ...(result.run === undefined ? {} : { run: maskRun(result.run, mask) }),
  }
}

/** Masks the named texts of a value; it copies only what it changes. */
type Mask = <Value extends object>(value: Value, names: readonly (keyof Value)[]) => Value

function maskEnding(ending: Ending, mask: Mask): Ending {
  if (ending.kind === 'started') return ending
  const run = ending.run === undefined ? {} : { run: maskRun(ending.run, mask) }
  switch (ending.kind) {
    case 'finished':
      return { ...ending, run: maskRun(ending.run, mask) }
    case 'gave-up':
      return {
        ...ending,
        ...run,
        failure: maskFailure(ending.failure, mask),
        cancellation: maskCancellation(ending.cancellation, mask),
      }
    default:
      return { ...ending, ...run, cancellation: maskCancellation(ending.cancellation, mask) }
  }
}

function maskCancellation(cancellation: Cancellation, mask: Mask): Cancellation {
  if ('run' in cancellation && cancellation.run) return { ...cancellation, run: maskRun(cancellation.run, mask) }
  if ('failure' in cancellation && cancellation.failure) {
    return { ...cancellation, failure: maskFailure(cancellation.failure, mask) }
  }
  return cancellation
}

function maskFailure(failure: Failure, mask: Mask): Failure {
  switch (failure.kind) {
    case 'not-sent':
    case 'no-answer':
      return mask(failure, ['reason'])
    case 'untrusted-certificate':
      return mask(failure, ['code'])
    case 'status':
      return mask(failure, ['error'])
    case 'broken-answer':
      return mask(failure, ['expected', 'got'])
    case 'aborted':
      return failure
  }
}

function maskRun(run: Run, mask: Mask): Run {
  const told = mask(run, ['statusText', 'branchName'])
  if (run.testCases === undefined) return told
  return { ...told, testCases: mapped(run.testCases, (testCase: TestCase) => mask(testCase, ['title', 'status'])) }
}

/** Decoded JSON with the key masked in strings, names and numbers, and nested no deeper than parsers can follow. */
export function jsonWithoutKey(value: unknown, apiKey: string, depth = 0): unknown {
  if (typeof value === 'string') return redact(value, apiKey)
  if (typeof value === 'number') return apiKey !== '' && String(value).includes(apiKey) ? MASK : value
  if (typeof value !== 'object' || value === null) return value
  if (depth === DEEPEST_JSON) return `(left out: nested deeper than ${DEEPEST_JSON} levels)`
  if (Array.isArray(value)) return mapped(value, (item) => jsonWithoutKey(item, apiKey, depth + 1))
  const members = value as Readonly<Record<string, unknown>>
  const names = Object.keys(members)
  let entries: [name: string, member: unknown][] | undefined
  for (const [index, name] of names.entries()) {
    const member = members[name]
    const mended: [string, unknown] = [redact(name, apiKey), jsonWithoutKey(member, apiKey, depth + 1)]
    if (mended[0] !== name || mended[1] !== member) {
      entries ??= names.slice(0, index).map((before) => [before, members[before]])
    }
    entries?.push(mended)
  }
  return entries === undefined ? value : Object.fromEntries(entries)
}

export function redact(text: string, apiKey: string): string {
  return apiKey === '' ? text : text.replaceAll(apiKey, MASK)
}

/** A hundred thousand items of which none changes cost a look, and no memory. */
function mapped<Item>(items: readonly Item[], mend: (item: Item) => Item): readonly Item[] {
  let copy: Item[] | undefined
  for (const [index, item] of items.entries()) {
    const mended = mend(item)
    if (mended === item) continue
    copy ??= [...items]
    copy[index] = mended
  }
  return copy ?? items
}
