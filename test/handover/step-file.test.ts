import { execFileSync } from 'node:child_process'
import { appendFileSync, existsSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import {
  createStepFile,
  findStepFiles,
  isNamedFor,
  readStepFile,
  removeStepFile,
} from '../../src/handover/step-file.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const STEP = {
  GITHUB_REPOSITORY: 'shop/shop',
  GITHUB_RUN_ID: `7-${process.pid}`,
  GITHUB_RUN_ATTEMPT: '1',
  GITHUB_JOB: 'test',
  'INPUT_CHECK-RUN-ID': '11',
  RUNNER_NAME: 'runner-1',
  'INPUT_BASE-URL': 'https://tests.example.com',
  INPUT_PROJECT: 'web-shop',
}

function aFile(env: Readonly<Record<string, string>>) {
  const file = createStepFile(env, () => 'first')
  onTestFinished(() => rmSync(file.path, { force: true }))
  return file
}

function stepWithFolder() {
  return { ...STEP, RUNNER_TEMP: temporaryFolder() }
}

describe('main’s file', () => {
  it('is in the runner’s temporary folder, or else in the system’s', () => {
    const env = stepWithFolder()
    const inRunner = aFile(env)
    expect(inRunner.existsInRunnerFolder()).toBe(true)
    expect(inRunner.path).toContain(env.RUNNER_TEMP)
    expect(findStepFiles(env)).toEqual([inRunner.path])
    rmSync(env.RUNNER_TEMP, { recursive: true })
    const inSystem = aFile(env)
    expect(inSystem.existsInRunnerFolder()).toBe(false)
    expect(findStepFiles(env)).toEqual([inSystem.path])
  })

  it('is in the next folder if its first line cannot be written, and is then removed from the first folder', () => {
    const env = stepWithFolder()
    const paths: string[] = []
    const file = createStepFile(env, (path) => {
      paths.push(path)
      if (paths.length === 1) throw new Error('no space')
      return 'first'
    })
    onTestFinished(() => rmSync(file.path, { force: true }))
    expect(paths).toHaveLength(2)
    expect(paths.map((path) => existsSync(path))).toEqual([false, true])
    expect(file.path).toBe(paths[1])
  })

  it('gets one line after another, and a line after its removal is an error', () => {
    const file = aFile(stepWithFolder())
    file.append('second')
    expect(readStepFile(file.path)).toBe('first\nsecond\n')
    file.empty()
    file.append('third')
    expect(readStepFile(file.path)).toBe('third\n')
    removeStepFile(file.path)
    expect(file.existsInRunnerFolder()).toBe(false)
    expect(() => file.append('fourth')).toThrow('was removed')
    expect(readStepFile(file.path)).toBeUndefined()
    expect(existsSync(file.path)).toBe(false)
  })
})

describe('a file that another step has changed', () => {
  it('is read only as far as records can reach', () => {
    const file = aFile(stepWithFolder())
    appendFileSync(file.path, '\n'.repeat(1_000_000))
    const text = readStepFile(file.path) ?? ''
    expect(text.startsWith('first\n')).toBe(true)
    expect(text.length).toBeLessThan(200_000)
  })

  it('is not read if it is a link or a named pipe now', () => {
    const file = aFile(stepWithFolder())
    rmSync(file.path)
    symlinkSync('/dev/zero', file.path)
    expect(readStepFile(file.path)).toBeUndefined()
    rmSync(file.path)
    execFileSync('mkfifo', [file.path])
    expect(readStepFile(file.path)).toBeUndefined()
  })
})

describe('the identity of a step', () => {
  it.each([
    ['another leg of the matrix', { 'INPUT_CHECK-RUN-ID': '12' }],
    ['another runner of the machine', { RUNNER_NAME: 'runner-2' }],
    ['another workflow run', { GITHUB_RUN_ID: '9' }],
    ['a runner with another temporary folder', { RUNNER_TEMP: '/not/there' }],
    ['a re-run', { GITHUB_RUN_ATTEMPT: '2' }],
    ['another job', { GITHUB_JOB: 'lint' }],
    ['another repository', { GITHUB_REPOSITORY: 'shop/other' }],
    ['a use that talks to another project', { INPUT_PROJECT: 'docs' }],
    ['a use that talks to another service', { 'INPUT_BASE-URL': 'https://other.example.com' }],
    ['a use that runs a test suite', { 'INPUT_TEST-SUITE': 'smoke' }],
  ])('is not the identity of %s', (_, other) => {
    const env = stepWithFolder()
    const { path } = aFile(env)
    expect(isNamedFor(env, path)).toBe(true)
    expect(isNamedFor({ ...env, ...other }, path)).toBe(false)
  })

  it('distinguishes the file of this step from others in one folder', () => {
    const env = stepWithFolder()
    const mine = aFile(env)
    aFile({ ...env, INPUT_PROJECT: 'docs' })
    expect(findStepFiles(env)).toEqual([mine.path])
  })
})

describe('post reads and removes', () => {
  it('no link in the place of main’s file', () => {
    const env = stepWithFolder()
    const { path } = aFile(env)
    const target = join(temporaryFolder(), basename(path))
    writeFileSync(target, 'other')
    rmSync(path)
    symlinkSync(target, path)
    expect(findStepFiles(env)).toEqual([])
    expect(readStepFile(path)).toBeUndefined()
    removeStepFile(path)
    expect(existsSync(path)).toBe(true)
  })

  it('no file with another name', () => {
    const { path } = aFile(stepWithFolder())
    const other = join(dirname(path), 'notes.txt')
    writeFileSync(other, 'kept')
    expect(readStepFile(other)).toBeUndefined()
    removeStepFile(other)
    expect(existsSync(other)).toBe(true)
  })

  it.skipIf(process.getuid === undefined)('no file of another user', () => {
    const env = stepWithFolder()
    const { path } = aFile(env)
    const getuid = vi.spyOn(process, 'getuid').mockReturnValue(statSync(path).uid + 1)
    onTestFinished(() => getuid.mockRestore())
    expect(findStepFiles(env)).toEqual([])
    expect(readStepFile(path)).toBeUndefined()
  })
})
