import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { parseDemoArguments } from '../../scripts/demo-options.ts'
import { runDemo } from '../../scripts/run-demo.ts'

let folder = ''
let printed: string[] = []

beforeEach(() => {
  folder = join(realpathSync(mkdtempSync(join(tmpdir(), 'demo-test-'))), 'demo')
  printed = []
})

afterEach(() => rmSync(resolve(folder, '..'), { recursive: true, force: true }))

async function demo(args: readonly string[], stopAt?: RegExp): Promise<number> {
  const stop = new AbortController()
  const parsed = parseDemoArguments(args)
  if (parsed.kind !== 'run') throw new Error(`not a run: ${parsed.kind}`)
  return runDemo(parsed.options, {
    folder,
    print: (line) => {
      printed.push(line)
      if (stopAt?.test(line)) stop.abort()
    },
    stop: stop.signal,
  })
}

function output(name: string): string | undefined {
  return printed.map((line) => /^ {2}(\S+) +(.*)$/.exec(line)).find((match) => match?.[1] === name)?.[2]
}

function summaryPage(): string {
  return readFileSync(join(folder, 'summary.html'), 'utf8')
}

describe('the demo', () => {
  test('shows a passing run with real cases, where its reports are, and no key', async () => {
    expect(await demo([])).toBe(0)
    expect(output('conclusion')).toBe('passed')
    expect(Number(output('passed'))).toBeGreaterThan(10)
    expect(printed).toContain('The step: success')
    expect(printed).toContain('▼ Post Run ./')
    const reports = ['ctrf.json', 'junit.xml', 'results.json', 'summary.md']
    expect(reports.map((file) => existsSync(join(output('report-dir') ?? '', file)))).toEqual([true, true, true, true])
    expect(summaryPage()).toContain('<h2>✅')
    expect(printed).toContain('  api-key: ***')
    expect(printed).toContain('  github-token: ***')
    expect(printed.filter((line) => /(api-key|github-token): (?!\*\*\*$)/.test(line))).toEqual([])
  })

  test('shows a failing run that names the failing tests', async () => {
    expect(await demo(['--fail'])).toBe(1)
    expect(output('conclusion')).toBe('failed')
    expect(printed.some((line) => /^Error: Run .* finished as FAILED: 2 of \d+ test cases failed/.test(line))).toBe(
      true,
    )
    expect(summaryPage()).toMatch(/<code>money &gt; .*half a cent/)
  })

  test('shows a cancel on demand, with the run cancelled at the service', async () => {
    expect(await demo([], /RUNNING$/)).toBe(1)
    expect(printed).toContain('The step: cancelled')
    expect(output('conclusion')).toBe('cancelled')
    expect(readFileSync(join(folder, 'service.log'), 'utf8')).toContain('CANCELLED')
  })

  test('passes inputs on as they were given, and leaves no service behind', async () => {
    expect(await demo(['--input', 'wait=false', '--input', 'summary=never'])).toBe(0)
    expect(printed).toContain('  summary: never')
    expect(readFileSync(join(folder, 'summary.md'), 'utf8')).toBe('')
    const url = /base-url: (\S+)/.exec(printed.join('\n'))?.[1] ?? ''
    await expect(fetch(url)).rejects.toThrow('fetch failed')
  })

  test('does not mix its files with those of another that is running', async () => {
    const first = demo(['--input', 'wait=false'])
    await expect(demo([])).rejects.toThrow(
      /^Another demo, process \d+, is writing to .*: wait until it exits or stop it/,
    )
    expect(await first).toBe(0)
    expect(await demo(['--input', 'project='])).toBe(1)
  })

  test('shows a cancel before the action can handle it, perhaps without outputs and without a log of the service', async () => {
    // If node had not installed the handlers yet, it ended at the signal.
    expect([1, 128 + 2]).toContain(await demo(['--signal-after', '0']))
    expect(printed).toContain('The step: cancelled')
    if (output('conclusion') === undefined) expect(printed).toContain('Its outputs: none')
    const isServiceLog = (line: string) => line.startsWith("The service's log")
    expect(printed.some(isServiceLog)).toBe(existsSync(join(folder, 'service.log')))
  })
})

describe('the command', () => {
  async function command(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
    const script = resolve(import.meta.dirname, '../../scripts/demo.ts')
    const child = spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
    const code = new Promise<number>((done) => child.once('exit', (exitCode) => done(exitCode ?? -1)))
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
    return { code: await code, stdout, stderr }
  }

  test('exits with the exit code of the step', async () => {
    const { code, stdout } = await command('--input', 'project=')
    expect(code).toBe(1)
    expect(stdout).toContain('The step: failure\n')
  })

  test('says in one sentence what is wrong with its options', async () => {
    expect(await command('--nope')).toEqual({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/^Unknown option '--nope': see --help\.\n$/),
    })
  })

  test('says how it is used', async () => {
    expect(await command('--help')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('--signal-after SECONDS'),
    })
  })
})

describe('the options', () => {
  test('are inputs, a bug in the shop and the time of a cancel', () => {
    const args = ['--fail', '--signal-after', '1.5', '--input', 'a==b=c', '--input=d=']
    expect(parseDemoArguments(args)).toEqual({
      kind: 'run',
      options: { inputs: { 'env-overrides': 'WEB_SHOP_BUG=rounding', a: '=b=c', d: '' }, signalAfterMs: 1500 },
    })
    expect(parseDemoArguments([])).toEqual({ kind: 'run', options: { inputs: {} } })
    expect(parseDemoArguments(['--fail', '--help'])).toEqual({ kind: 'help' })
  })

  test.each([
    [['--fial'], '--fial'],
    [['fail'], "'fail'"],
    [['--fail=yes'], '--fail'],
    [['--input'], '--input'],
    [['--input', 'wait'], '"wait"'],
    [['--input', '=x'], '"=x"'],
    [['--signal-after', 'soon'], '"soon"'],
    [['--signal-after='], 'number of seconds'],
    [['--fail', '--input', 'env-overrides=A=1'], 'WEB_SHOP_BUG'],
  ])('%j is one problem, named in one sentence', (args, part) => {
    const parsed = parseDemoArguments(args)
    expect(parsed).toEqual({ kind: 'problem', message: expect.stringContaining(part) })
    expect(parsed).toEqual({ kind: 'problem', message: expect.stringMatching(/^[^\n]*: see --help\.$/) })
  })
})
