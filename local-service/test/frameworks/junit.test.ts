import { mkdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { writeFiles } from '../../../test/support/git-repository.ts'
import { junit } from '../../src/frameworks/junit.ts'
import { temporaryFolder } from '../support/a-local-service.ts'

/** Reads what is written after the beginning of the run. */
async function reportsOf(
  files: Readonly<Record<string, string>>,
  { pattern = '*.xml', before = {}, exitCode = 0 } = {},
) {
  const folder = await temporaryFolder()
  await writeFiles(folder, { 'cart.test.js': '', 'tests/test_cart.py': '', ...before })
  const options = {
    folders: { root: folder, folder },
    report: pattern,
    env: {},
    outputFolder: '',
  }
  const { readReport } = await junit.run({ argv: ['test'] }, { ...options, mergeFolder: '', args: [], isInPlace: true })
  await writeFiles(folder, files)
  return { folder, read: async () => readReport?.({ kind: 'exited', code: exitCode, output: '' }) }
}

async function read(xml: string) {
  const report = await (await reportsOf({ 'a.xml': xml })).read()
  return { ...report, testCases: report?.testCases ?? [] }
}

const inSuite = (cases: string, attributes = 'name="suite"') => `<testsuite ${attributes}>${cases}</testsuite>`

describe('a report that a tool wrote', () => {
  async function linesOf(name: string) {
    const { testCases, problem } = await read(readFileSync(join(import.meta.dirname, 'junit-reports', name), 'utf8'))
    expect(problem).toBeUndefined()
    return testCases.map(({ status, title, durationMs, message = '' }) =>
      [status, title, durationMs, message.split('\n', 1)[0]].join(' | '),
    )
  }

  it('Surefire: has flaky tests, and the last failure of a test that was tried again', async () => {
    expect(await linesOf('surefire.xml')).toEqual([
      'PASSED | shop.CartTest > adds | 8 | ',
      'FAILED | shop.CartTest > fails | 68 | org.junit.ComparisonFailure: the total expected:<[1 < ]2> but was:<[]2>',
      'FLAKY | shop.CartTest > flaky | 0 | java.lang.AssertionError: try 1',
      'FAILED | shop.CartTest > hangs | 57 | org.junit.runners.model.TestTimedOutException: test timed out after 50 milliseconds',
      'FAILED | shop.CartTest > never | 0 | java.lang.IllegalStateException: no & money',
      'SKIPPED | shop.CartTest > isSkipped | 0 | ',
    ])
    expect(await linesOf('surefire-hook.xml')).toEqual([
      'FAILED | shop.HookTest | 0 | java.lang.RuntimeException: no database',
    ])
  })

  it('gotestsum: leaves out the word "Failed", which says nothing', async () => {
    expect(await linesOf('gotestsum.xml')).toEqual([
      'FAILED | example.com/shop > TestFails | 0 | === RUN   TestFails',
      'FAILED | example.com/shop > TestTable/two | 0 | === RUN   TestTable/two',
      'FAILED | example.com/shop > TestTable | 0 | === RUN   TestTable',
      'SKIPPED | example.com/shop > TestSkipped | 0 | ',
      'PASSED | example.com/shop > TestAdds | 0 | ',
      'PASSED | example.com/shop > TestTable/one | 0 | ',
    ])
  })

  it('Cypress: has the title once', async () => {
    expect(await linesOf('cypress.xml')).toEqual([
      'PASSED | ag-grid scenarios verify table data | 1040 | ',
      'FAILED | ag-grid scenarios filter table by checkbox | 0 | AssertionError: The expected table data did not match the actual table data ',
    ])
  })

  it('.NET: has the message before the stack', async () => {
    expect(await linesOf('dotnet.xml')).toEqual([
      'SKIPPED | SampleProject.xUnit.TestServiceTests > SkipTest | 1 | ',
      'PASSED | SampleProject.xUnit.TestServiceTests > TestTheory(expected: True) | 4 | ',
      'FAILED | SampleProject.xUnit.TestServiceTests > TestTheory(expected: False) | 3 | Assert.Equal() Failure: Values differ',
    ])
  })
})

describe('a test case', () => {
  it.each([
    ['the class and the name', 'classname="Cart" name="adds"', 'Cart > adds'],
    ['the name, if the class is empty', 'classname="" name="adds"', 'adds'],
    ['the suite and the name without a class', 'name="adds"', 'suite > adds'],
    ['the name, if the class is the file', 'classname="cart.test.js" name="adds" file="cart.test.js"', 'adds'],
    [
      'the class after the file',
      'classname="tests.test_cart.Cart" name="adds" file="tests/test_cart.py"',
      'Cart > adds',
    ],
    ['the name, if the class has the same words', 'classname=" adds" name=" adds"', 'adds'],
    ['the longer one of both', 'classname="Cart adds" name="adds"', 'Cart adds'],
  ])('has as its title %s', async (_, attributes, title) => {
    const { testCases } = await read(inSuite(`<testcase ${attributes}/>`))
    expect(testCases.map((one) => one.title)).toEqual([title])
  })

  it('has its file, from the attribute of the test or of the suite, also if it passed', async () => {
    const { testCases } = await read(
      `<testsuites>${inSuite('', 'file="tests/test_cart.py"')}${inSuite('<testcase name="a"/><testcase name="b" filepath="cart.test.js" line="7"/><testcase name="c" file="../other.js"/>')}</testsuites>`,
    )
    expect(testCases).toMatchObject([
      { filePath: 'tests/test_cart.py' },
      { filePath: 'cart.test.js', line: 7 },
      expect.not.objectContaining({ filePath: expect.anything() }),
    ])
  })

  it.each([
    ['Node', '    at file://FOLDER/node_modules/x/y.js:1:2\n    at test (FOLDER/cart.test.js:3:4)'],
    ['pytest', 'E  no\n\n/usr/lib/python3/a.py:9: in x\ncart.test.js:3: AssertionError'],
    ['.NET', 'at Shop.Cart() in FOLDER/cart.test.js:line 3'],
  ])('failed at the first position of the project in the text, as %s writes it', async (_, text) => {
    const { folder, read } = await reportsOf({})
    const failure = `<failure>${text.replaceAll('FOLDER', folder)}</failure>`
    writeFileSync(join(folder, 'a.xml'), inSuite(`<testcase name="a" line="1">${failure}</testcase>`))
    expect((await read())?.testCases).toMatchObject([{ filePath: 'cart.test.js', line: 3 }])
  })

  it('has a duration with or without a comma for thousands', async () => {
    const { testCases } = await read(
      inSuite(['1,234.5', '0.25', 'NaN', '-1', '1e300'].map((time) => `<testcase name="a" time="${time}"/>`).join('')),
    )
    expect(testCases.map(({ durationMs }) => durationMs)).toEqual([1_234_500, 250, 0, 0, 0])
  })

  it('has every failure, and is to do if Node says so', async () => {
    const { testCases } = await read(
      inSuite(`<testcase name="a"><failure message="one thing"/><error message="and another"/></testcase>
        <testcase name="b"><skipped type="todo"/><failure message="later"/></testcase>
        <testcase name="c"><skipped/><error message="failed on teardown"/></testcase>
        <testcase name="d"><failure type="Timeout"/></testcase>`),
    )
    expect(testCases.map(({ status, message }) => [status, message])).toEqual([
      ['FAILED', 'one thing\n\nand another'],
      ['SKIPPED', undefined],
      ['FAILED', 'failed on teardown'],
      ['FAILED', 'Timeout'],
    ])
  })

  it('is none without a name and without a result', async () => {
    expect((await read(inSuite('<testcase time="0.000" />'))).testCases).toEqual([])
  })
})

describe('the text of a report', () => {
  it('may have a byte order mark, CDATA, entities, control characters, colours, comments and nested suites', async () => {
    const red = '\u001b[31m'
    const { testCases, problem } = await read(
      `\uFEFF<?xml version="1.0"?><!-- <testcase/> -->${inSuite(
        inSuite(`<testcase name="&lt;a&gt; &#233; &#x20AC; &quot;"><failure message="bell \u0007&#10;${red}red\u001b[39m">
          <![CDATA[<b> &amp; ]]]]><![CDATA[>]]></failure><system-out>not this</system-out></testcase>`),
      )}`,
    )
    expect(problem).toBeUndefined()
    expect(testCases).toMatchObject([
      { title: 'suite > suite > <a> é € "', message: 'bell \u0007\nred\n\n<b> &amp; ]]>' },
    ])
  })

  it.each([
    ['is cut off', inSuite('<testcase name="a"/>').slice(0, -5), /^its report "a\.xml" is cut off, because/],
    ['is cut off in an attribute', '<testsuite><testcase name="a', /is cut off/],
    ['is empty', ' \n', /^its report "a\.xml" is empty$/],
    ['is no XML', 'All tests passed', /^its report "a\.xml" is no XML: Non-whitespace before first tag\.$/],
    ['is another XML', '<html/>', /^its report "a\.xml" is no JUnit report, because it begins with <html>$/],
    ['has a wrong end tag', '<testsuite><testcase name="a"></testsuite>', /is no XML: Unexpected close tag$/],
    [
      'has an entity of its own',
      '<!DOCTYPE a [<!ENTITY b "c">]><testsuite/>',
      /has a DOCTYPE, which no test tool writes$/,
    ],
    ['is deep', '<testsuite>'.repeat(200_000), /has more than 100 elements in one another$/],
    [
      'has many attributes',
      `<testsuite ${Array.from({ length: 200_000 }, (_, i) => `a${i}=""`).join(' ')}/>`,
      /more than 100 attributes$/,
    ],
    ['has a long name', `<testsuite><${'a'.repeat(3_000_000)}/></testsuite>`, /is no XML: Max buffer length exceeded/],
  ])('that %s is the reason of the run', async (_, xml, problem) => {
    const report = await read(xml)
    expect(report.problem).toMatch(problem)
    expect(report.isComplete).toBe(false)
  })

  it('leaves the service time to respond', async () => {
    const { read } = await reportsOf({ 'a.xml': inSuite('<a/>'.repeat(500_000)) })
    let isRead = false
    const reading = read().then(() => {
      isRead = true
    })
    let turns = 0
    while (!isRead) {
      await new Promise((resolve) => setImmediate(resolve))
      turns++
    }
    await reading
    expect(turns).toBeGreaterThan(20)
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

  it.each([
    [{}, 'it wrote no report: no file in the project\'s folder matches "a.xml"'],
    [{ 'a.xml': inSuite('') }, 'it wrote no report: what matches "a.xml" is older than this run'],
  ])('are missing or old', async (before, problem) => {
    expect((await (await reportsOf({}, { pattern: 'a.xml', before })).read())?.problem).toBe(problem)
  })

  it('may be a link, a folder or too large, which costs only the run', async () => {
    const { folder, read } = await reportsOf({ 'a.xml': '', 'real.txt': inSuite('') })
    mkdirSync(join(folder, 'folder.xml'))
    truncateSync(join(folder, 'a.xml'), 64 * 1024 * 1024 + 1)
    expect((await read())?.problem).toMatch(/^its report "a\.xml" cannot be read: .* is larger than 64 MiB$/)
    writeFileSync(join(folder, 'a.xml'), inSuite(''))
    symlinkSync('real.txt', join(folder, 'link.xml'))
    expect((await read())?.problem).toMatch(/^its report "link\.xml" cannot be read: .* is not a regular file$/)
  })

  it('may have no more test cases than other reports', async () => {
    const report = await read(inSuite('<testcase name="a"/>'.repeat(150_001)))
    expect(report.problem).toBe('its report "a.xml" has more than 150000 test cases')
  })
})
