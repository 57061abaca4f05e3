import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  createMainFile,
  findMainFiles,
  hasIdentityOf,
  lastLine,
  MainFile,
  STATE_NAME,
} from '../../src/handover/main-file.ts'
import { MainFileNotWritten, MainFileWriter, openMainFile } from '../../src/handover/main-file-writer.ts'
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

const STARTED = { phase: 'started', runId: 'r-1', mayCancel: true } as const

/** Main in a job of its own, so that no file of another test in the system's folder has its identity. */
function job(inputs: Readonly<Record<string, string>> = {}) {
  const folder = temporaryFolder()
  const temp = join(folder, 'temp')
  mkdirSync(temp)
  const statePath = join(folder, 'state')
  appendFileSync(statePath, '')
  const env = { GITHUB_STATE: statePath, RUNNER_TEMP: temp, ...inputs }
  const mainFile = openMainFile(env)
  const warnings: string[] = []
  mainFile.attachLog({ warning: (message) => warnings.push(render(message)) })
  const file = findMainFiles(env)[0] ?? expect.fail('main has created no file')
  onTestFinished(() => file.removeAll())
  /** What the runner gives post as `STATE_…`. */
  const state = () => {
    const { entries, problem } = parseKeyValueFile(readFileSync(statePath, 'utf8'))
    expect(problem).toBeUndefined()
    return Object.fromEntries([...entries].map(([name, value]) => [`STATE_${name}`, value]))
  }
  return { env, temp, warnings, mainFile, file, state }
}

/** The folder becomes one that cannot be looked at, as on a network drive that fails. */
function breakFolder(folder: string): void {
  rmSync(folder, { recursive: true })
  symlinkSync(folder, folder)
}

describe('main’s file', () => {
  it('says what is left to do, and is removed when nothing is left', () => {
    const { mainFile, file } = job()
    expect(file.read()).toEqual({ phase: 'nothing started' })
    mainFile.starting()
    expect(file.read()).toEqual({ phase: 'starting' })
    mainFile.started('r-1', true)
    expect(file.read()).toEqual(STARTED)
    mainFile.done()
    expect(file.exists()).toBe(false)
  })

  it('says that nothing was started if it cannot be removed, so that post cancels no run', () => {
    const { file } = job()
    file.append(STARTED)
    const locked = Object.assign(new MainFile(file.path), {
      remove() {
        throw new Error('EBUSY')
      },
    })
    new MainFileWriter(locked).done()
    expect(file.read()).toEqual({ phase: 'nothing started' })
  })

  it('contains no key, and only its owner can read it', () => {
    const { mainFile, file } = job({
      'INPUT_API-KEY': 'sk-live-0123456789',
      'INPUT_BASE-URL': 'https://example.com',
      INPUT_PROJECT: 'shop',
    })
    mainFile.started('r-1', true)
    expect(file.path + readFileSync(file.path, 'utf8')).not.toMatch(/sk-live|example\.com|shop/)
    expect(statSync(file.path).mode & 0o777).toBe(0o600)
  })

  it('counts up to its last whole line', () => {
    const text = (...lines: readonly unknown[]) => lines.map((line) => JSON.stringify(line)).join('\n')
    const noise = [null, [], 7, {}, { phase: 'done' }, { phase: 'started' }, { ...STARTED, mayCancel: 'yes' }]
    expect(lastLine(text({ phase: 'starting' }, STARTED, ...noise))).toEqual(STARTED)
    expect(lastLine(text({ phase: 'starting' }, STARTED).slice(0, -1))).toEqual({ phase: 'starting' })
    expect(lastLine('')).toBeUndefined()
  })

  it('has a whole line after a line that a full disk has cut', () => {
    const { mainFile, file } = job()
    appendFileSync(file.path, '\n{"phase":"star')
    expect(file.read()).toEqual({ phase: 'nothing started' })
    mainFile.started('r-1', true)
    expect(file.read()).toEqual(STARTED)
  })

  it('is in the system’s folder if the runner’s cannot be written', () => {
    const env = { RUNNER_TEMP: join(temporaryFolder(), 'none') }
    const file = createMainFile(env)
    onTestFinished(() => file.removeAll())
    expect(file.read()).toEqual({ phase: 'nothing started' })
    expect(findMainFiles(env)).toEqual([file])
  })
})

describe.each(OTHER_THINGS)('%s', (_, create) => {
  it('in the place of main’s file counts as nothing, and nobody waits for it', () => {
    const { env, state, file, mainFile } = job()
    rmSync(file.path)
    create(file.path)
    expect(() => mainFile.starting()).toThrow(`there is no file ${file.path}`)
    expect(mainFile.answerPostAndCheckStop()).toBe(true)
    expect([...findMainFiles({ ...env, ...state() }), ...findMainFiles(env)]).toEqual([])
    rmSync(file.path, { recursive: true })
  })

  it('in the place of a request to stop counts as nothing', () => {
    const { file, mainFile } = job()
    create(`${file.path}.stop`)
    expect(mainFile.answerPostAndCheckStop()).toBe(false)
    expect(file.askToStop()).toBe(false)
  })
})

describe('a line that cannot be written', () => {
  it('starts nothing, and the error says where it could not be written', () => {
    const { mainFile, file, temp } = job()
    file.remove()
    expect(() => mainFile.starting()).toThrow(MainFileNotWritten)
    expect(() => mainFile.starting()).toThrow(basename(file.path))
    expect(readdirSync(temp)).toEqual([])
  })

  it('is one warning that names the run', () => {
    const { mainFile, file, warnings } = job()
    mainFile.starting()
    file.remove()
    mainFile.started('r-1', true)
    mainFile.done()
    const warning = /not know what is left to do about run r-1, because .* write its file: there is no file \//
    expect(warnings).toEqual([expect.stringMatching(warning)])
  })

  it.each([
    ['is not there', () => {}],
    ['is a named pipe', (path: string) => void execFileSync('mkfifo', [path])],
  ])('does not matter if it is the path in the runner’s state, whose file %s', (_, create) => {
    const temp = temporaryFolder()
    const statePath = join(temp, 'state')
    create(statePath)
    openMainFile({ GITHUB_STATE: statePath, RUNNER_TEMP: temp }).starting()
    expect(findMainFiles({ RUNNER_TEMP: temp }).map((file) => file.read())).toEqual([{ phase: 'starting' }])
  })
})

describe('post', () => {
  it('takes only the file that the runner’s state names', () => {
    const { env, file, state } = job()
    createMainFile(env)
    expect(findMainFiles({ ...env, ...state() })).toEqual([file])
    file.remove()
    expect(findMainFiles({ ...env, ...state() })).toEqual([])
  })

  it('takes, and so removes, no file of another name', () => {
    const path = join(temporaryFolder(), 'passwd')
    writeFileSync(path, JSON.stringify({ phase: 'starting' }))
    expect(findMainFiles({ [`STATE_${STATE_NAME}`]: path })).toEqual([])
  })

  it('takes all files of this identity if the state is lost, and no request to stop', () => {
    const { env, file } = job({ INPUT_PROJECT: 'shop' })
    const sibling = createMainFile(env)
    createMainFile({ ...env, INPUT_PROJECT: 'docs' })
    file.askToStop()
    const paths = findMainFiles(env).map(({ path }) => path)
    expect(paths.toSorted()).toEqual([file.path, sibling.path].toSorted())
  })

  it.each([
    ...['GITHUB_REPOSITORY', 'GITHUB_RUN_ID', 'GITHUB_RUN_ATTEMPT', 'GITHUB_JOB', 'INPUT_CHECK-RUN-ID'],
    ...['RUNNER_NAME', 'RUNNER_TEMP', 'INPUT_BASE-URL', 'INPUT_PROJECT', 'INPUT_TEST-SUITE'],
    ...['TEST_RUN_SERVICE_URL', 'TEST_RUN_SERVICE_PROJECT'],
  ])('takes no file of a step with another %s, if the state is lost', (name) => {
    const { env, temp } = job()
    // A folder with the same files, but with another name.
    const folder = join(temp, '../link')
    symlinkSync(temp, folder)
    const other = { ...env, [name]: name === 'RUNNER_TEMP' ? folder : 'another' }
    expect(findMainFiles(other)).toEqual([])
  })

  it('does not look at what a later step has announced, if the step names its service', () => {
    const { env, file } = job({ 'INPUT_BASE-URL': 'https://example.com' })
    const later = { TEST_RUN_SERVICE_URL: 'http://127.0.0.1:1', TEST_RUN_SERVICE_PROJECT: 'shop' }
    expect(findMainFiles({ ...env, ...later })).toEqual([file])
  })

  it('finds the file also if a later step has changed the inputs, and knows that they have changed', () => {
    const { env, file, state } = job({ INPUT_PROJECT: 'shop' })
    expect(hasIdentityOf(env, file)).toBe(true)
    const changed = { ...env, ...state(), INPUT_PROJECT: 'docs' }
    expect(findMainFiles(changed)).toEqual([file])
    expect(hasIdentityOf(changed, file)).toBe(false)
  })

  it('does not take a file that it cannot read for a removed one', () => {
    const { env, state, file, temp } = job()
    breakFolder(temp)
    expect(findMainFiles({ ...env, ...state() })).toEqual([file])
    expect(() => file.read()).toThrow('ELOOP')
    expect(file.isStopAnswered()).toBe(false)
  })

  it('removes main’s file and its own request at the end', () => {
    const { file, temp } = job()
    expect([file.askToStop(), file.askToStop()]).toEqual([true, true])
    file.removeAll()
    expect(readdirSync(temp)).toEqual([])
  })
})

describe('main must stop', () => {
  it('if post asks it. Main answers by removing the request', () => {
    const { file, mainFile } = job()
    expect(mainFile.answerPostAndCheckStop()).toBe(false)
    file.askToStop()
    expect(file.isStopAnswered()).toBe(false)
    expect(mainFile.answerPostAndCheckStop()).toBe(true)
    expect(file.isStopAnswered()).toBe(true)
    expect(mainFile.answerPostAndCheckStop()).toBe(false)
  })

  it('if its file is gone, because the job has ended. Main does not create the file again', () => {
    const { mainFile, file, temp } = job()
    mainFile.starting()
    file.remove()
    mainFile.started('r-1', true)
    expect(mainFile.answerPostAndCheckStop()).toBe(true)
    expect(readdirSync(temp)).toEqual([])
  })

  it('not when nothing is left to do, and not if it could not create its file', () => {
    const { mainFile } = job()
    mainFile.done()
    expect(mainFile.answerPostAndCheckStop()).toBe(false)
    expect(new MainFileWriter(new MainFile('/nowhere/file')).answerPostAndCheckStop()).toBe(false)
  })

  it('not while its folder cannot be looked at', () => {
    const { mainFile, temp } = job()
    breakFolder(temp)
    expect(mainFile.answerPostAndCheckStop()).toBe(false)
  })
})
