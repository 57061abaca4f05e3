import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { playJob } from '../../tools/runner-emulator/job.ts'

// What GitHub would do with our own workflows, as far as one machine can do it.

test('the job "action" of CI succeeds: a pass, a failure, a run awaited later, a step over its time limit', async () => {
  const played = await playJob('.github/workflows/ci.yml', 'action', { minuteMs: 2_000 })
  expect(played, played.log).toMatchObject({ result: 'success' })
})

test('the job "shop" of CI succeeds: the web shop passes, and fails with a bug', async () => {
  const commands = mkdtempSync(join(tmpdir(), 'commands-'))
  onTestFinished(() => rmSync(commands, { recursive: true }))
  // What `npm ci` does was done before.
  writeFileSync(join(commands, 'npm'), '#!/bin/sh\n', { mode: 0o755 })
  const played = await playJob('.github/workflows/ci.yml', 'shop', { commands })
  expect(played, played.log).toMatchObject({ result: 'success' })
})

test('the workflow Cancel finds that a cancelled step left no run behind', async () => {
  const step = await playJob('.github/workflows/cancel.yml', 'step', {
    cancel: { during: 'hangs', on: /RUNNING/ },
  })
  expect(step, step.log).toMatchObject({ result: 'cancelled', outputs: { status: 'CANCELLED' } })
  const needs = { step, replace: { result: 'success' } } as const
  const judged = await playJob('.github/workflows/cancel.yml', 'cancelled', { needs })
  expect(judged, judged.log).toMatchObject({ result: 'success' })
})

test('the workflow Cancel fails if a run is left behind', async () => {
  const outputs = { 'run-id': 'run-7', conclusion: 'cancelled', status: 'RUNNING' }
  const needs = { step: { result: 'cancelled', outputs }, replace: { result: 'success' } } as const
  expect(await playJob('.github/workflows/cancel.yml', 'cancelled', { needs })).toMatchObject({
    result: 'failure',
  })
})

describe('the check to require', () => {
  const NEEDED = ['test', 'action', 'shop', 'workflows']
  const play = (ends: Readonly<Record<string, 'failure' | 'cancelled' | 'skipped'>>) => {
    const needs = Object.fromEntries(NEEDED.map((job) => [job, { result: ends[job] ?? ('success' as const) }]))
    return playJob('.github/workflows/ci.yml', 'ci', { needs })
  }

  test('succeeds after a success of all jobs', async () => {
    expect(await play({})).toMatchObject({ result: 'success' })
  })

  test.each([
    { test: 'skipped' },
    { action: 'failure' },
    { shop: 'skipped' },
    { workflows: 'cancelled' },
  ] as const)('fails, and is never skipped, after %j', async (ends) => {
    expect(await play(ends)).toMatchObject({ result: 'failure' })
  })
})
