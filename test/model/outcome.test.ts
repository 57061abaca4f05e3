import { describe, expect, it } from 'vitest'
import type { Failure } from '../../src/model/failure.ts'
import { type Cancellation, statusOf } from '../../src/model/outcome.ts'
import { anOutcome, aRun } from '../support/builders.ts'

const DOWN: Failure = { kind: 'status', status: 503 }

describe('the status of an outcome', () => {
  it.each<[string | undefined, Cancellation, string | undefined]>([
    ['RUNNING', { kind: 'not-wanted' }, 'RUNNING'],
    [undefined, { kind: 'cancelled' }, 'CANCELLED'],
    ['FAILED', { kind: 'already-finished' }, 'FAILED'],
    ['PAUSED', { kind: 'failed', failure: DOWN }, 'UNKNOWN'],
    [undefined, { kind: 'failed', failure: DOWN }, undefined],
  ])('last seen %s, after %j, is %s', (status, cancellation, expected) => {
    const run = status === undefined ? undefined : aRun({ status, finishedAt: undefined })
    expect(statusOf(anOutcome({ ending: { kind: 'aborted', cause: 'signal' }, run, cancellation }))).toBe(expected)
  })
})
