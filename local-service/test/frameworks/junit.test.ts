import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../../test/support/temporary-folder.ts'
import { beginJunitRun } from '../support/a-junit-run.ts'
import { folderWith } from '../support/a-local-service.ts'

// What the tools themselves write is in junit-reports.test.ts.

/** Reads what is written after the beginning of the run. */
async function reportsOf(
  files: Readonly<Record<string, string | Buffer>>,
  { pattern = '*.xml', before = {}, exitCode = 0 } = {},
) {
  const folder = await folderWith({ 'cart.test.js': '', 'tests/test_cart.py': '', ...before })
  const readReport = await beginJunitRun(pattern, { root: folder, folder })
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(folder, path, '..'), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
  return { folder, read: () => readReport(exitCode) }
}

async function read(xml: string | Buffer, exitCode = 0) {
  const report = await (await reportsOf({ 'a.xml': xml }, { exitCode })).read()
  return { ...report, testCases: report?.testCases ?? [] }
}

/** Status, title and message. */
async function linesOf(xml: string | Buffer, exitCode = 0) {
  const { testCases, problem } = await read(xml, exitCode)
  expect(problem).toBeUndefined()
  return testCases.map(({ status, title, message }) => [status, title, message].filter((part) => part).join(' | '))
}

const inSuite = (cases: string, attributes = 'name="suite"') => `<testsuite ${attributes}>${cases}</testsuite>`

it.each([
  ['the name, if the class is empty', 'classname="" name="adds"', 'adds'],
  ['the class, if there is no name', 'classname="Cart"', 'Cart'],
  ['the name, if the class is the path', 'classname="tests/test_cart" name="adds" file="tests/test_cart.py"', 'adds'],
  ['the class, if it is the file and there is no name', 'classname="tests/test_cart.py"', 'tests/test_cart.py'],
  ['the name, if the class has the same words', 'classname=" adds" name=" adds"', 'adds'],
  ['a group whose name the name repeats', 'classname="once" name="runs only once"', 'once > runs only once'],
  ['a suite whose name the name repeats', 'classname="suite" name="a suite suite"', 'suite > a suite suite'],
])('the title of a test case is %s', async (_, attributes, title) => {
  const failure = '<failure>no\n at tests/test_cart.py:3</failure>'
  const cases = `<testcase ${attributes}/><testcase ${attributes}>${failure}</testcase>`
  expect((await read(inSuite(cases))).testCases.map((testCase) => testCase.title)).toEqual([title, title])
})

describe('the status of a test case', () => {
  it.each<[string, number, string, string]>([
    ['is pending in cucumber-js', 0, '<failure type="PENDING">Pending step</failure>', 'SKIPPED | Pending step'],
    ['has failed, although the command passed', 0, '<failure message="no"/>', 'FAILED | no'],
    ['has no reason of a skip that says nothing', 0, '<skipped type="skipped" message="true"/>', 'SKIPPED'],
    ['was to do', 0, '<skipped type="todo" message="later"/><failure>no</failure>', 'SKIPPED | later'],
    ['has the type if there is nothing else', 1, '<failure type="Timeout"/>', 'FAILED | Timeout'],
    ['was to do in Perl, and passes', 0, '<error type="TodoTestSucceeded" message="later"/>', 'PASSED'],
    ['was to do in Perl, and it failed', 1, '<error type="TodoTestSucceeded" message="later"/>', 'FAILED | later'],
    ['has an error that is not the risk', 0, '<error type="RuntimeException">no</error>', 'FAILED | no'],
    ['has failed below an element that nobody knows', 0, '<details><error message="no"/></details>', 'FAILED | no'],
    ['was skipped, and its teardown failed', 0, '<skipped message="later"/><error message="no"/>', 'FAILED | no'],
    ['has a test in it', 0, '<testcase name="inner"/><failure message="no"/>', 'PASSED | inner; FAILED | no'],
    ['has the last failure', 1, '<failure message="one"/><rerunFailure message="two"/>', 'FAILED | two'],
  ])('%s', async (_, exitCode, content, line) => {
    const lines = await linesOf(`<testsuite><testcase name="a">${content}</testcase></testsuite>`, exitCode)
    expect(lines.join('; ').replaceAll(' | a', '')).toBe(line)
  })

  it.each([
    ['SKIPPED', 'status="disabled", status="notrun", status="skipped", status="Ignored", status="pending"'],
    ['SKIPPED', 'result="suppressed", result="skipped"'],
    ['FAILED', 'status="failed", status="error", status="Failed", result="failed"'],
    ['PASSED', 'status="run" result="completed", status="passed", status="anything", state="failed"'],
  ])('is %s by an attribute: %s', async (status, attributes) => {
    const cases = attributes.split(', ').map((attribute) => `<testcase name="a" classname="c" ${attribute}/>`)
    for (const one of cases) expect(await linesOf(inSuite(one))).toEqual([`${status} | c > a`])
  })

  it('is that of the failed suite, under the name of the suite', async () => {
    const suites = inSuite(inSuite('<testcase name="a"/><error message="no database"/>', 'name="inner"'))
    expect(await linesOf(`<testsuites>${suites}<failure>no</failure></testsuites>`)).toEqual([
      'PASSED | suite > inner > a',
      'FAILED | suite > inner | no database',
      'FAILED | a.xml | no',
    ])
  })
})

describe('attempts of one test', () => {
  const PASSED = '<testcase name="a" classname="c" time="3"/>'
  const FAILED = '<testcase name="a" classname="c" time="1"><failure message="no"/></testcase>'
  const SKIPPED = '<testcase name="a" classname="c"><skipped/></testcase>'
  const OTHER = '<testcase name="a" classname="other"/>'

  it('are one flaky test with the last failure if the command passed', async () => {
    const { testCases } = await read(inSuite(FAILED + OTHER + FAILED.replace('no', 'two') + PASSED))
    expect(testCases).toEqual([
      { title: 'c > a', status: 'FLAKY', durationMs: 3000, message: 'two' },
      { title: 'other > a', status: 'PASSED', durationMs: 0 },
    ])
  })

  it('stay apart if the command failed, because two tests may have one name', async () => {
    const lines = ['FAILED | c > a | no', 'FAILED | c > a | no', 'PASSED | c > a']
    expect(await linesOf(inSuite(FAILED + FAILED + PASSED), 1)).toEqual(lines)
  })

  const inFile = (one: string, file: string) => one.replace('name="a"', `name="a" file="${file}"`)
  it.each<[string, string]>([
    ['FAILED FAILED', inSuite(FAILED + FAILED)],
    ['PASSED PASSED', inSuite(PASSED + PASSED)],
    // Rows of a data provider, or a test of pytest whose teardown failed. The command ended with `|| true`.
    ['PASSED FAILED', inSuite(PASSED + FAILED)],
    ['FAILED PASSED FAILED', inSuite(FAILED + PASSED + FAILED)],
    ['FAILED PASSED PASSED', inSuite(FAILED + PASSED + PASSED)],
    ['FAILED SKIPPED PASSED', inSuite(FAILED + SKIPPED + PASSED)],
    ['FAILED PASSED', inSuite(inFile(FAILED, 'cart.test.js') + inFile(PASSED, 'tests/test_cart.py'))],
    ['FAILED PASSED', `<testsuites>${inSuite(FAILED, 'name="one"')}${inSuite(PASSED, 'name="two"')}</testsuites>`],
  ])('are cases of their own if they are not failures and then one success: %s', async (statuses, xml) => {
    const { testCases } = await read(xml)
    expect(testCases.map(({ status }) => status).join(' ')).toBe(statuses)
  })

  it('are in one report, and the same test in another report is a case of its own', async () => {
    const attributes = 'classname="Test suite failed to run" name="cart.test.js"'
    const broken = `<testcase ${attributes}><failure message="broken"/></testcase>`
    const suite = inSuite(FAILED + broken + broken, '')
    const files = { 'debug.xml': suite, 'release.xml': inSuite(PASSED + broken, '') }
    const report = await (await reportsOf(files)).read()
    expect(report?.testCases.map(({ title, status }) => `${status} ${title}`)).toEqual([
      ...['FAILED c > a', 'FAILED Test suite failed to run > cart.test.js'],
      ...['PASSED c > a', 'FAILED Test suite failed to run > cart.test.js'],
    ])
  })
})

describe('a suite that counts more failures than it has', () => {
  it.each([
    ['', 'failures="3"', '<testcase name="a"/>', 'counts 3 failed in "suite" and lists 0'],
    ['', 'failures="2" errors="1"', '<testcase name="a"><error/></testcase>', 'counts 3 failed in "suite" and lists 1'],
    ['', 'failures="1" errors="1"', '<testcase name="a"/>', 'counts 2 failed in "suite" and lists 0'],
    ['failures="1"', '', '<testcase name="a"/>', 'counts 1 failed and lists 0'],
  ])('is the reason of the run', async (ofAll, ofSuite, cases, problem) => {
    const report = await read(`<testsuites ${ofAll}>${inSuite(cases, `name="suite" ${ofSuite}`)}</testsuites>`)
    expect([report.isComplete, report.problem]).toEqual([true, `The report "a.xml" ${problem}.`])
  })

  it.each([
    ['counts each of them twice', 'failures="1" errors="1"', '<testcase name="a"><failure/></testcase>'],
    ['counts the attempts', 'failures="2"', '<testcase name="a"><failure/><rerunFailure/></testcase>'],
    ['lists more', 'failures="1"', '<testcase name="a"><failure/></testcase><testcase name="b"><failure/></testcase>'],
    ['has them in a suite of it', 'failures="1"', inSuite('<testcase name="a"><failure/></testcase>', 'failures="1"')],
    ['counts nothing', 'failures="many" errors=""', ''],
  ])('is none if it %s', async (_, attributes, cases) => {
    expect((await read(inSuite(cases, attributes), 1)).problem).toBeUndefined()
  })
})

it.each<[string, string, string, string | RegExp]>([
  ['has nothing that says nothing', 'exception', 'no database', 'no database'],
  ['has nothing that says nothing, of go-junit-report', 'Build error', 'a.go:5: undefined', 'a.go:5: undefined'],
  ['has nothing that says nothing, of behave', 'None', 'Failing step: a cart', 'Failing step: a cart'],
  ['has a message that says nothing, if there is nothing else', 'failed', '', 'failed'],
  [
    'has the error of a traceback first',
    'test failure',
    'Traceback (most recent call last):\n  File "a.py", line 1, in a\n    b()\nKeyError: 1\n\nTraceback (most recent call last):\n  File "a.py", line 2, in a\n    c()\nAssertionError: 1 != 2\n\n- 1',
    /^AssertionError: 1 != 2\n\nTraceback /,
  ],
  [
    'has the place of Bats at the end',
    '',
    "(from function `pay' in file lib.sh, line 2,\n in test file a.bats, line 3)\n  `pay' failed\nno money",
    "`pay' failed\nno money\n(from function `pay' in file lib.sh, line 2,\n in test file a.bats, line 3)",
  ],
  ['leaves out the line before YAML', '', '---\n  operator: equal\n  expected: 2', 'operator: equal\n  expected: 2'],
  [
    'has the place of Rust at the end, whatever the thread is',
    "thread 'a' panicked at src/a.rs:7:9",
    "\nthread 'a' (22) panicked at src/a.rs:7:9:\nno money",
    'no money\nat src/a.rs:7:9',
  ],
  [
    'leaves out what Testify says before the error',
    'Failed',
    '=== RUN   TestA\n    a_test.go:4: \n        \tError Trace:\ta_test.go:4\n        \t\tb_test.go:9\n        \tError:      \tNot equal: \n        \t            \texpected: 1\n--- FAIL: TestA',
    'Not equal: \n        \t            \texpected: 1\n--- FAIL: TestA\nat a_test.go:4',
  ],
])('the reason of a failed test %s', async (_, message, text, reason) => {
  const attribute = message.replaceAll('\n', '&#10;').replaceAll('"', '&quot;')
  const failure = `<failure message="${attribute}">${text}</failure>`
  const { testCases } = await read(inSuite(`<testcase name="testA">${failure}</testcase>`), 1)
  expect(testCases.map((one) => one.message)).toEqual([
    typeof reason === 'string' ? reason : expect.stringMatching(reason),
  ])
})

it('the reason of a test of Bazel, whose program writes no report, is the end of what its suite printed', async () => {
  const failed = '<testcase name="a"><error message="exited with error code 1"></error></testcase>'
  const { testCases } = await read(inSuite(`${failed}<system-out>no money</system-out>`), 1)
  expect(testCases).toMatchObject([{ status: 'FAILED', message: 'no money' }])
})

describe('a test case', () => {
  it.each(
    Object.entries({
      ...{ '1,234.5': 1_234_500, '1.234,5': 1_234_500, '1 234,5': 1_234_500, "1'234.5": 1_234_500 },
      ...{ '0.25': 250, '0,125': 125, '3': 3000, '1.5e-02': 15, NaN: 0, '-1': 0, '1e300': 0, PT1S: 0 },
    }),
  )('with the time %s has taken %s ms', async (time, durationMs) => {
    expect((await read(inSuite(`<testcase name="a" time="${time}"/>`))).testCases).toMatchObject([{ durationMs }])
  })

  it('is none without a name, a class and a result', async () => {
    expect((await read(inSuite('<testcase time="0.000" />'))).testCases).toEqual([])
  })
})

describe('the text of a report', () => {
  it('may have a byte order mark, CDATA, entities, control characters, colours, comments and nested suites', async () => {
    const red = '\u001b[31m'
    const { testCases, problem } = await read(
      `\uFEFF<?xml version="1.0"?><!-- <testcase/> -->${inSuite(
        inSuite(`<testcase name="&lt;a&gt; &#233; &#x20AC; &quot;"><failure message="bell \u0007&#10;${red}red\u001b[39m">
          <![CDATA[<b> &amp; &#39; &#160; & ]]]]><![CDATA[>]]></failure><system-out>not this</system-out></testcase>`),
      )}<!-- <end -->\n`,
    )
    expect(problem).toBeUndefined()
    expect(testCases).toMatchObject([
      { title: 'suite > suite > <a> é € "', message: 'bell \u0007\nred\n\n<b> &amp; &#39; &#160; & ]]>' },
    ])
  })

  it.each([
    ['is cut off', inSuite('<testcase name="a"/>').slice(0, -5), /^The report "a\.xml" is cut off, because/],
    ['is cut off in an attribute', '<testsuite><testcase name="a', /is cut off/],
    ['is cut off behind a suite', `${inSuite('<testcase name="a"/>')}<!-- <b --><testsuite`, /is cut off/],
    ['is empty', ' \n', /^The report "a\.xml" is empty\.$/],
    ['is no XML', 'All tests passed', /is no JUnit report, because it has no element\.$/],
    ['is another XML', '<html/>', /^The report "a\.xml" is no JUnit report, because it begins with <html>\.$/],
    ['has a wrong end tag', '<testsuite><testcase name="a"></testsuite>', /is no XML: <testcase> is not closed\.$/],
  ])('that %s is the reason of the run', async (_, xml, problem) => {
    const report = await read(xml)
    expect(report.problem).toMatch(problem)
    expect(report.isComplete).toBe(false)
  })

  it.each([
    ['a control character', 'a\u0001&#0;b', 'a\u0001\uFFFDb'],
    ['half a character', 'a&#xD800;&#x110000;', 'a\uFFFD\uFFFD'],
    ['an entity that nobody knows', 'a&shop;b', 'a&shop;b'],
    ['an ampersand', 'a & b', 'a & b'],
    ['the beginning of an entity at its end', 'a &lt', 'a &lt'],
  ])('with %s in a value costs this value', async (_, broken, fine) => {
    const failure = `<failure message="${broken}">${broken}\n${broken}</failure>`
    const lines = await linesOf(
      inSuite(`<testcase name="${broken}" classname="c">${failure}</testcase><testcase name="b"/>`),
    )
    expect(lines).toEqual([`FAILED | c > ${fine} | ${fine}\n${fine}`, 'PASSED | suite > b'])
  })

  it.each([
    [
      'text before its document type',
      `\n> mocha\n\n<?xml version="1.0"?><!DOCTYPE testsuite [<!ENTITY shop "">]>${inSuite('<testcase name="a"/>')}`,
      ['PASSED | suite > a'],
    ],
    [
      'the reports of two programs',
      `<?xml version="1.0"?>${inSuite('<testcase name="a"/>')}\nDone in 2 s.\n<?xml version="1.0"?>${inSuite('<testcase name="b"><failure>no</failure></testcase>')}`,
      ['PASSED | suite > a', 'FAILED | suite > b | no'],
    ],
    [
      'a namespace with a prefix',
      '<j:testsuite name="suite" xmlns:j="j"><j:testcase name="a"><j:failure>no</j:failure></j:testcase></j:testsuite>',
      ['FAILED | suite > a | no'],
    ],
  ])('may have %s', async (_, xml, lines) => {
    expect(await linesOf(xml)).toEqual(lines)
  })

  it('with a very long value has its beginning', async () => {
    const long = 'x'.repeat(3_000_000)
    const { testCases, problem } = await read(
      inSuite(`<testcase name="a"><failure message="first ${long}"/></testcase><!-- ${long} -->`),
    )
    expect(problem).toBeUndefined()
    expect(testCases[0]?.message).toMatch(/^first x+\n\[the middle is left out\]\nx+$/)
  })

  const GREETING = '<testsuite name="suite"><testcase name="Grüße €"/></testsuite>'
  const declared = (encoding: string) => `<?xml version="1.0" encoding="${encoding}"?>${GREETING}`
  it.each([
    ['its mark of UTF-16', Buffer.from(`\uFEFF${declared('utf-16')}`, 'utf16le')],
    ['its mark of UTF-16, the other way round', Buffer.from(`\uFEFF${declared('utf-16')}`, 'utf16le').swap16()],
    ['UTF-16 without a mark', Buffer.from(declared('utf-16'), 'utf16le')],
    ['no declaration', Buffer.from(GREETING)],
    ['a declaration of UTF-16 that is wrong', Buffer.from(declared('utf-16'))],
    ['its declaration', Buffer.from(declared('windows-1252').replace('€', '\u0080'), 'latin1')],
  ])('is decoded by %s', async (_, bytes) => {
    expect(await linesOf(bytes)).toEqual(['PASSED | suite > Grüße €'])
  })

  it('in an encoding that is not known is the reason of the run', async () => {
    expect((await read(declared('klingon'))).problem).toBe(
      'The report "a.xml" cannot be read: The "klingon" encoding is not supported.',
    )
  })
})

describe('the files of the reports', () => {
  it('are all that match, and were written since', async () => {
    const one = (name: string) => inSuite(`<testcase name="${name}"/>`, '')
    const before = { 'reports/old.xml': one('old'), 'reports/rewritten.xml': one('old') }
    const files = {
      'reports/rewritten.xml': one('new'),
      'reports/deep/b.xml': one('b'),
      'reports/b.txt': 'x',
      'reports/node_modules/c.xml': one('c'),
    }
    const report = await (await reportsOf(files, { pattern: 'reports/**/*.xml', before })).read()
    expect([report?.testCases.map(({ title }) => title), report?.problem]).toEqual([['b', 'new'], undefined])
  })

  const NO_FILE = "No file in the project's folder matches"
  const ONE = inSuite('<testcase name="a"/>')
  it.each<[number, string, object, object, boolean, string]>([
    [0, 'a.xml', {}, {}, false, `${NO_FILE} "a.xml".`],
    [1, '*.xml', {}, {}, false, `${NO_FILE} "*.xml".`],
    [0, '*.xml\nb.xml', {}, {}, false, `${NO_FILE} "*.xml" or "b.xml".`],
    [
      0,
      '*.xml',
      { 'a.xml': ONE },
      {},
      false,
      'The command wrote no report. What matches "*.xml" is older than this run.',
    ],
    [0, 'a.xml\nb.xml\n*.trx', {}, { 'a.xml': ONE }, true, `${NO_FILE} "b.xml".`],
    [
      0,
      'a.xml\n[b]',
      { '[b]': ONE },
      { 'a.xml': ONE },
      true,
      'The command did not write "[b]", which is older than this run.',
    ],
  ])('are missing or old: exit code %i, %s', async (exitCode, pattern, before, files, isComplete, problem) => {
    const report = await (await reportsOf({ ...files }, { pattern, before, exitCode })).read()
    expect(report).toMatchObject({ isComplete, problem })
  })

  it('may be none if the command exited with 0 and names them by patterns, because it may have had nothing to do', async () => {
    const report = await (await reportsOf({}, { pattern: '**/a.xml\nb/*.xml\n@(c|d).xml' })).read()
    expect(report).toMatchObject({ isComplete: true, problem: undefined, testCases: [] })
  })

  it('of a pattern may be missing or old if the command wrote another report, and the log says so', async () => {
    const before = { 'b/old.xml': ONE, 'c/old.xml': ONE }
    const pattern = 'a/*.xml\nb/*.xml\nc/*.xml\nd/*.xml'
    const report = await (await reportsOf({ 'a/new.xml': ONE }, { pattern, before })).read()
    expect(report).toMatchObject({
      testCases: [{ title: 'suite > a' }],
      problem: undefined,
      remark: `${NO_FILE} "d/*.xml". What matches "b/*.xml" or "c/*.xml" is older than this run.`,
    })
  })

  it('are named at the end of a failure if there are several', async () => {
    const xml = inSuite('<testcase name="a"><failure message="no"/></testcase><testcase name="b"><failure/></testcase>')
    const one = await read(xml, 1)
    expect(one.testCases.map(({ message }) => message)).toEqual(['no', undefined])
    const files = { 'linux/a.xml': xml, 'mac/a.xml': inSuite('<testcase name="b"/>') }
    const report = await (await reportsOf(files, { pattern: '*/a.xml', exitCode: 1 })).read()
    expect(report?.testCases.map(({ message }) => message)).toEqual([
      'no\n\nin linux/a.xml',
      'in linux/a.xml',
      undefined,
    ])
  })

  it('are those of each line, those in folders that begin with a dot, and a path as it is', async () => {
    const one = (name: string) => inSuite(`<testcase name="${name}"/>`, '')
    const files = {
      'py/junit.xml': one('py'),
      '.out/deep/.hidden/a.xml': one('dots'),
      '.out/b/a.xml': one('dot'),
      '[1].xml': one('brackets'),
      'other.xml': one('other'),
      '.git/a.xml': one('git'),
    }
    const pattern = '{py,web}/junit.xml\n\n  **/a.xml\r\n[1].xml\n*/b/a.xml\n'
    const report = await (await reportsOf(files, { pattern })).read()
    expect(report?.testCases.map(({ title }) => title)).toEqual(['dot', 'dots', 'brackets', 'py'])
  })

  it('may be a folder or too large, which fails only the run', async () => {
    const { folder, read } = await reportsOf({ 'a.xml': '' })
    mkdirSync(join(folder, 'folder.xml'))
    truncateSync(join(folder, 'a.xml'), 64 * 1024 * 1024 + 1)
    const problem = expect.stringMatching(/^The report "a\.xml" cannot be read: .* is larger than 64 MiB\.$/)
    expect(await read()).toMatchObject({ problem, isComplete: false, mustFail: true })
  })

  it('count once if two lines or a link name one file', async () => {
    const { folder, read } = await reportsOf(
      { 'a.xml': inSuite('<testcase name="a"/>') },
      { pattern: '*.xml\n./a.xml\nlatest.xml' },
    )
    symlinkSync('a.xml', join(folder, 'latest.xml'))
    expect((await read())?.testCases.map(({ title }) => title)).toEqual(['suite > a'])
  })

  it('may be links to plain files anywhere, and to nothing else', async () => {
    const { folder, read } = await reportsOf({}, { pattern: '*.xml\nlogs/**/b.xml' })
    const outside = temporaryFolder()
    writeFileSync(join(outside, 'a.txt'), inSuite('<testcase name="a"/>'))
    writeFileSync(join(outside, 'b.xml'), inSuite('<testcase name="b"/>'))
    symlinkSync(join(outside, 'a.txt'), join(folder, 'latest.xml'))
    symlinkSync(outside, join(folder, 'logs'))
    symlinkSync('nothing', join(folder, 'nothing.xml'))
    expect((await read())?.testCases.map(({ title }) => title)).toEqual(['suite > a', 'suite > b'])
    symlinkSync('/dev/null', join(folder, 'null.xml'))
    expect((await read())?.problem).toBe('The report "null.xml" cannot be read: /dev/null is not a regular file.')
  })

  it('are older than the run if a link leads to an old one', async () => {
    const { folder, read } = await reportsOf({}, { before: { 'old.txt': inSuite('') }, pattern: '*.xml' })
    symlinkSync('old.txt', join(folder, 'a.xml'))
    expect((await read())?.problem).toBeUndefined()
  })

  it('fail the run if one is too large, also if another one is cut off', async () => {
    const { folder, read } = await reportsOf({ 'a.xml': '<testsuite>', 'b.xml': '' })
    truncateSync(join(folder, 'b.xml'), 64 * 1024 * 1024 + 1)
    expect(await read()).toMatchObject({ problem: expect.stringContaining('64 MiB'), mustFail: true })
  })

  it('may have no more test cases than other reports', async () => {
    const report = await read(inSuite('<testcase name="a"/>'.repeat(150_001)))
    const problem = 'The report "a.xml" has more than 150000 test cases.'
    expect(report).toMatchObject({ problem, isComplete: false, mustFail: true })
  })
})
