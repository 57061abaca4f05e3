import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { runnerOutput } from '../../src/github/outputs.ts'
import { html, logLine } from '../../src/text/safe-text.ts'
import { parseKeyValueFile } from '../../tools/runner-emulator/file-commands.ts'
import { linesWrittenBy, withEnvironment } from '../support/process-effects.ts'

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'output-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

function file(text = ''): string {
  const path = join(folder(), 'file')
  writeFileSync(path, text)
  return path
}

describe('the log', () => {
  it('has one line for a message, and a warning command for a warning', () => {
    const lines = linesWrittenBy(() => {
      const { log } = runnerOutput({})
      log.info(logLine`Run ${'r-1'}: ${'PASSED\n::error::x'}`)
      log.warning(logLine`100 % of ${'a\nb'}`)
    })
    expect(lines).toEqual(['Run r-1: PASSED ::error::x', '::warning::100 %25 of a b'])
  })
})

describe('an annotation', () => {
  it.each(['error', 'warning'] as const)('of the level %s has its title and its message', (level) => {
    const lines = linesWrittenBy(() =>
      runnerOutput({}).annotate({ level, title: 'Tests failed, 3 of 4: see', message: logLine`50 % of ${'cart'}` }),
    )
    expect(lines).toEqual([`::${level} title=Tests failed%2C 3 of 4%3A see::50 %25 of cart`])
  })
})

describe('an output', () => {
  it('is in the file of the runner as soon as it is set, and is written as its text', () => {
    const path = file()
    const entries = () => Object.fromEntries(parseKeyValueFile(readFileSync(path, 'utf8')).entries)
    const lines = linesWrittenBy(() =>
      withEnvironment({ GITHUB_OUTPUT: path }, () => {
        const { setOutput } = runnerOutput({})
        setOutput('run-id', 'r-1')
        expect(entries()).toEqual({ 'run-id': 'r-1' })
        setOutput('conclusion', 'no-tests')
        setOutput('total', 0)
        setOutput('duration-ms', 12_345)
      }),
    )
    expect(entries()).toEqual({ 'run-id': 'r-1', conclusion: 'no-tests', total: '0', 'duration-ms': '12345' })
    expect(lines).toEqual([])
  })

  it('that cannot be written is one warning, however many follow, and stops nothing', () => {
    const lines = linesWrittenBy(() =>
      withEnvironment({ GITHUB_OUTPUT: '/nowhere/output' }, () => {
        const { setOutput } = runnerOutput({})
        setOutput('run-id', 'r-1')
        setOutput('total', 1)
      }),
    )
    expect(lines).toEqual([expect.stringMatching(/^::warning::Cannot write the runner's command files: .*nowhere/)])
  })
})

describe('the job summary', () => {
  it('is added to what the file holds, and knows the size of that on Windows', () => {
    const path = file('Grüße\n')
    runnerOutput({ GITHUB_STEP_SUMMARY: path }).writeSummary((alreadyBytes) => html`<p>${alreadyBytes}</p>`)
    expect(readFileSync(path, 'utf8')).toBe('Grüße\n<p>9</p>')
  })

  it('begins a file that is not there yet', () => {
    const path = join(folder(), 'summary')
    runnerOutput({ GITHUB_STEP_SUMMARY: path }).writeSummary((alreadyBytes) => html`<p>${alreadyBytes}</p>`)
    expect(readFileSync(path, 'utf8')).toBe('<p>0</p>')
  })

  it('is not made if the runner has no file for it', () => {
    const { writeSummary } = runnerOutput({ GITHUB_STEP_SUMMARY: '' })
    writeSummary(() => {
      throw new Error('it was made')
    })
  })

  it('is one warning if it cannot be written', () => {
    const path = folder()
    const lines = linesWrittenBy(() =>
      runnerOutput({ GITHUB_STEP_SUMMARY: path }).writeSummary(() => html`<p>lost</p>`),
    )
    expect(lines).toEqual([expect.stringMatching(/^::warning::The job summary could not be written: .*EISDIR/)])
  })

  it('is one warning if it cannot be made', () => {
    const lines = linesWrittenBy(() =>
      runnerOutput({ GITHUB_STEP_SUMMARY: file() }).writeSummary(() => {
        throw new Error('too many\ncases')
      }),
    )
    expect(lines).toEqual(['::warning::The job summary could not be written: Error: too many cases'])
  })
})
