import { describe, expect, it } from 'vitest'
import { whyNotPassed } from '../../src/frameworks/reason.ts'
import type { Report, TestCase } from '../../src/frameworks/report.ts'
import type { CommandEnd } from '../../src/machine/command.ts'

// What the versions of the frameworks print. vitest-runs.test.ts and playwright-runs.test.ts have broken configurations. The colours are as the service leaves them out.

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

const why = (end: CommandEnd, report: Report | undefined) =>
  whyNotPassed(
    { title: 'vitest', isProjectCommand: false, args: ['a b'], noTestsArgument: '--passWithNoTests' },
    end,
    report,
  )
const exited = (output: string, code = 1): CommandEnd => ({ kind: 'exited', code, output })
const PASSED: TestCase = { title: 'adds', status: 'PASSED', durationMs: 1 }
const FAILED: TestCase = { ...PASSED, status: 'FAILED' }
const COMPLETE: Report = { testCases: [PASSED], isComplete: true, errors: [], said: [] }
const THRESHOLD = 'ERROR: Coverage for lines (33.33%) does not meet global threshold (100%)'
const NO_MEMORY = 'FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory'
const VITEST_ENDS = '      Tests  1 passed (1)\n   Start at  05:28:37\n   Duration  257ms (transform 46%)\n'
const SUMMARY = Array.from({ length: 9 }, (_, index) => `line ${index} of the summary`)

it.each([
  [
    'a missing package',
    " MISSING DEPENDENCY  Cannot find dependency '@vitest/coverage-v8'\n\n",
    "MISSING DEPENDENCY  Cannot find dependency '@vitest/coverage-v8'",
  ],
  [
    'a syntax error',
    'SyntaxError: /shop/playwright.config.ts: Unexpected token (1:10)\n\n> 1 | const a = ;\n',
    'SyntaxError: /shop/playwright.config.ts: Unexpected token (1:10)',
  ],
  [
    'an error of git',
    "fatal: ambiguous argument 'HEAD^9': unknown revision\nUse '--' to separate paths from revisions, like this:\n'git <command> [<revision>...] -- [<file>...]'\n",
    "fatal: ambiguous argument 'HEAD^9': unknown revision\nUse '--' to separate paths from revisions, like this:\n'git <command> [<revision>...] -- [<file>...]'",
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
    'blob reports of two versions of Vitest',
    '⎯⎯⎯ Unhandled Error ⎯⎯⎯\nError: All must have the same Vitest version, received\n\n- "blob-1-2.json" uses v5.1.1\n- "blob-2-2.json" uses v5.1.9\n ❯ readBlobs node_modules/vitest/a.js:7987:31\n',
    'Error: All must have the same Vitest version, received - "blob-1-2.json" uses v5.1.1\n- "blob-2-2.json" uses v5.1.9',
  ],
])('what a framework prints that does not start is the reason, for %s', (_what, output, error) => {
  expect(why(exited(output), undefined)).toBe(`vitest could not run the tests: ${error}`)
})

it('a filter that fits no test is named', () => {
  expect(why(exited('No test files found'), { ...COMPLETE, testCases: [] })).toMatch(
    /^vitest found no tests with the arguments "a b"\. If you expect that, add --passWithNoTests/,
  )
})

describe('what a framework says about itself', () => {
  const ALTHOUGH = 'vitest exited with code 1, although no test failed: '
  it.each<[string, Partial<Report>, string]>([
    [
      'thresholds',
      { said: [THRESHOLD, 'ERROR: Uncovered functions (2) exceed global threshold (1)'] },
      `${ALTHOUGH}${THRESHOLD}\n\nERROR: Uncovered functions (2) exceed global threshold (1)`,
    ],
    [
      'a reporter that throws a text beside failed tests',
      { testCases: [FAILED], said: ['\n⎯⎯⎯ Unhandled Error ⎯⎯⎯\nUnknown Error: of the reporter'] },
      'vitest reported an error outside the tests: Unknown Error: of the reporter',
    ],
    [
      'an error outside the tests and a threshold beside failed tests',
      { testCases: [FAILED], errors: ['Error: lost'], said: [THRESHOLD] },
      `vitest reported an error outside the tests: Error: lost\n\n${THRESHOLD}`,
    ],
  ])('is the reason, for %s, whatever a test printed', (_what, report, reason) => {
    expect(why(exited('Error: printed by a test\n'), { ...COMPLETE, ...report })).toBe(reason)
  })

  it('is beside the line of V8 that says why a worker died', () => {
    const report = { ...COMPLETE, testCases: [FAILED], errors: ['Error: Worker exited unexpectedly'] }
    const reason = `vitest reported an error outside the tests: Error: Worker exited unexpectedly: ${NO_MEMORY}`
    expect(why(exited(`the tests\n\n${NO_MEMORY}\n`), report)).toBe(reason)
  })
})

const cutOff: Report = { ...COMPLETE, isComplete: false }

it.each<[string, CommandEnd, Report | undefined, string]>([
  [
    'that Node ended has the error of Node first',
    exited(CRASH),
    cutOff,
    `vitest exited with code 1 before it had reported all tests: Error: Worker exited unexpectedly\nThe output ends with:\n${CRASH.trim()}`,
  ],
  [
    'that was killed has what V8 said',
    {
      kind: 'cut-off',
      how: 'was killed by SIGABRT',
      output: `<--- Last few GCs --->\n\n${NO_MEMORY}\n----- Native\n`,
    },
    undefined,
    `vitest was killed by SIGABRT: ${NO_MEMORY}`,
  ],
  [
    'that was killed has nothing that a test printed',
    { kind: 'cut-off', how: 'was killed by SIGKILL', output: `Error: of a test\n\na test says: ${NO_MEMORY}\n` },
    undefined,
    'vitest was killed by SIGKILL.',
  ],
  [
    'is quoted by its last ten lines',
    exited(['Error: printed by a test', ...SUMMARY, '', 'the end\n'].join('\n')),
    COMPLETE,
    `vitest exited with code 1, although no test failed: the end\nThe output ends with:\n${SUMMARY.join('\n')}\n\nthe end`,
  ],
  [
    'is not quoted if it is only the progress of Vitest',
    exited(`\n RUN  v5.1.1 /shop\n\n ✓ a.test.js (1 test) 4ms\n\n Test Files  1 passed (1)\n${VITEST_ENDS}`, 3),
    COMPLETE,
    'vitest exited with code 3, although no test failed.',
  ],
  [
    'is quoted by what stands among the progress of Vitest',
    exited(`\n RUN  v5.1.1 /shop\n\nthe database is full\n ✓ a.test.js (1 test) 4ms\n${VITEST_ENDS}`, 3),
    COMPLETE,
    `vitest exited with code 3, although no test failed: the database is full\nThe output ends with:\nRUN  v5.1.1 /shop\n\nthe database is full\n ✓ a.test.js (1 test) 4ms\n${VITEST_ENDS.trimEnd()}`,
  ],
  [
    'is not quoted if failed tests say why',
    exited('noise\n'),
    { ...COMPLETE, testCases: [FAILED], problem: 'The report counts 2 failed and lists 1.' },
    'The report counts 2 failed and lists 1. vitest exited with code 1.',
  ],
])('the output of a framework that says nothing about itself %s', (_what, end, report, reason) => {
  expect(why(end, report)).toBe(reason)
})

describe('a command of the project that leaves no report', () => {
  const ofCommand = (end: CommandEnd) =>
    whyNotPassed(
      { title: 'vitest', isProjectCommand: true, args: [], hintWithoutReport: 'Look at the command.' },
      end,
      undefined,
    )

  it('may have run tests, so the reason is no error of the framework, whatever a test printed', () => {
    const output = '⎯⎯⎯ Unhandled Error ⎯⎯⎯\nError: printed by a test\n    at a.test.js:1:2\n\nTests 1 failed'
    expect(ofCommand(exited(output))).toBe(
      `vitest exited with code 1 without a report: Error: printed by a test. Look at the command.\nThe output ends with:\n${output}`,
    )
  })

  it('may have printed nothing', () => {
    expect(ofCommand(exited(''))).toBe('vitest exited with code 1 without a report. Look at the command.')
  })

  it('may have exited with 0', () => {
    const hint = 'A test or the configuration may have ended its process, for example with process.exit().'
    expect(ofCommand(exited('', 0))).toBe(
      `vitest exited with code 0 without a report. ${hint} Look at the command. Look for it in the output, and correct it.`,
    )
  })
})

describe('the output of any other tool', () => {
  const NO_FILE = {
    ...COMPLETE,
    ...{ testCases: [], isComplete: false, problem: 'No file matches "a.xml".', advice: 'Give "report" the path.' },
  }
  it.each<[string, CommandEnd, Report, string]>([
    [
      'what to do if there are no tests, as pytest ends then',
      exited('collected 0 items\n\n======== no tests ran in 0.02s ========\n', 5),
      { ...COMPLETE, testCases: [] },
      "`tool` exited with code 5, and its report has no test: no tests ran in 0.02s. If you expect that, let the command exit with 0, and set the gate's input pass-with-no-tests to true.\nThe output ends with:\ncollected 0 items\n\n======== no tests ran in 0.02s ========",
    ],
    [
      'the cause before the advice if a tool is missing',
      exited('bash: line 1: pytest: command not found\n', 127),
      NO_FILE,
      'No file matches "a.xml". `tool` exited with code 127: bash: line 1: pytest: command not found. Give "report" the path.',
    ],
    [
      'the cause before what the report lacks, as gotestsum reports a broken module',
      exited('', 1),
      {
        ...COMPLETE,
        testCases: [],
        errors: ['go: errors parsing go.mod: 5: no'],
        problem: 'The report counts 2 and lists 0.',
      },
      '`tool` exited with code 1: go: errors parsing go.mod: 5: no. The report counts 2 and lists 0.',
    ],
  ])('has %s', (_what, end, report, reason) => {
    expect(whyNotPassed({ title: '`tool`', isProjectCommand: true, args: [] }, end, report)).toBe(reason)
  })

  // As Deno, .NET and Swift Testing end.
  it.each([
    [
      'the error',
      'error: printed\nok | 1 passed\n\nerror: Uncaught Error: no db\nsee above',
      'error: Uncaught Error: no db',
    ],
    [
      'the error of a compiler',
      'Test run\n/shop/Desk.cs(1,10): error CS1513: } expected [/shop/Desk.csproj]\n\nPassed!  - Failed: 0, Passed: 2',
      '/shop/Desk.cs(1,10): error CS1513: } expected [/shop/Desk.csproj]',
    ],
    [
      'the line above a long stack',
      `1 passed\nError: no db\n${'    at teardown (/shop/setup.ts:3:9)\n'.repeat(20)}    at run.js:1:2`,
      'Error: no db',
    ],
    [
      'what npm says first',
      'the build is done\nnpm error Missing script: "test"\nnpm error\nnpm error To see a list of scripts, run:\nnpm error   npm run\nnpm error A complete log of this run can be found in: /home/ann/.npm/_logs/debug-0.log',
      'npm error Missing script: "test"',
    ],
    [
      'what stands before the lines of npm',
      '> shop@1.0.0 test\ncoverage is below 90%\nnpm error code 1\nnpm error command failed\nnpm error A complete log of this run can be found in: /home/ann/.npm/_logs/debug-0.log',
      'coverage is below 90%',
    ],
    ['the last line', '◇ Test run started.\n↳ Swift\n✘ Test run with 2 tests failed', '✘ Test run with 2 tests failed'],
  ])('is quoted with %s in the first line, which is all that many readers show', (_what, output, line) => {
    const reason = whyNotPassed({ title: '`swift test`', isProjectCommand: true, args: [] }, exited(output), COMPLETE)
    const expected = `\`swift test\` exited with code 1, although no test failed: ${line}\nThe output ends with:\n${output}`
    expect(reason).toBe(expected)
  })
})
