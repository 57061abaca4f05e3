import { stripVTControlCharacters } from 'node:util'
import { describe, expect, it } from 'vitest'
import { findErrorBelowHeadline, findMissedThresholds, findStartError } from '../src/frameworks/error-in-output.ts'

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

const FAILED_TESTS = `
 RUN  v5.0.0 /shop

⎯⎯⎯⎯⎯⎯⎯ Failed Tests 1 ⎯⎯⎯⎯⎯⎯⎯

 FAIL  a.test.ts > adds
Error: a secret
 ❯ a.test.ts:1:7
`

const OF_PLAYWRIGHT = `Error: no config for you
    at file:///shop/playwright.config.mjs:1:7
    at ModuleJob.run (node:internal/modules/esm/module_job:325:25)
`

const COVERAGE = `
 % Coverage report from v8
 f.mjs    |      50 |       50 |      50 |   33.33 | 2-3
----------|---------|----------|---------|---------|-------------------
\u001b[31mERROR: Coverage for lines (33.33%) does not meet global threshold (100%)\u001b[39m
\u001b[31mERROR: Coverage for functions (50%) does not meet global threshold (100%)\u001b[39m
`

describe('an error in the output of a framework that did not start', () => {
  it.each([
    ['a broken configuration of Vitest', BROKEN_CONFIGURATION, 'Error: no config for you'],
    [
      'a browser without a provider in Vitest 3',
      PROVIDER_OF_VITEST_3,
      "Error: Cannot find package '@vitest/browser' imported from /shop/node_modules/vitest/dist/chunks/resolveConfig.js",
    ],
    ['a global setup of Vitest', GLOBAL_SETUP, 'Error: the database is not there\nit has two lines'],
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
    ['other output', 'npm warn config\nTOKEN=secret\nmy Error: secret\n', undefined],
    ['no output', '', undefined],
  ])('is found for %s', (_what, output, error) => {
    expect(findStartError(output)).toBe(error)
  })
})

describe('an error below a headline', () => {
  it.each([
    ['a global setup of Vitest', GLOBAL_SETUP, 'Error: the database is not there\nit has two lines'],
    ['failed tests', FAILED_TESTS, undefined],
    ['an error without a headline', OF_PLAYWRIGHT, undefined],
    ['a headline without an error', '⎯⎯⎯ Startup Error ⎯⎯⎯\n', undefined],
  ])('is found for %s', (_what, output, error) => {
    expect(findErrorBelowHeadline(output)).toBe(error)
  })
})

describe('the thresholds of the coverage', () => {
  it('are those that are not met', () => {
    expect(findMissedThresholds(stripVTControlCharacters(COVERAGE))).toBe(
      'ERROR: Coverage for lines (33.33%) does not meet global threshold (100%)\n' +
        'ERROR: Coverage for functions (50%) does not meet global threshold (100%)',
    )
    expect(findMissedThresholds('All files | 100')).toBeUndefined()
  })
})
