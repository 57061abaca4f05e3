import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { aRepository, createRepository, type GitRepository, writeFiles } from '../../../test/support/git-repository.ts'
import { beginJunitRun } from '../support/a-junit-run.ts'
import { folderWith } from '../support/a-local-service.ts'

type Files = Readonly<Record<string, string>>

const GO = 'package shop\n\nfunc TestA(t *testing.T) {}\n'
const FILES: Files = {
  'cart.js': '',
  'cart.test.js': '',
  cart_test: '',
  'test_cart.py': '',
  'tests/test_cart.py': '',
  'go.mod': 'module example.com/shop\n',
  'a_test.go': '',
  'sub/a_test.go': GO,
  'sub/deep/only_test.go': GO,
  'tools/go.mod': '// the tools\nmodule "example.com/tools/v2" // here\n',
  'tools/cmd/a_test.go': GO,
  'tools/cmd/helper.go': '',
  'src/test/java/com/x/FooTest.java': '',
  'src/main/java/com/x/Foo.java': '',
  'one/com/x/TwiceTest.java': '',
  'two/com/x/TwiceTest.java': '',
  'one/com/x/BothTest.java': '',
  'two/com/x/BothTest.kt': '',
  'py/tests/test_cart.py': '',
  'py/tests/test_only.py': '',
  'web/src/only.test.js': '',
  'spec/pay.js': "test('TestA', () => {})",
  'spec/help.hh': '',
}

interface Tested {
  readonly suite?: string
  readonly report?: string
  readonly folder?: string
  readonly files?: Files
}

let repository: Promise<GitRepository> | undefined
afterAll(async () => (await repository)?.remove())

/** The tests that need no further file share it, because git takes longer than they do. */
function sharedRepository(): Promise<GitRepository> {
  repository ??= createRepository(FILES)
  return repository
}

/** The place of a case with these attributes, first if it passed and then if it failed with this text. */
async function placesOf(attributes: string, text: string, { suite = 's', report = 'a.xml', ...other }: Tested = {}) {
  const { folder: root, write } = await (other.files ? aRepository(FILES) : sharedRepository())
  await write(other.files ?? {})
  const folder = join(root, other.folder ?? '')
  const readReport = await beginJunitRun('**/a.xml', { root, folder })
  const failure = `<failure><![CDATA[${text}]]></failure>`
  const cases = `<testcase name="TestA" ${attributes}/><testcase name="TestA" ${attributes}>${failure}</testcase>`
  const xml = `<testsuite name="${suite}">${cases}</testsuite>`
  await writeFiles(folder, { [report]: xml.replaceAll('FOLDER', root) })
  const found = await readReport(1)
  await rm(join(folder, report))
  expect(found?.problem).toBeUndefined()
  return found?.testCases.map(({ filePath, line }) => [filePath ?? '', ...(line === undefined ? [] : [line])].join(':'))
}

describe('the place of a test', () => {
  it.each<[string, string, string, Tested?]>([
    ['the attribute of some tools', 'filepath="cart.test.js"', 'cart.test.js'],
    ['an address', 'file="file://FOLDER/cart.test.js"', 'cart.test.js'],
    ['no file outside', 'file="../other.js" line="3"', ''],
    ['the line of Minitest', 'file="cart.test.js" lineno="7"', 'cart.test.js:7'],
    ['the line of ExUnit', 'file="cart.test.js:7"', 'cart.test.js:7'],
    ['no class that has the name of a program', 'classname="cart_test"', ''],
    ['no class that is in two modules', 'classname="com.x.TwiceTest"', ''],
    ['no class that is in Java and in Kotlin', 'classname="com.x.BothTest"', ''],
    ["a path from the report's folder", 'file="src/only.test.js"', 'web/src/only.test.js', { report: 'web/out/a.xml' }],
    ['the nearest path', 'classname="tests.test_cart"', 'py/tests/test_cart.py', { report: 'py/a.xml' }],
    ['a path from the root', 'file="tests/test_cart.py"', 'tests/test_cart.py', { folder: 'web' }],
    ['the class, if there is no file', 'file="gone.py" classname="tests.test_cart"', 'tests/test_cart.py'],
  ])('is found by %s', async (_, attributes, place, tested) => {
    expect(await placesOf(attributes, 'no', tested)).toEqual([place, place])
  })

  it.each([
    ['its attribute', 'file="cart.test.js"', ''],
    ['the attribute of a suite beside it', '', '<testsuite file="cart.test.js"/>'],
  ])('is found by %s, if a suite failed itself', async (_, attributes, beside) => {
    const folder = await folderWith(FILES)
    const readReport = await beginJunitRun('a.xml', { root: folder, folder })
    const xml = `<testsuites>${beside}<testsuite ${attributes}><failure>no</failure></testsuite></testsuites>`
    await writeFiles(folder, { 'a.xml': xml })
    const found = await readReport(1)
    expect(found?.testCases).toMatchObject([{ status: 'FAILED', filePath: 'cart.test.js' }])
  })

  it.each<[string, string, string, Tested?]>([
    ['in brackets', 'test_a(Cart) [cart.test.js:3]:\nExpected: 1', 'cart.test.js:3'],
    ['in the words of Bats', "(in test file cart.test.js, line 3)\n  `false' failed", 'cart.test.js:3'],
    ['in parentheses of C++', 'cart.test.js(3): error: check 1 == 2 failed', 'cart.test.js:3'],
    ['in a list of paths', 'no ["a.js","cart.test.js:3",\'b.js\']', 'cart.test.js:3'],
    ['in a folder with a dot', 'no\n    at .shop/a.js:3:1', '.shop/a.js:3', { files: { '.shop/a.js': '' } }],
    ['in a folder with an at sign', 'no\n    at @x/a.js:3:1', '@x/a.js:3', { files: { '@x/a.js': '' } }],
    ['in German', 'bei Shop.Cart() in FOLDER/cart.test.js:Zeile 3', 'cart.test.js:3'],
    ['in the only file of Go with this name', 'only_test.go:4: no', 'sub/deep/only_test.go:4'],
    ['in the only file of Java with this name', 'at com.x.Foo.pay(Foo.java:5)', 'src/main/java/com/x/Foo.java:5'],
    ['in no file of Java with a name that two files have', 'at com.x.TwiceTest.a(TwiceTest.java:1)', ''],
  ])('is found %s, if the report has no file', async (_, text, place, tested) => {
    expect(await placesOf('', text, tested)).toEqual(['', place])
  })

  const FOO = 'src/test/java/com/x/FooTest.java'
  it.each<[string, string, string, string, string, Tested?]>([
    [
      'JavaScript',
      'file="cart.test.js"',
      'at cart.js:1:2\n at FOLDER/cart.test.js:3:4',
      'cart.test.js',
      'cart.test.js:3',
    ],
    ['Java', 'classname="com.x.FooTest$Inner"', 'at app//com.x.FooTest$Inner.a$0(FooTest.java:8)', FOO, `${FOO}:8`],
    [
      'Go, by the package of the suite',
      'classname="sub"',
      'a_test.go:4: no',
      'sub/a_test.go:3',
      'sub/a_test.go:4',
      { suite: 'example.com/shop/sub', files: { 'other/sub/a_test.go': '' } },
    ],
    [
      'Go, in another module',
      'classname="example.com/tools/v2/cmd"',
      'helper.go:9: no',
      'tools/cmd/a_test.go:3',
      'tools/cmd/a_test.go:3',
    ],
    ['Go, not in another package', 'classname="example.com/other"', 'a_test.go:4: no', '', ''],
    ['a stack without the file', '', ' at cart.js:1:2\n at spec/pay.js:3:4\n at cart.test.js:9:9', '', 'spec/pay.js:3'],
    ['no header of C++', '', 'FAILED:\nat spec/help.hh:7', '', ''],
  ])('is that of the test and not of the helper that threw: %s', async (_, attributes, text, passed, failed, tested) => {
    expect(await placesOf(attributes, text, tested)).toEqual([passed, failed])
  })

  it.each<[string, Files]>([
    ['of another repository', { '.git/HEAD': 'ref: refs/heads/main', '.git/objects/a': '', '.git/refs/a': '' }],
    ['that git ignores', { '.gitignore': '*.test.js' }],
  ])('is not in a file %s, because the job has no such file', async (_, others) => {
    const files = { 'lib.test.js': '', ...others }
    const inFolder = Object.fromEntries(Object.entries(files).map(([path, text]) => [`vendor/lib/${path}`, text]))
    const places = await placesOf('file="vendor/lib/lib.test.js"', 'at vendor/lib/lib.test.js:3', { files: inFolder })
    expect(places).toEqual(['', ''])
  })

  it.each<[string, string, string]>([
    [
      'of JavaScript and their five innermost ones',
      'Error: no\n    at node_modules/x/index.js:1\n    at f (a.js:1:1)\n    at a.js:2:1\n    at a.js:3:1\n    at a.js:4:1\n    at a.js:5:1\n    at a.js:6:1',
      'Error: no\n    at f (a.js:1:1)\n    at a.js:2:1\n    at a.js:3:1\n    at a.js:4:1\n    at a.js:5:1',
    ],
    [
      'of the JVM, in each cause',
      'Error: no\n\tat org.junit.Assert.fail(Assert.java:9)\n\tat shop.Cart.pay(Cart.java:3)\n\tat java.base/java.lang.Thread.run(Thread.java:8)\nCaused by: Error: no money\n\tat shop.Cart.open(Cart.java:7)\n\t... 2 more',
      'Error: no\n\tat shop.Cart.pay(Cart.java:3)\nCaused by: Error: no money\n\tat shop.Cart.open(Cart.java:7)',
    ],
    [
      'of .NET',
      'no\n\nat Shop.Cart.Pay() in FOLDER/Cart.cs:line 3\n   at Shop.CartTests.Pays() in FOLDER/CartTests.cs:line 7\n   at InvokeStub_CartTests.Pays(Object)',
      'no\n\nat Shop.Cart.Pay() in FOLDER/Cart.cs:line 3\n   at Shop.CartTests.Pays() in FOLDER/CartTests.cs:line 7',
    ],
    [
      'of Python, and behind them the frames in the order of other languages',
      'no\n\ntests/a.py:7: in TestA\nlib.py:3: AssertionError',
      'no\n\ntests/a.py:7: in TestA\nlib.py:3: AssertionError\nat lib.py:3\nat tests/a.py:7',
    ],
    ['of Python, unless there is only one', 'no\n\ntests/a.py:7: AssertionError', 'no\n\ntests/a.py:7: AssertionError'],
    ['of no file of the repository', 'no\n    at x.js:1:1\n    at y.js:2:1', 'no\n    at x.js:1:1\n    at y.js:2:1'],
  ])('ends a reason with the frames %s', async (_, text, reason) => {
    const files = ['a.js', 'src/shop/Cart.java', 'Cart.cs', 'CartTests.cs', 'tests/a.py', 'lib.py']
    const { folder: root } = await aRepository(Object.fromEntries(files.map((file) => [file, ''])))
    const readReport = await beginJunitRun('a.xml', { root, folder: root })
    const failure = `<failure><![CDATA[${text.replaceAll('FOLDER', root)}]]></failure>`
    await writeFiles(root, { 'a.xml': `<testsuite><testcase name="TestA">${failure}</testcase></testsuite>` })
    const found = await readReport(1)
    expect(found?.testCases[0]?.message).toBe(reason.replaceAll('FOLDER', root))
  })

  it('is the same file for each result without a repository', async () => {
    const folder = await folderWith(FILES)
    const readReport = await beginJunitRun('a.xml', { root: folder, folder })
    const failure = '<failure>a_test.go:4: no</failure>'
    const test = (name: string, result = '') =>
      `<testcase name="${name}" classname="example.com/shop/sub">${result}</testcase>`
    const xml = `<testsuite>${test('TestA/one', failure)}${test('TestA/two')}</testsuite>`
    await writeFiles(folder, { 'a.xml': xml })
    const found = await readReport(1)
    expect(found?.testCases).toMatchObject([{ filePath: 'sub/a_test.go', line: 4 }, { filePath: 'sub/a_test.go' }])
  })
})
