import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runnerState } from '../../src/workflow/state.ts'
import { parseKeyValueFile } from '../support/file-commands.ts'
import { withEnvironment } from '../support/process-effects.ts'

const state = runnerState((deed) => deed())

/** What post finds of what main saves, by the name without `STATE_`. */
function savedBy(deed: () => void): Record<string, string> {
  const folder = mkdtempSync(join(tmpdir(), 'state-'))
  try {
    const path = join(folder, 'state')
    writeFileSync(path, '')
    withEnvironment({ GITHUB_STATE: path }, deed)
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
    expect(savedBy(() => state.runGoing('r-1'))).toEqual({ run: '"r-1"' })
    expect(savedBy(() => state.settled())).toEqual({ settled: 'yes' })
    const all = savedBy(() => {
      state.startAttempted()
      state.runGoing('r-1')
      state.settled()
    })
    expect(all).toEqual({ start: 'attempted', run: '"r-1"', settled: 'yes' })
  })

  it.each(['a\nrun=other\n', 'a\0b', '', '\r\n', '\ud800', '"', '..'])('carries the id %j unharmed', (runId) => {
    expect(JSON.parse(savedBy(() => state.runGoing(runId)).run ?? '')).toBe(runId)
  })

  it('carries any id on one line that a variable of the environment can hold', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (runId) => {
        const { run = '' } = savedBy(() => state.runGoing(runId))
        expect(run).not.toMatch(/[\0\r\n]/)
        expect(JSON.parse(run)).toBe(runId)
      }),
      { numRuns: 50 },
    )
  })

  it('is attempted, and no more, once a run may be going; before that it must be written', () => {
    const attempted: unknown[] = []
    const unwritten = runnerState((deed) => attempted.push(deed))
    unwritten.runGoing('r-1')
    unwritten.settled()
    expect(attempted).toHaveLength(2)
    const failing = () => withEnvironment({ GITHUB_STATE: '/nowhere/state' }, () => unwritten.startAttempted())
    expect(failing).toThrow('/nowhere/state')
  })

  it('carries no id that could keep post from starting', () => {
    expect(savedBy(() => state.runGoing('\0'.repeat(4_096))).run?.length).toBeLessThan(128 * 1024)
    expect(savedBy(() => state.runGoing('x'.repeat(4_097)))).toEqual({})
  })
})
