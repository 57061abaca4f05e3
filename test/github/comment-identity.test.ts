import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type CommentSubject,
  commentIdentity,
  hasMarker,
  isNewer,
  parseId,
  type RunOrder,
} from '../../src/github/comment-identity.ts'

const AGE: RunOrder = { runId: 1000n, attempt: 1n }
const SUBJECT: CommentSubject = { workflow: 'ci.yml', job: 'e2e', matrix: 'null', key: '' }

const anyText = fc.string({ unit: 'binary' })
const anySubject = fc.record({
  workflow: anyText,
  job: anyText,
  matrix: fc.oneof(fc.json(), anyText),
  key: anyText,
})

describe('the marker', () => {
  test('is one HTML comment of a fixed form, whatever it stands for', () => {
    fc.assert(
      fc.property(anySubject, fc.bigInt({ min: 0n, max: 10n ** 20n - 1n }), (subject, runId) => {
        const { marker } = commentIdentity(subject, { runId, attempt: 1n })
        expect(marker).toMatch(/^<!-- test-run-action [0-9a-f]{64} run \d{1,20} attempt 1 -->$/)
      }),
    )
  })

  test('tells subjects apart that only look alike when they are strung together', () => {
    const subjects: CommentSubject[] = [
      SUBJECT,
      { ...SUBJECT, job: 'e2', key: 'e' },
      { ...SUBJECT, workflow: 'ci.ymle2e', job: '' },
      { ...SUBJECT, job: '', key: 'e2e' },
      { ...SUBJECT, matrix: 'e2e', job: '' },
      { ...SUBJECT, matrix: '{"os":"linux"}' },
      { ...SUBJECT, matrix: '{"os":["linux"]}' },
      { ...SUBJECT, matrix: '{"os":{"linux":null}}' },
      { ...SUBJECT, matrix: '{"os":{"linux":"22.04"}}' },
      { ...SUBJECT, matrix: '{"shard":1}' },
      { ...SUBJECT, matrix: '{"shard":"1"}' },
    ]
    expect(new Set(subjects.map(markerPrefix)).size).toBe(subjects.length)
  })

  test('is the same for a matrix in any order of keys and with any white space', () => {
    const anyLeg = fc.dictionary(anyText, fc.jsonValue({ maxDepth: 3 }))
    fc.assert(
      fc.property(anyLeg, (leg) => {
        const asGiven = markerPrefix({ ...SUBJECT, matrix: JSON.stringify(leg) })
        expect(markerPrefix({ ...SUBJECT, matrix: JSON.stringify(reversed(leg), null, 2) })).toBe(asGiven)
      }),
    )
  })

  test('but a list in another order is another matrix', () => {
    const [one, other] = ['{"tags":["a","b"]}', '{"tags":["b","a"]}'].map((matrix) =>
      markerPrefix({ ...SUBJECT, matrix }),
    )
    expect(one).not.toBe(other)
  })

  test.each(['', ' ', 'null', ' null\n', '{}'])('says no matrix for %j', (matrix) => {
    expect(markerPrefix({ ...SUBJECT, matrix })).toBe(markerPrefix(SUBJECT))
  })

  test('takes a matrix that is no JSON, or too deep for it, as text', () => {
    const deep = '['.repeat(100_000) + ']'.repeat(100_000)
    expect(markerPrefix({ ...SUBJECT, matrix: 'firefox' })).not.toBe(markerPrefix({ ...SUBJECT, matrix: 'webkit' }))
    expect(markerPrefix({ ...SUBJECT, matrix: deep })).not.toBe(markerPrefix(SUBJECT))
  })
})

describe('a comment carries the marker', () => {
  const identity = commentIdentity(SUBJECT, AGE)

  test('of every run of the subject, at its very start and nowhere else', () => {
    const earlier = commentIdentity(SUBJECT, { runId: 3n, attempt: 2n })
    expect(hasMarker(`${earlier.marker}\ntext`, identity)).toBe(true)
    expect(hasMarker(` ${earlier.marker}\ntext`, identity)).toBe(false)
    expect(hasMarker(`> ${earlier.marker}`, identity)).toBe(false)
  })

  test('of no other subject', () => {
    fc.assert(
      fc.property(anySubject, (other) => {
        fc.pre(markerPrefix(other) !== identity.markerPrefix)
        expect(hasMarker(commentIdentity(other, AGE).marker, identity)).toBe(false)
      }),
    )
  })
})

describe('the newer text', () => {
  const anyAge = fc.record({
    runId: fc.bigInt({ min: 0n, max: 2n ** 64n }),
    attempt: fc.bigInt({ min: 0n, max: 200n }),
  })

  test('is that of the greater run id, then of the greater attempt, compared as numbers of any size', () => {
    fc.assert(
      fc.property(anyAge, anyAge, (theirs, ours) => {
        const body = `${commentIdentity(SUBJECT, theirs).marker}\ntext`
        const expected = theirs.runId > ours.runId || (theirs.runId === ours.runId && theirs.attempt > ours.attempt)
        expect(isNewer(body, commentIdentity(SUBJECT, ours))).toBe(expected)
      }),
    )
  })

  test.each([
    '',
    'run',
    'run x attempt y -->',
    'run 99999 -->',
    `run ${'9'.repeat(21)} attempt 1 -->`,
  ])('is never one whose marker somebody has edited to %j', (rest) => {
    const identity = commentIdentity(SUBJECT, AGE)
    expect(isNewer(identity.markerPrefix + rest, identity)).toBe(false)
  })
})

test.each([
  ['0', 0n],
  ['16588214931658821493', 16588214931658821493n],
  ['', 0n],
  [undefined, 0n],
  ['-1', 0n],
  ['1e3', 0n],
  ['12 ', 0n],
  ['١', 0n],
])('the parseId of %j is %s', (text, expected) => {
  expect(parseId(text)).toBe(expected)
})

function markerPrefix(subject: CommentSubject): string {
  return commentIdentity(subject, AGE).markerPrefix
}

/** The same JSON with the keys of every object in the opposite order. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, member]) => [key, reversed(member)]),
  )
}
