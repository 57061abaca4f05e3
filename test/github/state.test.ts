import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createMainState, runState, StateNotSaved } from '../../src/github/state.ts'
import { findStepFiles, mainOf } from '../../src/github/step-file.ts'
import { parseKeyValueFile } from '../../tools/runner-emulator/file-commands.ts'
import { ANY_CHARACTER } from '../support/any-character.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** Main's state in a job of its own, and what post finds of it. */
function job({ hasStateFile = true, hasTemp = true } = {}) {
  const folder = temporaryFolder()
  const temp = join(folder, 'temp')
  mkdirSync(temp)
  const path = join(temp, 'state')
  if (hasStateFile) writeFileSync(path, '')
  const env = { GITHUB_STATE: path, RUNNER_TEMP: hasTemp ? temp : '/nowhere', TMPDIR: folder }
  let isOver = false
  const main = createMainState(env, () => {
    isOver = true
  })
  onTestFinished(() => main.file?.remove())
  const warnings: string[] = []
  const warnOnError = (task: () => void) => {
    try {
      task()
    } catch (cause) {
      warnings.push(String(cause))
    }
  }
  return {
    env,
    temp,
    path,
    warnings,
    main,
    state: runState(main, warnOnError),
    isOver: () => isOver,
    /** By the name without `STATE_`. */
    saved(): Record<string, string> {
      const { entries, problem } = parseKeyValueFile(readFileSync(path, 'utf8'))
      expect(problem).toBeUndefined()
      return Object.fromEntries(entries)
    },
    record() {
      const [found] = findStepFiles(env, main.file?.name)
      return found === undefined ? undefined : mainOf(found).read()
    },
  }
}

describe('what main leaves for post', () => {
  it('is the name of its file first, then that a start was attempted, the run, and that nothing is left to do', () => {
    const { state, saved, record, main } = job()
    expect(saved()).toEqual({ file: main.file?.name })
    expect(record()).toMatchObject({ pid: process.pid, phase: 'nothing-started' })
    state.startAttempted()
    expect(saved()).toEqual({ file: main.file?.name, start: 'attempted' })
    expect(record()).toMatchObject({ phase: 'starting' })
    state.runStarted('r-1', true)
    expect(saved()).toMatchObject({ run: '"r-1"' })
    expect(record()).toMatchObject({ phase: 'started', runId: 'r-1', mayCancel: true })
    state.done()
    expect(saved()).toMatchObject({ done: 'yes' })
    expect(record()).toBeUndefined()
  })

  it('is nothing once a run is known that may not be cancelled', () => {
    const { state, saved, record } = job()
    state.startAttempted()
    state.runStarted('r-1', false)
    expect(saved()).toMatchObject({ done: 'yes' })
    expect(saved()).not.toHaveProperty('run')
    expect(record()).toBeUndefined()
  })

  it('is told by the file if only a person can do more, and nobody reads main’s log', () => {
    const { state, saved, record } = job()
    state.startAttempted()
    state.manualCleanupLogged()
    expect(saved()).toMatchObject({ done: 'yes' })
    expect(record()).toMatchObject({ phase: 'starting' })
  })

  it('carries any id unharmed', () => {
    const anyId = fc.string({ unit: ANY_CHARACTER, minLength: 1 })
    fc.assert(
      fc.property(anyId, (runId) => {
        const { state, saved, record, main } = job()
        state.runStarted(runId, true)
        expect(JSON.parse(saved().run ?? '')).toBe(runId)
        expect(record()?.runId).toBe(runId)
        main.file?.remove()
      }),
      { numRuns: 50, examples: [['a\nrun=other\n'], ['a\0b'], ['\r\n'], ['\ud800']] },
    )
  })

  it('carries no id that could keep post from starting', () => {
    const { state, saved } = job()
    state.runStarted('\0'.repeat(4_096), true)
    expect(saved().run?.length).toBeLessThan(128 * 1024)
    const tooLong = job()
    tooLong.state.runStarted('x'.repeat(4_097), true)
    expect(tooLong.saved()).toEqual({ file: tooLong.main.file?.name })
    expect(tooLong.record()).toMatchObject({ phase: 'nothing-started' })
  })
})

describe('a start', () => {
  it('goes on with one warning if the file alone tells post of it', () => {
    const { state, record, warnings } = job({ hasStateFile: false })
    state.startAttempted()
    expect(record()).toMatchObject({ phase: 'starting' })
    expect(warnings).toEqual([expect.stringContaining('ENOENT')])
  })

  it('is refused if neither the state nor the file can tell post of it', () => {
    const { state, main } = job({ hasStateFile: false })
    main.file?.remove()
    expect(() => state.startAttempted()).toThrow(StateNotSaved)
  })

  it('waits for no reader if the runner’s file is a named pipe', () => {
    const { state, path, warnings, record } = job()
    rmSync(path)
    execFileSync('mkfifo', [path])
    state.startAttempted()
    expect(warnings).toHaveLength(1)
    expect(record()).toMatchObject({ phase: 'starting' })
  })
})

describe('the end of the job', () => {
  it('is seen once the runner has emptied its temporary folder, and not before', () => {
    const { main, temp, path, state } = job()
    state.startAttempted()
    expect(main.isJobOver()).toBe(false)
    rmSync(path)
    expect(main.isJobOver()).toBe(false)
    writeFileSync(path, '')
    const [own = ''] = readdirSync(temp).filter((name) => name.startsWith('test-run-action-'))
    rmSync(join(temp, own))
    expect(main.isJobOver()).toBe(false)
    rmSync(path)
    expect(main.isJobOver()).toBe(true)
  })

  it('is seen by the runner’s file alone if main’s is in the system’s folder', () => {
    const { main, path } = job({ hasTemp: false })
    expect(main.file?.isInRunnerFolder).toBe(false)
    expect(main.file?.isThere()).toBe(true)
    rmSync(path)
    expect(main.isJobOver()).toBe(true)
  })

  it('is not taken from a state file that never was', () => {
    expect(job({ hasStateFile: false, hasTemp: false }).main.isJobOver()).toBe(false)
  })

  it('is told by a file that is gone before an update: it is never made a second time', () => {
    const { state, record, isOver, temp } = job()
    for (const name of readdirSync(temp)) rmSync(join(temp, name))
    state.runStarted('r-1', true)
    expect(isOver()).toBe(true)
    expect(record()).toBeUndefined()
    expect(existsSync(temp) && readdirSync(temp)).toEqual([])
  })
})
