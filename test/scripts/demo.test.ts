import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { runDemo } from '../../scripts/demo.ts'
import { type DemoOptions, parseDemoArguments } from '../../scripts/demo-options.ts'
import { startScriptedService } from '../../tools/scripted-service/scripted-service.ts'
import { aRepository } from '../support/git-repository.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

let folder = ''
let printed: string[] = []

beforeEach(() => {
  folder = join(temporaryFolder(), 'demo')
  printed = []
})

async function demo(args: readonly string[], stopAt?: RegExp): Promise<number> {
  const stop = new AbortController()
  return runDemo(parseDemoArguments(args) as DemoOptions, {
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

describe('the demo', () => {
  test('shows a failing run with real cases and the place of its reports, and shows no key', async () => {
    expect(await demo(['--fail', '--input', 'framework-project=unit'])).toBe(1)
    expect(output('conclusion')).toBe('failed')
    expect(printed).toContainEqual(
      expect.stringMatching(/^Error: Run .* finished as FAILED: 1 of \d+ test cases failed/),
    )
    expect(printed).toContain('The step: failure')
    const steps = ['▼ Run ./local-service', '▼ Run ./', '▼ Post Run ./', '▼ Post Run ./local-service']
    expect(printed.filter((line) => /^▼ (?:Post )?Run /.test(line))).toEqual(steps)
    expect(readFileSync(join(folder, 'summary.md'), 'utf8')).toMatch(/<code>\[unit\] &gt; money &gt; .*half a cent/)
    expect(printed).toContain('  TEST_RUN_SERVICE_KEY: ***')
    expect(printed.filter((line) => /TEST_RUN_SERVICE_KEY: (?!\*\*\*$)/.test(line))).toEqual([])
    const reports = ['ctrf.json', 'junit.xml', 'results.json']
    expect(reports.map((file) => existsSync(join(output('report-dir') ?? '', file)))).toEqual([true, true, true])
  })

  test('shows a cancel on demand, and ends its service', async () => {
    expect(await demo(['--input', 'summary=never'], / was started for /)).toBe(1)
    expect(printed).toContain('The step: cancelled')
    expect(output('conclusion')).toBe('cancelled')
    expect(printed).toContain('  summary: never')
    expect(printed.join('\n')).toMatch(/ This step cancelled the run\./)
    const url = /TEST_RUN_SERVICE_URL: (\S+)/.exec(printed.join('\n'))?.[1] ?? ''
    await expect(fetch(url)).rejects.toThrow('fetch failed')
  })
})

test('the demo of a project of your own runs no gate if the service refuses to start', async () => {
  const shop = (await aRepository({ 'package.json': '{ "devDependencies": { "vitest": "*" } }' })).folder
  expect(await demo(['--folder', shop, '--service-input', 'run-limit-minutes=0'])).toBe(1)
  expect(printed).toContain('Error: run-limit-minutes is "0". Give a number from 0.001 to 35000.')
  expect(printed).not.toContain('▼ Run ./')
  expect(printed).toContain('The step: failure')
})

test('the demo of a service of your own starts no service, and shows no key', async () => {
  const script = { cases: [{ title: 'pays', status: 'PASSED' }] }
  const service = await startScriptedService({ key: 'a-key-of-mine', script })
  onTestFinished(() => service.close())
  const keyFile = join(folder, '../key.txt')
  writeFileSync(keyFile, 'a-key-of-mine\n')
  expect(await demo(['--base-url', service.url, '--key-file', keyFile, '--project', 'shop'])).toBe(0)
  expect(output('conclusion')).toBe('passed')
  expect(printed).toContain('  project: shop')
  expect(printed.join('\n')).not.toContain('a-key-of-mine')
  expect(printed).not.toContain('▼ Run ./local-service')
  expect(service.requests[0]?.body).toBe('{"branch":"main"}')
})

test.each([
  [['--input', 'wait=maybe'], 1, /The step: failure\n/, /^$/],
  [['--nope'], 2, /^$/, /^Unknown option '--nope': see --help\.\n$/],
  [['--help'], 0, /--signal-after SECONDS/, /^$/],
])('the command %j exits with %i', (args, code, out, err) => {
  const script = resolve(import.meta.dirname, '../../scripts/demo.ts')
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], { encoding: 'utf8' })
  expect([status, stdout, stderr]).toEqual([code, expect.stringMatching(out), expect.stringMatching(err)])
})

describe('the options', () => {
  test('are inputs, a bug in the shop and the time of a cancel', () => {
    expect(parseDemoArguments(['--fail', '--signal-after', '1.5', '--input', 'a==b=c', '--input=d='])).toEqual({
      inputs: { 'env-overrides': 'WEB_SHOP_BUG=rounding', a: '=b=c', d: '' },
      localService: { folder: resolve(import.meta.dirname, '../../examples/web-shop'), inputs: {} },
      signalAfterMs: 1500,
    })
  })

  test('are a project, from the folder in which npm was called, and inputs of its service', () => {
    const [above, name] = [resolve(import.meta.dirname, '..'), basename(import.meta.dirname)]
    const args = ['--folder', name, '--service-input', 'framework=vitest']
    const localService = { folder: import.meta.dirname, inputs: { framework: 'vitest' } }
    expect(parseDemoArguments(args, above)).toEqual({ inputs: {}, localService })
  })

  test.each([
    [['fail'], "'fail'"],
    [['--input', 'wait'], '"wait"'],
    [['--signal-after='], 'number of seconds'],
    [['--fail', '--input', 'env-overrides=A=1'], 'WEB_SHOP_BUG'],
    [['--fail', '--folder', '.'], '--folder'],
    [['--folder', '.', '--base-url', 'http://localhost:1'], '--folder'],
    [['--base-url', 'http://localhost:1'], '--key-file'],
    [['--base-url', 'http://localhost:1', '--key-file', '/dev/null'], '/dev/null'],
    [['--project', 'shop'], '--base-url'],
    [['--base-url', 'http://localhost:1', '--service-input', 'config=a.json'], '--service-input'],
  ])('%j is one problem, and one sentence names it', (args, part) => {
    expect(() => parseDemoArguments(args)).toThrow(part)
    expect(() => parseDemoArguments(args)).toThrow(/^[^\n]*: see --help\.$/)
  })
})
