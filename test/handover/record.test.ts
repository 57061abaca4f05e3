import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { findHandovers, parseRecord, type StepRecord } from '../../src/handover/record.ts'
import { openRecorder, RecordNotWritten, type StepRecorder } from '../../src/handover/recorder.ts'
import { render } from '../../src/text/safe-text.ts'
import { parseKeyValueFile } from '../../tools/runner-emulator/file-commands.ts'
import { ANY_CHARACTER } from '../support/any-character.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

interface JobOptions {
  readonly hasStateFile?: boolean
  readonly hasTemp?: boolean
  readonly inputs?: Readonly<Record<string, string>>
}

/** Main's record in its own job, and what post finds of it. */
function job({ hasStateFile = true, hasTemp = true, inputs = {} }: JobOptions = {}) {
  const folder = temporaryFolder()
  const temp = join(folder, 'temp')
  mkdirSync(temp)
  const statePath = join(temp, 'state')
  if (hasStateFile) writeFileSync(statePath, '')
  // Each record has its own job, so that no file of another test in the system's folder has its identity.
  const env = { GITHUB_STATE: statePath, RUNNER_TEMP: hasTemp ? temp : join(folder, 'none'), ...inputs }
  const { recorder, isRunnerTempEmptied } = openRecorder(env)
  const warnings: string[] = []
  const log = {
    info: () => {},
    warning: (message: Parameters<typeof render>[0]) => void warnings.push(render(message)),
  }
  recorder.attachLog(log)
  const saved = (): StepRecord | undefined => {
    const { entries, problem } = parseKeyValueFile(readFileSync(statePath, 'utf8'))
    expect(problem).toBeUndefined()
    return parseRecord(Object.fromEntries(entries).record ?? '')
  }
  const [first] = findHandovers(env, undefined)
  onTestFinished(() => first?.removeFile())
  return {
    env,
    temp,
    statePath,
    filePath: () =>
      readdirSync(temp)
        .map((name) => join(temp, name))
        .find((path) => path !== statePath) ?? '',
    warnings,
    recorder,
    isRunnerTempEmptied,
    saved,
    /** As post reads it, with the state or without it. */
    read: ({ withState = true } = {}) => findHandovers(env, withState ? saved() : undefined)[0]?.readRecord(),
  }
}

describe('the record', () => {
  it('stands in the debug log each time that main saves it', () => {
    const { recorder, saved } = job()
    const lines: string[] = []
    recorder.attachLog({ warning: () => {}, debug: (line) => lines.push(render(line)) })
    const expectSaved = (phase: string) => {
      const [, record = ''] = /^(?:First record|Saved) for post: (.*)$/.exec(lines.at(-1) ?? '') ?? []
      expect(parseRecord(record)).toEqual({ ...saved(), phase })
    }
    expectSaved('nothing started')
    recorder.starting()
    expectSaved('starting')
    recorder.started('r-1', true)
    expectSaved('started')
    recorder.done()
    expectSaved('done')
    expect(lines).toHaveLength(4)
  })

  it('says in the state and the file, one after the other: nothing started, starting, started with the run’s id, done', () => {
    const { recorder, saved, read, filePath } = job()
    const inBoth = (expected: Partial<StepRecord>) => {
      expect(saved()).toMatchObject(expected)
      expect(read({ withState: false })).toEqual(saved())
    }
    inBoth({ pid: process.pid, file: filePath(), phase: 'nothing started' })
    recorder.starting()
    inBoth({ pid: process.pid, file: filePath(), phase: 'starting' })
    recorder.started('r-1', true)
    inBoth({ phase: 'started', runId: 'r-1', mayCancel: true })
    recorder.done()
    inBoth({ phase: 'done' })
  })

  it('says that the run may not be cancelled', () => {
    const { recorder, read } = job()
    recorder.started('r-1', false)
    expect(read()).toMatchObject({ phase: 'started', runId: 'r-1', mayCancel: false })
  })

  it('contains no key, and only its owner can read it', () => {
    const inputs = {
      'INPUT_API-KEY': 'sk-live-0123456789',
      'INPUT_BASE-URL': 'https://example.com',
      INPUT_PROJECT: 'shop',
    }
    const { recorder, filePath, statePath } = job({ inputs })
    recorder.started('r-1', true)
    const path = filePath()
    expect(path + readFileSync(path, 'utf8') + readFileSync(statePath, 'utf8')).not.toMatch(/sk-live|example\.com|shop/)
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })

  it('keeps any id unchanged', () => {
    const anyId = fc.string({ unit: ANY_CHARACTER, minLength: 1 })
    fc.assert(
      fc.property(anyId, (runId) => {
        const { recorder, saved, read } = job()
        recorder.started(runId, true)
        expect(saved()?.runId).toBe(runId)
        expect(read({ withState: false })?.runId).toBe(runId)
      }),
      { numRuns: 50, examples: [['a\nrecord=other\n'], ['a\0b'], ['\r\n'], ['\ud800']] },
    )
  })

  it('contains no id so large that post could not start', () => {
    const longest = job()
    longest.recorder.started('\0'.repeat(4_096), true)
    expect(readFileSync(longest.statePath, 'utf8').length).toBeLessThan(128 * 1024)
    expect(longest.saved()?.runId).toHaveLength(4_096)
    const tooLong = job()
    tooLong.recorder.started('x'.repeat(4_097), true)
    expect(tooLong.saved()).toMatchObject({ phase: 'nothing started' })
    expect(tooLong.warnings).toEqual([])
  })

  it('is read only if it is whole and has a valid process id', () => {
    const whole = { pid: 7, file: '/tmp/f', phase: 'started', runId: 'r-1', mayCancel: true }
    expect(parseRecord(JSON.stringify(whole))).toMatchObject(whole)
    const broken = [
      ...[0, -1, 1.5, '7', null, undefined].map((pid) => ({ ...whole, pid })),
      ...['', 'begun', undefined].map((phase) => ({ ...whole, phase })),
      ...['', 7, undefined].map((runId) => ({ ...whole, runId })),
      { ...whole, file: undefined },
    ].map((record) => JSON.stringify(record))
    for (const text of [...broken, '', 'null', '[]', '7', JSON.stringify(whole).slice(0, -1)]) {
      expect(parseRecord(text), text).toBeUndefined()
    }
    expect(parseRecord(JSON.stringify({ ...whole, mayCancel: 'yes' }))).toMatchObject({ mayCancel: false })
  })
})

describe('a record that cannot be written', () => {
  it('to the state is in the file, without a warning', () => {
    const { recorder, read, warnings } = job({ hasStateFile: false })
    recorder.starting()
    expect(read({ withState: false })).toMatchObject({ phase: 'starting' })
    recorder.started('r-1', true)
    recorder.done()
    expect(read({ withState: false })).toMatchObject({ phase: 'done' })
    expect(warnings).toEqual([])
  })

  it('to the file is in the state, without a warning', () => {
    const { recorder, saved, warnings, filePath } = job()
    rmSync(filePath())
    recorder.starting()
    recorder.started('r-1', true)
    expect(saved()).toMatchObject({ phase: 'started', runId: 'r-1', mayCancel: true })
    expect(warnings).toEqual([])
    expect(filePath()).toBe('')
  })

  it('to the state and to the file starts nothing, and says where it could not be written', () => {
    const { recorder, isRunnerTempEmptied, filePath, statePath } = job({ hasStateFile: false })
    const path = filePath()
    rmSync(path)
    expect(() => recorder.starting()).toThrow(RecordNotWritten)
    expect(() => recorder.starting()).toThrow(
      new RegExp(`^GITHUB_STATE: .*${basename(statePath)}.*; [^ ]*${basename(path)}: .* was removed`),
    )
    expect(isRunnerTempEmptied()).toBe(false)
  })

  it('to the state and to the file is one warning that names the run', () => {
    const { recorder, filePath, warnings } = job({ hasStateFile: false })
    rmSync(filePath())
    recorder.started('r-1', true)
    recorder.done()
    expect(warnings).toEqual([
      expect.stringMatching(/ENOENT.* was removed\. So the post step may not know what is left to do about run r-1\./),
    ])
  })

  it('because the disk is full leaves only whole records. If “done” cannot be written, the file is emptied, which means “done”', () => {
    const folder = temporaryFolder()
    const statePath = join(folder, 'state')
    writeFileSync(statePath, '')
    const source = new URL('../../src/handover/', import.meta.url).href
    // Each file may have 1,024 bytes. Two records fit, and of a record with this id only a part fits.
    const program = `const [{ openRecorder }, { render }] = await Promise.all(
        ['recorder.ts', '../text/safe-text.ts'].map((file) => import('${source}' + file)))
      const { recorder } = openRecorder(process.env)
      recorder.attachLog({ warning: (message) => console.log(render(message)) })
      recorder.starting()
      recorder.started('x'.repeat(700), true)
      const { readFileSync, statSync } = await import('node:fs')
      const [file] = process.argv.slice(1).map((path) => readFileSync(path, 'utf8'))
      console.log(file.endsWith('}\\n'), statSync(process.argv[1]).size > 400)
      // Until both files are full.
      try { for (;;) recorder.starting() } catch {}
      recorder.done()`
    const limited = ['-c', 'ulimit -f 1; exec "$@"', 'sh', process.execPath, '--input-type=module', '--eval', program]
    const env = { ...process.env, GITHUB_STATE: statePath, RUNNER_TEMP: folder }
    const log = execFileSync('bash', [...limited, statePath], { env, encoding: 'utf8' })
    expect(log).toMatch(/no space left on the disk.*about run x+\..*\ntrue true\n$/)
    const { entries } = parseKeyValueFile(readFileSync(statePath, 'utf8'))
    const state = parseRecord(Object.fromEntries(entries).record ?? '')
    expect(state).toMatchObject({ phase: 'starting' })
    expect(statSync(state?.file ?? '').size).toBe(0)
    expect(findHandovers(env, state)[0]?.readRecord()).toMatchObject({ phase: 'done' })
    expect(findHandovers(env, undefined)[0]?.readRecord()).toBeUndefined()
  })

  it('does not wait for a reader if the runner’s file is a named pipe', () => {
    const { recorder, statePath, read } = job()
    rmSync(statePath)
    execFileSync('mkfifo', [statePath])
    recorder.starting()
    expect(read({ withState: false })).toMatchObject({ phase: 'starting' })
  })
})

describe('of the two records', () => {
  const OF_STATE = 7
  const save: Readonly<Record<StepRecord['phase'], (recorder: StepRecorder) => void>> = {
    'nothing started': () => {},
    starting: (recorder) => recorder.starting(),
    started: (recorder) => recorder.started('r-1', true),
    done: (recorder) => recorder.done(),
  }
  const read = (state: StepRecord['phase'], file: StepRecord['phase'] | 'removed') => {
    const { env, recorder, filePath, saved } = job()
    const path = filePath()
    if (file === 'removed') rmSync(path)
    else save[file](recorder)
    const record: StepRecord = { pid: OF_STATE, file: path, phase: state, runId: 'r-1', mayCancel: true }
    expect(saved()).toBeDefined()
    return findHandovers(env, record)[0]?.readRecord()
  }

  it.each([
    ['starting', 'started', 'of the file'],
    ['started', 'starting', 'of the state'],
    ['started', 'started', 'of the file'],
    ['nothing started', 'done', 'of the file'],
    ['done', 'started', 'of the state'],
    ['started', 'removed', 'of the state'],
  ] as const)('with %s in the state and %s in the file, the record %s counts', (state, file, expected) => {
    expect(read(state, file)?.pid).toBe(expected === 'of the state' ? OF_STATE : process.pid)
  })

  it('the file’s record is its newest whole line', () => {
    const { recorder, read, filePath } = job()
    const state = read()
    writeFileSync(
      filePath(),
      `${JSON.stringify({ ...state, phase: 'starting' })}\n{"pid":1,"phase":"started","runId":"cut o`,
    )
    expect(read()).toMatchObject({ phase: 'starting' })
    recorder.started('r-1', true)
    writeFileSync(filePath(), '\nnull\n5\n[]\n{}\n{"phase":"done"}\n', { flag: 'a' })
    expect(read({ withState: false })).toMatchObject({ phase: 'starting' })
    expect(read()).toMatchObject({ phase: 'started', runId: 'r-1', mayCancel: true })
  })
})

describe('a main that post finds', () => {
  it('has another identity after the inputs have changed, but the same file', () => {
    const { env, saved } = job({ inputs: { INPUT_PROJECT: 'web-shop' } })
    expect(findHandovers(env, saved())).toMatchObject([{ hasSameInputs: true }])
    const [found] = findHandovers({ ...env, INPUT_PROJECT: 'docs' }, saved())
    expect(found?.hasSameInputs).toBe(false)
    expect(found?.readRecord()).toMatchObject({ phase: 'nothing started' })
    expect(findHandovers({ ...env, INPUT_PROJECT: 'docs' }, undefined)).toEqual([])
  })

  it('is none if its file holds no whole record, and the file is removed', () => {
    const { env, filePath } = job()
    const path = filePath()
    writeFileSync(path, '{"pid":7,"fi')
    expect(findHandovers(env, undefined)).toEqual([])
    expect(existsSync(path)).toBe(false)
  })

  it('has its latest record also if its file is removed after post has read it', () => {
    const { env, filePath, recorder } = job()
    const [found] = findHandovers(env, undefined)
    recorder.started('r-1', true)
    expect(found?.readRecord()).toMatchObject({ phase: 'started', runId: 'r-1' })
    rmSync(filePath())
    expect(found?.readRecord()).toMatchObject({ phase: 'nothing started' })
  })

  it('has an identity also if main could create no file', () => {
    const { env, saved } = job({ hasTemp: false })
    rmSync(saved()?.file ?? '')
    expect(findHandovers(env, saved())[0]?.hasSameInputs).toBe(true)
  })
})

describe('the runner’s temporary folder', () => {
  it('counts as emptied only if main’s file and the runner’s state file are both removed', () => {
    const { isRunnerTempEmptied, statePath, filePath } = job()
    expect(isRunnerTempEmptied()).toBe(false)
    rmSync(statePath)
    expect(isRunnerTempEmptied()).toBe(false)
    writeFileSync(statePath, '')
    const path = filePath()
    rmSync(path)
    expect(isRunnerTempEmptied()).toBe(false)
    rmSync(statePath)
    expect(isRunnerTempEmptied()).toBe(true)
    expect(existsSync(path)).toBe(false)
  })

  it('counts as emptied by the runner’s file alone if main’s file is in the system’s folder', () => {
    const { isRunnerTempEmptied, statePath, saved } = job({ hasTemp: false })
    expect(existsSync(saved()?.file ?? '')).toBe(true)
    rmSync(statePath)
    expect(isRunnerTempEmptied()).toBe(true)
  })

  it('does not count as emptied while the runner’s file cannot be looked at, as on a drive that fails', () => {
    const { isRunnerTempEmptied, statePath, filePath } = job()
    for (const path of [filePath(), statePath]) {
      rmSync(path)
      symlinkSync(path, path)
    }
    expect(isRunnerTempEmptied()).toBe(false)
    for (const path of [filePath(), statePath]) rmSync(path)
    expect(isRunnerTempEmptied()).toBe(true)
  })

  it('does not count as emptied if there never was a state file', () => {
    expect(job({ hasStateFile: false, hasTemp: false }).isRunnerTempEmptied()).toBe(false)
  })
})
