import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runnerState } from '../../src/github/state.ts'
import { parseKeyValueFile } from '../../tools/runner-emulator/file-commands.ts'
import { withEnvironment } from '../support/process-effects.ts'

const state = runnerState(true, (task) => task())

/** What post finds of what main saves, by the name without `STATE_`. */
function savedBy(task: () => void): Record<string, string> {
  const folder = mkdtempSync(join(tmpdir(), 'state-'))
  try {
    const path = join(folder, 'state')
    writeFileSync(path, '')
    withEnvironment({ GITHUB_STATE: path }, task)
    const { entries, problem } = parseKeyValueFile(readFileSync(path, 'utf8'))
    expect(problem).toBeUndefined()
    return Object.fromEntries(entries)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

describe('the state', () => {
  it('tells post that a start was attempted, then the run, then that nothing is left to do', () => {
    expect(savedBy(() => state.startAttempted())).toEqual({ start: 'attempted' })
    expect(savedBy(() => state.runStarted('r-1'))).toEqual({ run: '"r-1"' })
    expect(savedBy(() => state.done())).toEqual({ done: 'yes' })
    const all = savedBy(() => {
      state.startAttempted()
      state.runStarted('r-1')
      state.done()
    })
    expect(all).toEqual({ start: 'attempted', run: '"r-1"', done: 'yes' })
  })

  it('tells post that nothing is left to do once a run is known that may not be cancelled', () => {
    const left = runnerState(false, (task) => task())
    expect(savedBy(() => left.startAttempted())).toEqual({ start: 'attempted' })
    expect(savedBy(() => left.runStarted('r-1'))).toEqual({ done: 'yes' })
  })

  it.each(['a\nrun=other\n', 'a\0b', '', '\r\n', '\ud800', '"', '..'])('carries the id %j unharmed', (runId) => {
    expect(JSON.parse(savedBy(() => state.runStarted(runId)).run ?? '')).toBe(runId)
  })

  it('carries any id on one line that a variable of the environment can hold', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (runId) => {
        const { run = '' } = savedBy(() => state.runStarted(runId))
        expect(run).not.toMatch(/[\0\r\n]/)
        expect(JSON.parse(run)).toBe(runId)
      }),
      { numRuns: 50 },
    )
  })

  it('is attempted, and no more, once a run may be going; before that it must be written', () => {
    const attempted: unknown[] = []
    const unwritten = runnerState(true, (task) => attempted.push(task))
    unwritten.runStarted('r-1')
    unwritten.done()
    expect(attempted).toHaveLength(2)
    const failing = () => withEnvironment({ GITHUB_STATE: '/nowhere/state' }, () => unwritten.startAttempted())
    expect(failing).toThrow('/nowhere/state')
  })

  it('carries no id that could keep post from starting', () => {
    expect(savedBy(() => state.runStarted('\0'.repeat(4_096))).run?.length).toBeLessThan(128 * 1024)
    expect(savedBy(() => state.runStarted('x'.repeat(4_097)))).toEqual({})
  })
})
