import { execFileSync } from 'node:child_process'
import { beforeAll, describe, expect, test } from 'vitest'
import { scenario } from './support/scenario.ts'

// Tests of Windows that run on any machine. They use Node's own rules for Windows paths, and the signals that Node raises on
// Windows. The workflow CI runs the action on Windows itself.

const EVENT = new URL('../src/github/event.ts', import.meta.url).href
const INPUTS = new URL('../src/inputs/inputs.ts', import.meta.url).href
const REPORT_FOLDER = new URL('../src/github/report-files.ts', import.meta.url).href

/** Code for `--import`. It replaces `node:path` by the module for Windows. */
const WINDOWS_PATHS = `
  import { registerHooks } from 'node:module'
  registerHooks({
    resolve: (name, context, next) => next(/^(node:)?path$/.test(name) ? 'node:path/win32' : name, context),
  })
`

describe('on Windows, report-dir', () => {
  const FOLDERS = [
    ['out/reports', 'D:\\a\\shop\\shop\\out\\reports'],
    ['out\\reports', 'D:\\a\\shop\\shop\\out\\reports'],
    ['D:\\a\\_temp\\reports', 'D:\\a\\_temp\\reports'],
    ['d:\\A\\Shop\\SHOP\\reports', 'd:\\A\\Shop\\SHOP\\reports'],
    ['..reports', 'D:\\a\\shop\\shop\\..reports'],
  ] as const
  let found: ReadonlyMap<string, string>

  beforeAll(() => {
    found = readReportDirs(FOLDERS.map(([given]) => given))
  })

  test.each(FOLDERS)('%s is %s', (given, folder) => {
    expect(found.get(given)).toBe(folder)
  })

  test('has a default that is a valid file name', () => {
    expect(found.get('')).toBe('D:\\a\\_temp\\test-run-run_1_2_3')
  })
})

test('on Windows, SIGBREAK cancels the run and ends the step', async () => {
  // Node raises SIGBREAK at the second console event of Windows. Other systems cannot send it, so the test raises it.
  const whenItRuns = `
    const write = process.stdout.write
    process.stdout.write = function (text, ...rest) {
      if (/: RUNNING/.test(text)) setImmediate(() => process.emit('SIGBREAK', 'SIGBREAK'))
      return write.call(this, text, ...rest)
    }
  `
  await using one = await scenario({
    script: { runningMs: Number.POSITIVE_INFINITY },
    env: { NODE_OPTIONS: `--import=${toModule(whenItRuns)}` },
  })
  const { main } = await one.step.run()
  expect(main.exitCode).toBe(1)
  expect(main.outputs.conclusion).toBe('cancelled')
  expect(one.service.runs.map(({ status }) => status)).toEqual(['CANCELLED'])
  expect(one.service.requests.filter(({ kind }) => kind === 'cancel')).toHaveLength(1)
})

/** The folder for each value. One process does all values. */
function readReportDirs(values: readonly string[]): ReadonlyMap<string, string> {
  const code = `
    import { readEvent } from ${JSON.stringify(EVENT)}
    import { readInputs } from ${JSON.stringify(INPUTS)}
    import { defaultReportFolder } from ${JSON.stringify(REPORT_FOLDER)}
    const found = [['', defaultReportFolder(process.env, 'run:1/2=3')]]
    for (const value of ${JSON.stringify(values)}) {
      process.env['INPUT_REPORT-DIR'] = value
      found.push([value, readInputs(process.env, readEvent(process.env)).reportDir])
    }
    console.log(JSON.stringify(found))
  `
  const args = ['--import', toModule(WINDOWS_PATHS), '--input-type=module', '--eval', code]
  const env = {
    ...process.env,
    'INPUT_BASE-URL': 'https://tests.example.com',
    'INPUT_API-KEY': 'a-key',
    INPUT_PROJECT: 'web-shop',
    INPUT_BRANCH: 'main',
    GITHUB_WORKSPACE: 'D:\\a\\shop\\shop',
    RUNNER_TEMP: 'D:\\a\\_temp',
  }
  const lines = execFileSync(process.execPath, args, { env, encoding: 'utf8' }).trimEnd().split('\n')
  // The lines before are the workflow commands that mask the key.
  return new Map(JSON.parse(lines.at(-1) ?? ''))
}

function toModule(code: string): string {
  return `data:text/javascript,${encodeURIComponent(code)}`
}
