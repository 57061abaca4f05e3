import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { openHandover } from '../../src/handover/job-watch.ts'
import {
  createMainFile,
  findMainFiles,
  hasIdentityOf,
  isStateLost,
  lastRecord,
  MainFile,
} from '../../src/handover/main-file.ts'
import { RecordNotWritten, StepRecorder } from '../../src/handover/recorder.ts'
import { render } from '../../src/text/safe-text.ts'
import { parseKeyValueFile } from '../../tools/runner-emulator/step-runner/file-commands.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** What another step may put in the place of a file. */
const OTHER_THINGS: readonly [string, (path: string) => void][] = [
  ['a named pipe', (path) => void execFileSync('mkfifo', [path])],
  ['a folder', (path) => mkdirSync(path)],
  ['a link to a device', (path) => symlinkSync('/dev/null', path)],
  ['a link to a file', (path) => symlinkSync(import.meta.filename, path)],
]

interface JobOptions {
  readonly hasStateFile?: boolean
  readonly hasTemp?: boolean
  readonly inputs?: Readonly<Record<string, string>>
}

/** Main in a job of its own, so that no file of another test in the system's folder has its identity. */
function job({ hasStateFile = true, hasTemp = true, inputs = {} }: JobOptions = {}) {
  const folder = temporaryFolder()
  const temp = join(folder, 'temp')
  mkdirSync(temp)
  const statePath = join(folder, 'state')
  if (hasStateFile) writeFileSync(statePath, '')
  const env = { GITHUB_STATE: statePath, RUNNER_TEMP: hasTemp ? temp : join(folder, 'none'), ...inputs }
  const reasons: string[] = []
  const { recorder, watch } = openHandover(env, (cause) => reasons.push(cause))
  /** Why main would stop now. */
  const reasonToStop = (notice = () => watch.check()) => {
    notice()
    return reasons.pop()
  }
  const warnings: string[] = []
  recorder.attachLog({ warning: (message) => warnings.push(render(message)) })
  const [file] = findMainFiles(env)
  if (file === undefined) throw new Error('main has created no file')
  onTestFinished(() => file.remove())
  /** What the runner gives post as `STATE_…`. */
  const state = () => {
    const { entries, problem } = parseKeyValueFile(readFileSync(statePath, 'utf8'))
    expect(problem).toBeUndefined()
    return Object.fromEntries([...entries].map(([name, value]) => [`STATE_${name}`, value]))
  }
  return { env, temp, statePath, warnings, recorder, watch, reasonToStop, file, state }
}

describe('main’s file', () => {
  it('says what is left to do, and is removed when nothing is left', () => {
    const { recorder, file } = job()
    expect(file.read()).toEqual({ phase: 'nothing started' })
    recorder.starting()
    expect(file.read()).toEqual({ phase: 'starting' })
    recorder.started('r-1', true)
    expect(file.read()).toEqual({ phase: 'started', runId: 'r-1', mayCancel: true })
    recorder.done()
    expect(file.read()).toBeUndefined()
    recorder.onExit()
    expect(file.isRemoved()).toBe(true)
  })

  it('says that main has ended, if main exits and something is left to do', () => {
    const { recorder, file } = job()
    recorder.started('r-1', false)
    recorder.onExit()
    expect(file.read()).toEqual({ phase: 'started', runId: 'r-1', mayCancel: false, hasEnded: true })
  })

  it('is removed when main exits and has started nothing', () => {
    const { recorder, file } = job()
    recorder.onExit()
    expect(file.isRemoved()).toBe(true)
  })

  it('says that nothing is left to do if it cannot be removed', () => {
    const { file } = job()
    file.append({ phase: 'started', runId: 'r-1', mayCancel: true })
    const locked = Object.assign(new MainFile(file.path), {
      remove() {
        throw new Error('EBUSY')
      },
    })
    new StepRecorder(locked).done()
    expect(file.read()).toEqual({ phase: 'nothing started', hasEnded: true })
  })

  it('contains no key, and only its owner can read it', () => {
    const inputs = {
      'INPUT_API-KEY': 'sk-live-0123456789',
      'INPUT_BASE-URL': 'https://example.com',
      INPUT_PROJECT: 'shop',
    }
    const { recorder, file, statePath } = job({ inputs })
    recorder.started('r-1', true)
    const all = file.path + readFileSync(file.path, 'utf8') + readFileSync(statePath, 'utf8')
    expect(all).not.toMatch(/sk-live|example\.com|shop/)
    expect(statSync(file.path).mode & 0o777).toBe(0o600)
  })

  it('counts up to its last whole record, whatever another step has written to it', () => {
    const whole = { phase: 'started', runId: 'r-1', mayCancel: true }
    const text = (...lines: readonly unknown[]) =>
      lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n')
    const noise = ['', 'null', '[]', '7', '{}', { phase: 'done' }, { phase: 'started' }, { ...whole, runId: 7 }]
    expect(lastRecord(text({ phase: 'starting' }, whole, ...noise))).toEqual(whole)
    expect(lastRecord(text({ phase: 'starting' }, JSON.stringify(whole).slice(0, -1)))).toEqual({ phase: 'starting' })
    expect(lastRecord(text({ ...whole, mayCancel: 'yes', hasEnded: 'yes' }))).toEqual({ ...whole, mayCancel: false })
    expect(lastRecord('')).toBeUndefined()
  })

  it('is in the system’s folder if the runner’s cannot be written', () => {
    const { file, temp } = job({ hasTemp: false })
    expect(file.path).not.toContain(temp)
    expect(file.read()).toEqual({ phase: 'nothing started' })
  })
})

describe.each(OTHER_THINGS)('%s in the place of main’s file', (_, create) => {
  it('counts as nothing, and nobody waits for it', () => {
    const { env, state, file, recorder } = job()
    rmSync(file.path)
    create(file.path)
    expect(file.isRemoved()).toBe(true)
    expect(() => recorder.starting()).toThrow(`there is no file ${file.path}`)
    expect([file.read(), file.take()]).toEqual([undefined, undefined])
    expect(findMainFiles({ ...env, ...state() })).toEqual([])
    expect(findMainFiles(env)).toEqual([])
    rmSync(file.path, { recursive: true })
  })
})

describe('a record that cannot be written', () => {
  it('starts nothing, and the error says where it could not be written', () => {
    const { recorder, file, temp } = job()
    file.remove()
    expect(() => recorder.starting()).toThrow(RecordNotWritten)
    expect(() => recorder.starting()).toThrow(basename(file.path))
    recorder.onExit()
    expect(readdirSync(temp)).toEqual([])
  })

  it('is one warning that names the run', () => {
    const { recorder, file, warnings } = job()
    recorder.starting()
    file.remove()
    recorder.started('r-1', true)
    recorder.onExit()
    expect(warnings).toEqual([
      expect.stringMatching(
        /will not know what is left to do about run r-1, because the file \/.*test-run-action-.* was removed\. Check whether another step/,
      ),
    ])
  })

  it('is a warning with the reason, if the file is still there', () => {
    const { file } = job()
    const recorder = new StepRecorder(file)
    const warnings: string[] = []
    recorder.attachLog({ warning: (message) => warnings.push(render(message)) })
    file.append = () => {
      throw new Error('ENOSPC: no space left on device, write')
    }
    recorder.started('r-1', true)
    expect(warnings).toEqual([
      expect.stringMatching(
        /about run r-1, because the file \/.*test-run-action-.* could not be written: ENOSPC: .*, write\. Free some space/,
      ),
    ])
  })

  it('leaves the records before and after it whole, if the disk is full meanwhile', () => {
    const temp = temporaryFolder()
    const source = new URL('../../src/handover/', import.meta.url).href
    // A file may have 1,024 bytes. Of a record with this id, only a part fits.
    const program = `const [{ createMainFile }, { readFileSync, truncateSync }] = await Promise.all(
        ['${source}main-file.ts', 'node:fs'].map((name) => import(name)))
      const file = createMainFile({ RUNNER_TEMP: process.argv[1] })
      let problem
      try { file.append({ phase: 'started', runId: 'x'.repeat(1_000), mayCancel: true }) } catch ({ code }) { problem = code }
      console.log(JSON.stringify([problem, readFileSync(file.path).length, file.read()]))
      // There is space again.
      truncateSync(file.path, 200)
      file.append({ phase: 'started', runId: 'r-1', mayCancel: true })
      console.log(JSON.stringify(file.read()))`
    const limited = ['-c', 'ulimit -f 1; exec "$@"', 'sh', process.execPath, '--input-type=module', '--eval', program]
    const log = execFileSync('bash', [...limited, temp], { encoding: 'utf8' })
    expect(
      log
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual([['EFBIG', 1_024, { phase: 'nothing started' }], { phase: 'started', runId: 'r-1', mayCancel: true }])
  })

  it('does not matter if it is the path in the runner’s state, because post finds the file by its name', () => {
    const { env, recorder, warnings } = job({ hasStateFile: false })
    recorder.starting()
    expect(findMainFiles(env).map((file) => file.read())).toEqual([{ phase: 'starting' }])
    expect(warnings).toEqual([])
  })

  it('does not wait for a reader if the file of the runner’s state is a named pipe', () => {
    const temp = temporaryFolder()
    const statePath = join(temp, 'state')
    execFileSync('mkfifo', [statePath])
    openHandover({ GITHUB_STATE: statePath, RUNNER_TEMP: temp }, () => {}).recorder.starting()
    expect(findMainFiles({ RUNNER_TEMP: temp }).map((file) => file.read())).toEqual([{ phase: 'starting' }])
  })
})

describe('post', () => {
  it('takes only the file that the runner’s state names', () => {
    const { env, file, state } = job()
    const sibling = createMainFile(env)
    expect(findMainFiles({ ...env, ...state() })).toEqual([file])
    file.remove()
    expect(findMainFiles({ ...env, ...state() })).toEqual([])
    expect(sibling.isRemoved()).toBe(false)
  })

  it('takes all files of this identity if the state is lost, and no request to stop', () => {
    const { env, file, state } = job({ inputs: { INPUT_PROJECT: 'shop' } })
    const sibling = createMainFile(env)
    createMainFile({ ...env, INPUT_PROJECT: 'docs' })
    file.askToStop()
    const paths = findMainFiles(env).map(({ path }) => path)
    expect(paths.toSorted()).toEqual([file.path, sibling.path].toSorted())
    expect([isStateLost(env), isStateLost({ ...env, ...state() })]).toEqual([true, false])
  })

  it.each([
    'GITHUB_REPOSITORY',
    'GITHUB_RUN_ID',
    'GITHUB_RUN_ATTEMPT',
    'GITHUB_JOB',
    'INPUT_CHECK-RUN-ID',
    'RUNNER_NAME',
    'RUNNER_TEMP',
    'INPUT_BASE-URL',
    'INPUT_PROJECT',
    'INPUT_TEST-SUITE',
    'TEST_RUN_SERVICE_URL',
    'TEST_RUN_SERVICE_PROJECT',
  ])('takes no file of a step with another %s, if the state is lost', (name) => {
    const { env, temp } = job()
    // A folder with the same files, but with another name.
    const folder = join(temp, '../link')
    symlinkSync(temp, folder)
    const other = { ...env, [name]: name === 'RUNNER_TEMP' ? folder : 'another' }
    expect(findMainFiles(other)).toEqual([])
  })

  it('finds the file also if a later step has changed the inputs, and knows that they have changed', () => {
    const { env, file, state } = job({ inputs: { INPUT_PROJECT: 'shop' } })
    expect(hasIdentityOf(env, file)).toBe(true)
    const changed = { ...env, ...state(), INPUT_PROJECT: 'docs' }
    expect(findMainFiles(changed)).toEqual([file])
    expect(hasIdentityOf(changed, file)).toBe(false)
    expect(findMainFiles({ ...changed, STATE_file: '' })).toEqual([])
  })

  it('takes no link, no folder and no file with another name', () => {
    const { env, file, temp } = job()
    symlinkSync(file.path, `${file.path}-link`)
    mkdirSync(`${file.path}-folder`)
    expect(findMainFiles(env)).toEqual([file])
    const other = join(temp, 'other')
    writeFileSync(other, JSON.stringify({ phase: 'started', runId: 'r-1', mayCancel: true }))
    expect(findMainFiles({ ...env, STATE_file: other })).toEqual([])
  })

  it('does not take a file that it cannot read for a removed one', () => {
    const { env, state, file, temp } = job()
    // The folder cannot be looked at, as on a drive that fails.
    renameSync(temp, `${temp}-moved`)
    symlinkSync(temp, temp)
    expect(file.isRemoved()).toBe(false)
    expect(() => file.read()).toThrow('ELOOP')
    expect(() => file.take()).toThrow('ELOOP')
    expect(findMainFiles({ ...env, ...state() })).toEqual([file])
    rmSync(temp)
    expect(file.isRemoved()).toBe(true)
    expect(file.read()).toBeUndefined()
    expect(file.take()).toBeUndefined()
  })

  it('takes the file away with its last record', () => {
    const { file, recorder } = job()
    recorder.started('r-1', true)
    expect(file.take()).toEqual({ record: { phase: 'started', runId: 'r-1', mayCancel: true } })
    expect(file.isRemoved()).toBe(true)
  })

  it('reads the file after it has removed it, so that no later record is lost', () => {
    const { file } = job()
    const late = Object.assign(new MainFile(file.path), {
      remove() {
        // Main writes at the last moment.
        file.append({ phase: 'starting' })
        file.remove()
      },
    })
    expect(late.take()).toEqual({ record: { phase: 'starting' } })
    expect(() => file.append({ phase: 'starting' })).toThrow('there is no file')
  })

  it('reads the file also if it cannot be removed, and says why it stays', () => {
    const { file, recorder } = job()
    recorder.started('r-1', true)
    const locked = Object.assign(new MainFile(file.path), {
      remove() {
        throw new Error('EBUSY: resource busy')
      },
    })
    const record = { phase: 'started', runId: 'r-1', mayCancel: true }
    expect(locked.take()).toEqual({ record, problem: 'EBUSY: resource busy' })
  })

  it('reads only the end of a file that another step has made very long', () => {
    const { file, recorder } = job()
    truncateSync(file.path, 400 * 1024 * 1024)
    recorder.started('r-1', true)
    expect(file.read()).toEqual({ phase: 'started', runId: 'r-1', mayCancel: true })
    appendFileSync(file.path, `\n${'x'.repeat(64 * 1024)}`)
    expect(file.read()).toEqual({ phase: 'unknown' })
  })

  it('finds a file of another user, and does not read it', () => {
    const { env, file } = job()
    expect(file.isOfAnotherUser()).toBe(false)
    const getuid = vi.spyOn(process, 'getuid').mockReturnValue(4_711)
    onTestFinished(() => getuid.mockRestore())
    expect(findMainFiles(env)).toEqual([file])
    expect(file.isOfAnotherUser()).toBe(true)
    expect(file.read()).toBeUndefined()
    expect(file.take()).toBeUndefined()
    expect(statSync(file.path).isFile()).toBe(true)
  })
})

describe('a request to stop', () => {
  it('is answered by its removal, also when main’s own file is gone', () => {
    const { file, recorder, reasonToStop } = job()
    expect(reasonToStop()).toBeUndefined()
    expect(file.askToStop()).toBe(true)
    expect(file.isStopAnswered()).toBe(false)
    recorder.done()
    expect(reasonToStop()).toBe('job ended')
    expect(file.isStopAnswered()).toBe(true)
    expect(reasonToStop()).toBeUndefined()
  })

  it.each(OTHER_THINGS)('counts as not there if it is %s', (_, create) => {
    const { file, reasonToStop } = job()
    create(`${file.path}.stop`)
    expect(reasonToStop()).toBeUndefined()
    expect(file.askToStop()).toBe(false)
    expect(file.isStopAnswered()).toBe(true)
  })

  it('may be there already', () => {
    const { file } = job()
    expect([file.askToStop(), file.askToStop()]).toEqual([true, true])
  })

  it('asks nobody if it cannot be written', () => {
    const { file, temp } = job()
    rmSync(temp, { recursive: true })
    expect(file.askToStop()).toBe(false)
  })
})

it('the job is over if nobody reads the log any more, and main has to stop', () => {
  const { watch, reasonToStop } = job()
  expect(reasonToStop(() => watch.onLogClosed())).toBe('job ended')
})

describe('the runner’s temporary folder', () => {
  it('does not count as emptied if only main’s file was removed: main goes on, and one warning names the run', () => {
    const { recorder, reasonToStop, file, warnings } = job()
    recorder.starting()
    recorder.started('r-1', true)
    file.remove()
    for (const _ of [1, 2]) expect(reasonToStop()).toBeUndefined()
    expect(warnings).toEqual([expect.stringMatching(/about run r-1, because the file .* was removed\. Check/)])
  })
})
