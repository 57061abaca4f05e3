import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { runnerOutput } from '../../src/github/outputs.ts'
import { type Fragment, fragment, html, linesOf, render } from '../../src/text/safe-text.ts'
import { untrusted } from '../../src/text/untrusted.ts'
import { oneLine } from '../../src/text/visible-text.ts'
import { parseKeyValueFile } from '../../tools/runner-emulator/step-runner/file-commands.ts'
import { SecretMasks } from '../../tools/runner-emulator/step-runner/masks.ts'
import { StepLog } from '../../tools/runner-emulator/step-runner/workflow-commands.ts'
import { hostileText } from '../support/hostile-text.ts'
import { linesWrittenBy } from '../support/process-effects.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** Nobody reads it. */
function namedPipe(): string {
  const path = join(temporaryFolder(), 'pipe')
  execFileSync('mkfifo', [path])
  return path
}

function file(text = ''): string {
  const path = join(temporaryFolder(), 'file')
  writeFileSync(path, text)
  return path
}

describe('the log', () => {
  it('has one line for a message, and a warning command for a warning', () => {
    const lines = linesWrittenBy(() => {
      const { log } = runnerOutput({})
      log.info(fragment`Run ${'r-1'}: ${'PASSED\n::error::x'}`)
      log.warning(fragment`100 % of ${'a\nb'}`)
    })
    expect(lines).toEqual(['Run r-1: PASSED ::error::x', '::warning::100 %25 of a b'])
  })

  it.each([
    [{ RUNNER_DEBUG: '1' }, ['::debug::GET /a ::error::x']],
    [{ RUNNER_DEBUG: 'true' }, []],
    [{}, []],
  ])('has debug lines with %j: %j', (env, expected) => {
    const lines = linesWrittenBy(() => runnerOutput(env).log.debug?.(fragment`GET ${'/a\n::error::x'}`))
    expect(lines).toEqual(expected)
  })
})

it.each(['error', 'warning'] as const)('an annotation of the level %s has its title and its message', (level) => {
  const lines = linesWrittenBy(() =>
    runnerOutput({}).annotate({ level, title: 'Tests failed, 3 of 4: see', message: fragment`50 % of ${'cart'}` }),
  )
  expect(lines).toEqual([`::${level} title=Tests failed%2C 3 of 4%3A see::50 %25 of cart`])
})

describe('the place of an annotation', () => {
  const annotate = (filePath: string, line?: number) =>
    linesWrittenBy(() => {
      const file = untrusted(filePath)
      runnerOutput({}).annotate({ level: 'error', title: 'Test failed', message: fragment`why`, file, line })
    })

  it('has the properties by which GitHub finds the line', () => {
    expect(annotate('e2e/pay.spec.ts', 12)).toEqual(['::error title=Test failed,file=e2e/pay.spec.ts,line=12::why'])
    expect(annotate('e2e/pay.spec.ts')).toEqual(['::error title=Test failed,file=e2e/pay.spec.ts::why'])
  })

  it('is one property, whatever the path is', () => {
    fc.assert(
      fc.property(hostileText(), fc.option(fc.integer({ min: 1 }), { nil: undefined }), (filePath, line) => {
        const log = new StepLog(new SecretMasks(), false, () => {})
        for (const written of annotate(filePath, line)) log.read(written)
        const shown = String(oneLine(untrusted(filePath))).replace(/[\u{10000}-\u{10FFFF}]/gu, '\uFFFD')
        expect(log.lines).toEqual(['##[error]why'])
        expect(log.annotations).toHaveLength(1)
        const { title, properties } = log.annotations[0] ?? expect.fail()
        expect(title).toBe('Test failed')
        // The runner leaves out signs of equality at the beginning of a value.
        const file = shown.replaceAll(/#(?=#\[)/g, '# ').replace(/^=+(?=.)/, '')
        expect(properties).toEqual({ ...(file && { file }), ...(line && { line: String(line) }) })
      }),
      { numRuns: 400 },
    )
  })
})

describe('no message makes the runner abort at a cut', () => {
  /** The message as an error, as a warning and as a warning of the log, as the runner reads them with these masks. */
  function expectWritten(message: Fragment, secrets: readonly string[]): void {
    const lines = linesWrittenBy(() => {
      const output = runnerOutput({})
      output.annotate({ level: 'error', title: 'Test failed', message })
      output.annotate({ level: 'warning', title: 'Test failed', message })
      output.log.warning(message)
    })
    const masks = new SecretMasks()
    for (const secret of secrets) masks.add(secret)
    const log = new StepLog(masks, false, () => {})
    for (const line of lines) log.read(line)
    expect(log.fatalMessage).toBeUndefined()
    expect(lines).toHaveLength(3)
    const whole = render(message).replace(/[\u{10000}-\u{10FFFF}]/gu, (pair, index) =>
      index + 2 <= 80 ? pair : '\uFFFD',
    )
    for (const line of lines) {
      const text = line.slice(line.indexOf('::', 2) + 2)
      const sent = text.replaceAll('%0A', '\n').replaceAll('%25', '%')
      expect(sent).toBe(whole.length > 4_000 ? `${whole.slice(0, 3_999)}…` : whole)
    }
  }

  it('whatever texts of others are in it', () => {
    // A cut often separates the halves of an emoji.
    const emoji = fc.tuple(fc.nat(400), fc.nat(4)).map(([count, letters]) => 'x'.repeat(letters) + '😀'.repeat(count))
    const texts = fc.array(fc.oneof(hostileText(), emoji), { minLength: 1, maxLength: 12 })
    fc.assert(
      fc.property(texts, fc.constantFrom([], ['x'], ['e']), (drawn, secrets) => {
        const message = drawn.reduce((before, text) => fragment`${before} is ${text}`, fragment`It`)
        expectWritten(message, secrets)
        expectWritten(fragment`${message}\n${linesOf(untrusted(drawn.join('\n')))}`, secrets)
      }),
      { numRuns: 400 },
    )
  })

  it.each([90, 91])('if a mask of one character makes a message of %i letters and an emoji longer', (letters) => {
    // Each line of a secret is a secret. A secret in JSON has a line that is only a brace.
    expectWritten(fragment`${`${'a{'.repeat(45)}${'b'.repeat(letters)}😀`}`, ['{'])
  })
})

describe('an output', () => {
  it('is in the file of the runner as soon as it is set, as a text', () => {
    const path = file()
    const entries = () => Object.fromEntries(parseKeyValueFile(readFileSync(path, 'utf8')).entries)
    const lines = linesWrittenBy(() => {
      const { setOutput } = runnerOutput({ GITHUB_OUTPUT: path })
      setOutput('run-id', 'r-1')
      expect(entries()).toEqual({ 'run-id': 'r-1' })
      setOutput('conclusion', 'no-tests')
      setOutput('total', 0)
      setOutput('duration-ms', 12_345)
      setOutput('report-dir', '/a folder/=<<x')
    })
    expect(entries()).toEqual({
      'run-id': 'r-1',
      conclusion: 'no-tests',
      total: '0',
      'duration-ms': '12345',
      'report-dir': '/a folder/=<<x',
    })
    expect(lines).toEqual([])
  })

  it('that cannot be written is one warning, however many outputs follow, and the step goes on', () => {
    const lines = linesWrittenBy(() => {
      const { setOutput } = runnerOutput({ GITHUB_OUTPUT: '/nowhere/output' })
      setOutput('run-id', 'r-1')
      setOutput('total', 1)
    })
    expect(lines).toEqual([
      expect.stringMatching(/^::warning::Outputs or the job summary could not be written to .*nowhere/),
    ])
  })

  it('cannot begin another output with a line break', () => {
    const path = file()
    const lines = linesWrittenBy(() =>
      runnerOutput({ GITHUB_OUTPUT: path }).setOutput('report-dir', '/a\nconclusion=passed'),
    )
    expect(readFileSync(path, 'utf8')).toBe('')
    expect(lines).toEqual([expect.stringContaining('report-dir has a line break in it')])
  })
})

test('after the end of the job, no output and no summary is written, because the files may be those of the next job', () => {
  const [output, summary] = [file('run-id=r-1\n'), file('<p>ours</p>')]
  let isRead = true
  const { setOutput, writeSummary } = runnerOutput(
    { GITHUB_OUTPUT: output, GITHUB_STEP_SUMMARY: summary },
    () => isRead,
  )
  setOutput('total', 1)
  isRead = false
  setOutput('status', 'CANCELLED')
  writeSummary(() => html`<p>late</p>`)
  expect([output, summary].map((path) => readFileSync(path, 'utf8'))).toEqual(['run-id=r-1\ntotal=1\n', '<p>ours</p>'])
})

describe('the job summary', () => {
  it('is added to what the file contains, and knows its size', () => {
    const path = file('Grüße\n')
    runnerOutput({ GITHUB_STEP_SUMMARY: path }).writeSummary((alreadyBytes) => html`<p>${alreadyBytes}</p>`)
    expect(readFileSync(path, 'utf8')).toBe('Grüße\n<p>8</p>')
  })

  it('is not written if the runner has no file for it', () => {
    const { writeSummary } = runnerOutput({ GITHUB_STEP_SUMMARY: '' })
    writeSummary(() => {
      throw new Error('it was made')
    })
  })

  it.skipIf(process.platform === 'win32').each([
    [temporaryFolder, 'EISDIR'],
    [() => '/dev/full', 'ENOSPC'],
    [() => join(temporaryFolder(), 'missing'), 'ENOENT'],
    [namedPipe, 'ENXIO'],
  ])('is one warning if it cannot be written: %o', (at, reason) => {
    const { writeSummary } = runnerOutput({ GITHUB_STEP_SUMMARY: at() })
    const lines = linesWrittenBy(() => writeSummary(() => html`<p>lost</p>`))
    expect(lines).toEqual([
      expect.stringMatching(
        /^::warning::Outputs or the job summary could not be written to the runner's command files: /,
      ),
    ])
    expect(lines[0]).toContain(reason)
  })
})
