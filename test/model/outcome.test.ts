import { describe, expect, it } from 'vitest'
import type { Failure } from '../../src/model/failure.ts'
import { type Cancellation, type Ending, needsPost, statusOf } from '../../src/model/outcome.ts'
import { aFinishedRun, anOutcome, aRun } from '../support/builders.ts'

const RUNNING = aRun({ status: 'RUNNING', finishedAt: undefined, testCases: undefined })
const DOWN: Failure = { kind: 'status', status: 503 }

describe('the status of an outcome', () => {
  it.each<[string | undefined, Cancellation, string | undefined]>([
    ['RUNNING', { kind: 'not-wanted' }, 'RUNNING'],
    [undefined, { kind: 'cancelled' }, 'CANCELLED'],
    ['RUNNING', { kind: 'already-finished', run: aFinishedRun({ status: 'FAILED' }) }, 'FAILED'],
    ['PAUSED', { kind: 'failed', failure: DOWN }, 'UNKNOWN'],
    [undefined, { kind: 'failed', failure: DOWN }, undefined],
  ])('last seen %s, after %j, is %s', (status, cancellation, expected) => {
    const run = status === undefined ? undefined : aRun({ status, finishedAt: undefined })
    expect(statusOf(anOutcome({ ending: { kind: 'aborted', cause: 'SIGINT' }, run, cancellation }))).toBe(expected)
  })
})

describe('what is left to do', () => {
  const ABORTED: Ending = { kind: 'aborted', cause: 'SIGINT' }

  it.each<[Cancellation, 'nothing' | 'for post' | 'for a person']>([
    [{ kind: 'not-wanted' }, 'nothing'],
    [{ kind: 'no-run' }, 'nothing'],
    [{ kind: 'cancelled' }, 'nothing'],
    [{ kind: 'already-finished', run: aFinishedRun() }, 'nothing'],
    [{ kind: 'not-found' }, 'nothing'],
    [{ kind: 'failed', failure: DOWN }, 'for post'],
    [{ kind: 'not-supported' }, 'for a person'],
    [{ kind: 'id-unknown' }, 'for a person'],
  ])('after the cancel %j is %s', (cancellation, expected) => {
    expect(needsPost(anOutcome({ ending: ABORTED, run: RUNNING, cancellation }))).toBe(expected !== 'nothing')
  })
})
