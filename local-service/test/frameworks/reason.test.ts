import { describe, expect, it } from 'vitest'
import {
  findCrash,
  findNoMemory,
  findSaidError,
  findStartError,
  lastParagraph,
  whyNotPassed,
} from '../../src/frameworks/reason.ts'
import type { Report } from '../../src/frameworks/report.ts'
import type { TestCase } from '../../src/frameworks/test-case.ts'
import { vitest } from '../../src/frameworks/vitest.ts'
import type { CommandEnd } from '../../src/machine/command.ts'

// What the versions of the frameworks print. The colours are as the service leaves them out.

const BROKEN_CONFIGURATION = `
failed to load config from /shop/vitest.config.mjs

⎯⎯⎯⎯⎯⎯⎯ Startup Error ⎯⎯⎯⎯⎯⎯⎯⎯
Error: no config for you
    at file:///shop/node_modules/.vite-temp/vitest.config.mjs.timestamp-1.mjs:2:7
    at ModuleJob.run (node:internal/modules/esm/module_job:561:25)

`

const PROVIDER_OF_VITEST_3 = `
 RUN  v3.0.0 /shop

⎯⎯⎯⎯⎯⎯ Unhandled Errors ⎯⎯⎯⎯⎯⎯

Vitest caught 1 unhandled error during the test run.
This might cause false positive tests. Resolve unhandled errors to make sure your tests are not affected.

⎯⎯⎯⎯⎯⎯ Unhandled Error ⎯⎯⎯⎯⎯⎯⎯
Error: Cannot find package '@vitest/browser' imported from /shop/node_modules/vitest/dist/chunks/resolveConfig.js
 ❯ Object.getPackageJSONURL node:internal/modules/package_json_reader:331:9
`

const GLOBAL_SETUP = `
 RUN  v5.0.0 /shop

No test files found, exiting with code 1

include: **/*.{test,spec}.?(c|m)[jt]s?(x)
exclude:  **/node_modules/**, **/.git/**


⎯⎯⎯⎯⎯⎯ Unhandled Error ⎯⎯⎯⎯⎯⎯⎯
Error: the database is not there
it has two lines
 ❯ [as setup] gs.mjs:1:36
      1| export default function () { throw new Error("the database is not ther…
       |                                    ^
`

const OF_PLAYWRIGHT = `Error: no config for you
    at file:///shop/playwright.config.mjs:1:7
    at ModuleJob.run (node:internal/modules/esm/module_job:325:25)
`

const CRASH = `Error: of a test
node:events:505
    throw er; // Unhandled 'error' event
    ^

Error: Worker exited unexpectedly
    at Worker.emit (node:events:514:28)
Emitted 'error' event at:
    at Worker.emit (node:events:514:28)

Node.js v24.21.0
`

describe('an error in the output of a framework that did not start', () => {
  it.each([
    ['a broken configuration of Vitest', BROKEN_CONFIGURATION, 'Error: no config for you'],
    [
      'a browser without a provider in Vitest 3',
      PROVIDER_OF_VITEST_3,
      "Error: Cannot find package '@vitest/browser' imported from /shop/node_modules/vitest/dist/chunks/resolveConfig.js",
    ],
    ['a global setup of Vitest', GLOBAL_SETUP, 'Error: the database is not there\nit has two lines\nat gs.mjs:1'],
    [
      'a missing package',
      " MISSING DEPENDENCY  Cannot find dependency '@vitest/coverage-v8'\n\n",
      "Cannot find dependency '@vitest/coverage-v8'",
    ],
    [
      'an unknown option of Vitest',
      'x.js:1\n  throw\n\nCACError: Unknown option `--x`\n    at Command.run\n',
      'CACError: Unknown option `--x`',
    ],
    ['a broken configuration of Playwright', OF_PLAYWRIGHT, 'Error: no config for you'],
    ['an unknown option of Playwright', "error: unknown option '--x'\n", "error: unknown option '--x'"],
    [
      'a syntax error',
      'SyntaxError: /shop/playwright.config.ts: Unexpected token (1:10)\n\n> 1 | const a = ;\n',
      'SyntaxError: /shop/playwright.config.ts: Unexpected token (1:10)',
    ],
    [
      'an error of esbuild, whose first line has no reason',
      '⎯⎯⎯ Startup Error ⎯⎯⎯\nError: Build failed with 1 error:\nvitest.config.ts:2:36: ERROR: Expected "}"\n    at failureErrorWithLog (x.js:1)\n',
      'Error: Build failed with 1 error: vitest.config.ts:2:36: ERROR: Expected "}"',
    ],
    [
      'an error of Rolldown, which has a blank line behind its first line',
      '⎯⎯⎯ Startup Error ⎯⎯⎯\nError: Build failed with 1 error:\n\n[PARSE_ERROR] Expected `,`\n   ╭─[ vitest.config.js:2:71 ]\n───╯\n\n    at f (x.js:1)\n',
      'Error: Build failed with 1 error: [PARSE_ERROR] Expected `,`\n   ╭─[ vitest.config.js:2:71 ]\n───╯',
    ],
    [
      'a name that no project of Vitest 5 has',
      '⎯⎯⎯ Startup Error ⎯⎯⎯\nError: No projects were found. The projects definition: [\n    {\n        "name": "unit"\n    }\n].\n    at f (x.js:1)\n',
      'Error: No projects were found. The projects definition: [ { "name": "unit" } ].',
    ],
    ['other output', 'npm warn config\nTOKEN=secret\nmy Error: secret\n', undefined],
    ['no output', '', undefined],
  ])('is found for %s', (_what, output, error) => {
    expect(findStartError(output)).toBe(error)
  })
})

describe('an error in what Vitest said about itself', () => {
  it.each([
    ['a global setup that throws', GLOBAL_SETUP, 'Error: the database is not there\nit has two lines\nat gs.mjs:1'],
    [
      'thresholds that are not met',
      'ERROR: Coverage for lines (33.33%) does not meet global threshold (100%)\nERROR: Uncovered functions (2) exceed global threshold (1)',
      'ERROR: Coverage for lines (33.33%) does not meet global threshold (100%)\nERROR: Uncovered functions (2) exceed global threshold (1)',
    ],
    [
      'a rejection that nobody caught',
      '\n⎯⎯⎯ Unhandled Rejection ⎯⎯⎯\nError: lost\n ❯ a.test.js:2:1\n',
      'Error: lost\nat a.test.js:2',
    ],
    ['nothing', '', undefined],
  ])('is found for %s', (_what, said, error) => {
    expect(findSaidError(said)).toBe(error)
  })
})

describe('the end of an output', () => {
  it('has the error with which Node ended the process, and no error of a test', () => {
    expect(findCrash(CRASH)).toBe('Error: Worker exited unexpectedly')
    expect(findCrash('Error: of a test\n    at a.js:1\n')).toBeUndefined()
  })

  it('is its last lines up to a blank line', () => {
    expect(lastParagraph('a test\n\n  1 flaky\n    a.spec.js\n  1 passed\n\n')).toBe(
      '1 flaky\n    a.spec.js\n  1 passed',
    )
    expect(lastParagraph(' \n')).toBeUndefined()
    expect(lastParagraph(`  1 passed\n\n${BROKEN_CONFIGURATION}`)).toBe('Error: no config for you')
  })

  it("has V8's own line if there was no memory left", () => {
    const line = 'FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory'
    expect(findNoMemory(`<--- Last few GCs --->\n\n${line}\n----- Native stack trace -----\n`)).toBe(line)
    expect(findNoMemory(`a test says: ${line}\n`)).toBeUndefined()
  })
})

describe('why a framework did not pass', () => {
  const NO_MEMORY = 'FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory'
  const OUTPUT = `Error: printed by a test\n\n${NO_MEMORY}\n\nthe last\nparagraph\n`
  const exited: CommandEnd = { kind: 'exited', code: 1, output: OUTPUT }
  const passed: TestCase = { title: 'adds', status: 'PASSED', durationMs: 1 }
  const failed: TestCase = { title: 'adds', status: 'FAILED', durationMs: 1 }
  const complete: Report = { testCases: [passed], isComplete: true, errors: [], said: '' }
  const THRESHOLD = 'ERROR: Coverage for lines (33.33%) does not meet global threshold (100%)'

  it.each<[string, CommandEnd, Report | undefined, string | undefined]>([
    [
      'a killed process has what V8 said',
      { kind: 'killed', signal: 'SIGABRT', output: OUTPUT },
      undefined,
      `vitest was killed by SIGABRT: ${NO_MEMORY}`,
    ],
    ['no report has the first error', exited, undefined, 'vitest could not run the tests: Error: printed by a test'],
    [
      'no report has else the last paragraph',
      { ...exited, output: 'npm warn\n\nit is over\n' },
      undefined,
      'vitest could not run the tests: it is over',
    ],
    [
      'an unreadable report takes no error that a test may have printed',
      { ...exited, output: 'Error: printed by a test\n\nthe end\n' },
      { ...complete, testCases: [], isComplete: false, problem: 'its report cannot be read: it is a folder' },
      'vitest exited with code 1, and its report cannot be read: it is a folder: the end',
    ],
    [
      'an incomplete report has what V8 said',
      exited,
      { ...complete, isComplete: false },
      `vitest exited with code 1 before it had reported all tests: ${NO_MEMORY}`,
    ],
    [
      'failed tests need no other reason, whatever they printed',
      exited,
      { ...complete, testCases: [failed] },
      undefined,
    ],
    [
      'a worker that died has what V8 said',
      exited,
      { ...complete, testCases: [failed], errors: ['Error: Worker exited unexpectedly'] },
      `vitest reported an error outside the tests: Error: Worker exited unexpectedly: ${NO_MEMORY}`,
    ],
    [
      'a threshold has the words of the framework, whatever a test printed',
      exited,
      { ...complete, said: THRESHOLD },
      `vitest exited with code 1, although no test failed: ${THRESHOLD}`,
    ],
    [
      'a silent framework has its last paragraph',
      exited,
      complete,
      'vitest exited with code 1, although no test failed: the last\nparagraph',
    ],
  ])('%s', (_what, end, report, reason) => {
    expect(whyNotPassed('vitest', vitest, end, report)).toBe(reason)
  })
})
