// biome-ignore-all lint/suspicious/noTemplateCurlyInString: GitHub's expressions are written like that.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { contextsOf, githubContext } from '../contexts.ts'
import { type Contexts, conditionHolds, renderTemplate } from '../expressions.ts'

const contexts: Contexts = {
  list: ['a', 'B', 3],
  mixed: [null, true, 123.456, 'abc', [], ['def'], {}, { key: 'value' }],
  none: null,
  empty: {},
  object: { one: 1, Two: { three: 'x' }, 'b-ar': 'baz', true: "it's true", null: "it's null", format: "it's format" },
  issue: { labels: [{ name: 'bug' }, { name: 'help wanted' }, { title: 'no name' }] },
}

// Facts about GitHub's expressions, among them those in which evaluators differ; most stand as cases in the repository
// actions/languageservices, expressions/testdata (MIT). After the arrow: the value as JSON, or `refused`.
const FACTS = String.raw`
'it''s'                                     => "it's"
'}} || ('                                   => "}} || ("
-1.5e3                                      => -1500
.5                                          => 0.5
0xfF                                        => 255
0o10                                        => 8
1x                                          => refused
"double"                                    => refused
'open                                       => refused
1 =                                         => refused
a b                                         => refused
unknown.name                                => refused
object.one                                  => 1
OBJECT.tWo.THREE                            => "x"
object['two']['three']                      => "x"
object.b-ar                                 => "baz"
object.true                                 => "it's true"
object.null                                 => "it's null"
object.format                               => "it's format"
object.constructor                          => null
object.one.two.three                        => null
object.1                                    => refused
object.b@r                                  => refused
list[1]                                     => "B"
list['1']                                   => "B"
list[1.9]                                   => "B"
list[-1]                                    => null
list[3]                                     => null
list.length                                 => null
issue.labels.*.name                         => ["bug","help wanted"]
issue.*.*.name                              => ["bug","help wanted"]
object.two[*]                               => ["x"]
none.*.name                                 => []
(fromJSON('{"one": "x"}')).one              => "x"
!object.one                                 => false
(!object).one                               => null
!2 < 3                                      => true
!(2 < 3)                                    => false
3 < 2 < 1                                   => true
3 <= 2 < 1                                  => true
2 > 2 > 0                                   => false
2 <= 3 == true                              => true
2 == 2 == 1                                 => true
2 == 2 != 0                                 => true
1 == 1 && 2                                 => 2
1 == (1 && 2)                               => false
false && 0 || null                          => null
1 || 2 && 3                                 => 1
(1 || 2) && 3                               => 3
0 || 0 || 2 || 3                            => 2
false || '' || 'a' || 'b'                   => "a"
'a' && ''                                   => ""
'false' && 1                                => 1
empty && 1                                  => 1
'a' || fromJSON('not JSON')                 => "a"
fromJSON('not JSON')                        => refused
null == ''                                  => true
null == 0                                   => true
null == false                               => true
'' == 0                                     => true
' 7 ' == 7                                  => true
'0x10' == 16                                => true
'7a' == 7                                   => false
true == '1'                                 => true
true == 'true'                              => false
NaN == NaN                                  => false
NaN != NaN                                  => true
object == object                            => true
empty == 'Object'                           => false
'aBc' == 'AbC'                              => true
'ς' == 'Σ'                                  => true
'ü' == 'Ü'                                  => true
'i' == 'İ'                                  => false
'ı' == 'I'                                  => false
'a' < '['                                   => true
'A' > '['                                   => false
'10' > 9                                    => true
'10' > '9'                                  => false
'def' > 'abc'                               => true
'a' < 1                                     => false
null >= null                                => true
null > null                                 => false
null > -1                                   => true
true > false                                => true
false < NaN                                 => false
true < Infinity                             => true
-1 < empty                                  => false
object > object                             => false
contains('Hello world', 'WORLD')            => true
contains('abc', '')                         => true
contains('123', 23)                         => true
contains(list, 'b')                         => true
contains(list, '3')                         => true
contains(fromJSON('["pushed"]'), 'push')    => false
contains(object, 1)                         => false
contains(issue.labels.*.name, 'BUG')        => true
contains('a')                               => refused
startsWith('refs/Heads/x', 'refs/heads/')   => true
startsWith(none, 'x')                       => false
endsWith('1234', 34)                        => true
endsWith('asdf', null)                      => true
endsWith('x_ς', 'σ')                        => true
endsWith('x_ı', 'I')                        => false
format('{1}-{0} {{0}}', 'a', 2)             => "2-a {0}"
format('}}{{}}', 'a')                       => "}{}"
format('{0}{0}', null)                      => ""
format(null, 'a')                           => ""
format('{0}', -0)                           => "0"
format('{0}', 0.84551240822557006)          => "0.84551240822557"
format('{0}', 1.2e-2)                       => "0.012"
format('{0}', -Infinity)                    => "-Infinity"
format('{0}', list)                         => "Array"
format('{0}', empty)                        => "Object"
format('{0')                                => refused
format('{0}}', '')                          => refused
format('{0}')                               => refused
format('{0}{1}', 'a')                       => refused
join(mixed)                                 => ",true,123.456,abc,Array,Array,Object,Object"
join(list, ' and ')                         => "a and B and 3"
join(list, null)                            => "aB3"
join(list, empty)                           => "a,B,3"
join('alone', '-')                          => "alone"
join(object)                                => ""
join()                                      => refused
join(1, 2, 3)                               => refused
toJSON('abc\"def')                          => "\"abc\\\\\\\"def\""
toJSON(-0)                                  => "0"
toJSON(none)                                => "null"
toJSON(empty)                               => "{}"
toJSON(list)                                => "[\n  \"a\",\n  \"B\",\n  3\n]"
fromJSON('[[1], {"a": null}]')              => [[1],{"a":null}]
fromJSON('"a''b"')                          => "a'b"
case(false, 1, true, 2, 3)                  => 2
case(false, 1, false, 2, 3)                 => 3
case(true, 1, false, 2)                     => refused
case('true', 1, 2)                          => refused
hashFiles('x')                              => refused
always()                                    => refused
`

const facts = FACTS.trim()
  .split('\n')
  .map((line) => line.split(/ +=> /) as [expression: string, value: string])

test.each(facts)('%s is %s', (expression, value) => {
  const evaluated = (): unknown => JSON.parse(renderTemplate(`\${{ toJSON(${expression}) }}`, contexts))
  if (value === 'refused') expect(evaluated).toThrow()
  else expect(evaluated()).toEqual(JSON.parse(value))
})

describe('a template', () => {
  test.each([
    ['plain', 'plain'],
    ['', ''],
    ['${{ object.two.three }}', 'x'],
    ['${{object.two.three}}', 'x'],
    ['a ${{ 1 }} b ${{ null }} c ${{ true }}', 'a 1 b  c true'],
    ["${{ '}}' }}", '}}'],
    ["${{ 'it''s }}' }}!", "it's }}!"],
    ['$ {{ 1 }} $(x) {{ y }} $& $1', '$ {{ 1 }} $(x) {{ y }} $& $1'],
    ["${{ '$& $1' }}", '$& $1'],
    ["${{\n  'several'\n}} lines", 'several lines'],
  ])('%j is rendered as %j', (template, text) => {
    expect(renderTemplate(template, contexts)).toBe(text)
  })

  test.each(['a ${{ 1', "a ${{ '}}'", "${{ 'open }}"])('%j is refused, because it is not closed', (template) => {
    expect(() => renderTemplate(template, contexts)).toThrow('is not closed')
  })

  test('is never changed outside its expressions, and a string in one stands for itself', () => {
    const text = fc.string({ unit: 'binary' }).filter((given) => !given.includes('${{'))
    fc.assert(
      fc.property(text, text, fc.string({ unit: 'binary' }), (before, after, value) => {
        fc.pre(!`${before}\${{`.slice(0, -1).includes('${{'))
        const template = `${before}\${{ '${value.replaceAll("'", "''")}' }}${after}`
        expect(renderTemplate(template, {})).toBe(before + value + after)
      }),
    )
  })
})

test.each([
  ['always()', 'cancelled', true],
  ['success()', 'success', true],
  ['success()', 'failure', false],
  ['failure()', 'failure', true],
  ['failure()', 'cancelled', false],
  ['cancelled()', 'cancelled', true],
  ['cancelled()', 'failure', false],
  ['!Cancelled( )', 'failure', true],
  ['${{ failure() || cancelled() }}', 'cancelled', true],
  ['', 'success', true],
  ['', 'failure', false],
  ['object.one', 'success', true],
  ['object.one || true', 'failure', false],
  ["'always()' || object.always", 'failure', false],
  ["always() && object.one == '2'", 'failure', false],
  ["object.two.three == 'X' && always()", 'failure', true],
] as const)('the condition %j in a job with status %s: %j', (condition, status, holds) => {
  expect(conditionHolds(condition, contexts, status)).toBe(holds)
})

describe('the github context', () => {
  const pull_request = { number: 12, head: { ref: 'feature/x' }, base: { ref: 'main' } }

  test.each([
    [
      'pull_request',
      { number: 12, pull_request },
      { ref: 'refs/pull/12/merge', ref_name: '12/merge', head_ref: 'feature/x' },
    ],
    ['pull_request_target', { pull_request }, { ref_name: 'main', head_ref: 'feature/x', base_ref: 'main' }],
    ['push', { ref: 'refs/heads/release/1.x' }, { ref_name: 'release/1.x', ref_type: 'branch' }],
    ['push', { ref: 'refs/tags/v1' }, { ref_name: 'v1', ref_type: 'tag', head_ref: '' }],
    ['merge_group', { merge_group: { head_ref: 'refs/heads/gh-readonly-queue/main/pr-1-abc' } }, { head_ref: '' }],
    ['workflow_run', { workflow_run: { head_branch: 'topic' } }, { ref_name: 'main', head_ref: '' }],
    ['schedule', { repository: { default_branch: 'trunk' } }, { ref_name: 'trunk', ref_type: 'branch' }],
    ['workflow_dispatch', { ref: 'refs/heads/topic' }, { ref_name: 'topic' }],
    ['release', { release: { tag_name: 'v2' } }, { ref: 'refs/tags/v2', ref_name: 'v2', ref_type: 'tag' }],
  ])('of %s has its refs', (name, payload, refs) => {
    expect(githubContext({ name, payload })).toMatchObject(refs)
  })
})

test.each([
  [undefined, '21454321098'],
  [{ check_run_id: null }, ''],
])('the job context knows the id of its check run, except on older servers: %j', (job, text) => {
  const known = contextsOf({ github: {}, status: 'success', runner: {}, job })
  expect(renderTemplate('${{ job.check_run_id }}', known)).toBe(text)
})
