// biome-ignore-all lint/suspicious/noTemplateCurlyInString: GitHub's expressions are written like that.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { githubContext } from '../contexts.ts'
import { type ExpressionValue, toText } from '../expression-values.ts'
import { type Contexts, conditionHolds, evaluateExpression, renderTemplate } from '../expressions.ts'

const contexts: Contexts = {
  github: {
    ref_name: 'main',
    token: 'ghs_1',
    event: { pull_request: { number: 7, draft: false, labels: [{ name: 'bug' }, { name: 'UI' }, {}] } },
  },
  matrix: { os: 'linux', node: 24, flags: { fast: true } },
  job: { status: 'failure' },
}

function evaluate(expression: string): ExpressionValue {
  return evaluateExpression(expression, contexts)
}

describe('literals', () => {
  test.each([
    ["'it''s'", "it's"],
    ["''", ''],
    ["'}} || ('", '}} || ('],
    ['true', true],
    ['false', false],
    ['null', null],
    ['42', 42],
    ['-1.5e3', -1500],
    ['.5', 0.5],
    ['0x1F', 31],
    ['0o17', 15],
    ['Infinity', Number.POSITIVE_INFINITY],
    ['NaN', Number.NaN],
  ])('%s is read as a value', (expression, value) => {
    expect(evaluate(expression)).toEqual(value)
  })
})

describe('properties', () => {
  test.each([
    ['github.event.pull_request.number', 7],
    ["github['event']['pull_request'].number", 7],
    ['GitHub.Event.Pull_Request.Number', 7],
    ['github.event.pull_request.labels[1].name', 'UI'],
    ["github.event.pull_request.labels['1'].name", 'UI'],
    ['github.event.pull_request.labels[1.9].name', 'UI'],
    ['github.event.pull_request.labels[-1]', null],
    ['github.event.pull_request.labels[3]', null],
    ['github.event.workflow_run.head_branch', null],
    ['github.ref_name.length', null],
    ['github.event.pull_request.constructor', null],
    ['github.event.pull_request.labels.length', null],
    ["matrix[format('{0}', 'os')]", 'linux'],
  ])('%s is looked up', (expression, value) => {
    expect(evaluate(expression)).toEqual(value)
  })

  test('a star yields the values, and their property where they have it', () => {
    expect([...(evaluate('github.event.pull_request.labels.*.name') as string[])]).toEqual(['bug', 'UI'])
    expect([...(evaluate('matrix[*]') as string[])]).toEqual(['linux', 24, { fast: true }])
    expect(evaluate("join(github.event.*.labels.*.name, '+')")).toBe('bug+UI')
    expect(evaluate("join(github.event.*.labels[1].name, '+')")).toBe('UI')
    expect(evaluate('join(github.nothing.*.name)')).toBe('')
  })
})

describe('operators', () => {
  test.each([
    ["'' || 'b'", 'b'],
    ["'a' || 'b'", 'a'],
    ["0 || null || false || ''", ''],
    ['0 && 5', 0],
    ["'a' && 'b'", 'b'],
    ["'false' && 1", 1],
    ['NaN || 1', 1],
    ["'a' || 'b' && ''", 'a'],
    ["('a' || 'b') && ''", ''],
    ['!!github.event.pull_request', true],
    ['!github.event.nothing', true],
    ["!'' == true", true],
    ['1 < 2 == true', true],
    ["true && 'x' == 'X'", true],
  ])('%s gives %j', (expression, value) => {
    expect(evaluate(expression)).toEqual(value)
  })

  test('the right side is left alone where the left side decides', () => {
    expect(evaluate("'a' || fromJSON('not JSON')")).toBe('a')
    expect(evaluate("'' && fromJSON('not JSON')")).toBe('')
  })
})

describe('comparison', () => {
  test.each([
    ["'Main' == 'mAIN'", true],
    ["'straße' == 'STRASSE'", false],
    ["'é' == 'É'", true],
    ["null == ''", true],
    ['null == 0', true],
    ['null == false', true],
    ["'' == 0", true],
    ["' 7 ' == 7", true],
    ["'0x10' == 16", true],
    ["'7a' == 7", false],
    ["true == '1'", true],
    ["true == 'true'", false],
    ['NaN == NaN', false],
    ['NaN != NaN', true],
    ['github.event == github.event', true],
    ["github.event == 'Object'", false],
    ['github.event.pull_request.draft == false', true],
    ["'b' > 'A'", true],
    ["'10' > 9", true],
    ["'10' > '9'", false],
    ['2 >= 2', true],
    ['null >= null', true],
    ['null > null', false],
    ["'a' < 1", false],
    ['true > false', true],
  ])('%s is %j', (expression, value) => {
    expect(evaluate(expression)).toBe(value)
  })
})

describe('functions', () => {
  test.each([
    ["contains('Hello world', 'WORLD')", true],
    ["contains('abc', '')", true],
    ['contains(fromJSON(\'["push", "Pull"]\'), \'PUSH\')', true],
    ["contains(fromJSON('[\"pushed\"]'), 'push')", false],
    ['contains(matrix, 24)', false],
    ["contains(github.event.pull_request.labels.*.name, 'ui')", true],
    ["startsWith('refs/Heads/x', 'refs/heads/')", true],
    ["endsWith('a.TS', '.ts')", true],
    ["startsWith(github.event.nothing, 'x')", false],
    ["format('{1}-{0} {{0}}', 'a', 2)", '2-a {0}'],
    ["format('{0}{0}', null)", ''],
    ['join(fromJSON(\'[1, true, null, "x"]\'))', '1,true,,x'],
    ["join(fromJSON('[1, 2]'), ' and ')", '1 and 2'],
    ["join('alone', '-')", 'alone'],
    ['fromJSON(\'{"a": [1]}\').a[0]', 1],
    ["TOJSON('a')", '"a"'],
  ])('%s gives %j', (expression, value) => {
    expect(evaluate(expression)).toEqual(value)
  })

  test('toJSON writes what the runner writes', () => {
    expect(evaluate('toJSON(matrix)')).toBe(
      '{\n  "os": "linux",\n  "node": 24,\n  "flags": {\n    "fast": true\n  }\n}',
    )
    expect(evaluateExpression('toJSON(matrix)', { matrix: null })).toBe('null')
    expect(evaluateExpression('toJSON(x)', { x: ['\u2028', {}, []] })).toBe('[\n  "\\u2028",\n  {},\n  []\n]')
  })

  test('fromJSON undoes toJSON for any value', () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
        const x = JSON.parse(JSON.stringify(value)) as ExpressionValue
        expect(evaluateExpression('fromJSON(toJSON(x))', { x })).toEqual(x)
      }),
    )
  })
})

describe('text', () => {
  test.each([
    [null, ''],
    [true, 'true'],
    [0.1, '0.1'],
    [-0, '-0'],
    [1 / 3, '0.333333333333333'],
    [123456789012345, '123456789012345'],
    [1234567890123456, '1.23456789012346E+15'],
    [1e21, '1E+21'],
    [0.0001, '0.0001'],
    [0.00001, '1E-05'],
    [2.5e-7, '2.5E-07'],
    [Number.NEGATIVE_INFINITY, '-Infinity'],
    [[1], 'Array'],
    [{ a: 1 }, 'Object'],
  ])('%j becomes %j', (value, text) => {
    expect(toText(value)).toBe(text)
  })
})

describe('templates', () => {
  test.each([
    ['plain', 'plain'],
    ['', ''],
    ['${{ github.ref_name }}', 'main'],
    ['${{github.ref_name}}', 'main'],
    ['a ${{ 1 }} b ${{ null }} c', 'a 1 b  c'],
    ["${{ '}}' }}", '}}'],
    ["${{ 'it''s }}' }}!", "it's }}!"],
    ['${{ github.event.nothing.at.all }}', ''],
    ['$ {{ 1 }} $(x) {{ y }}', '$ {{ 1 }} $(x) {{ y }}'],
    ['${{ matrix }}', 'Object'],
  ])('%j is rendered as %j', (template, text) => {
    expect(renderTemplate(template, contexts)).toBe(text)
  })

  test('a text without the opening sign is never changed', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        fc.pre(!text.includes('${{'))
        expect(renderTemplate(text, contexts)).toBe(text)
      }),
    )
  })

  test('a string literal brings back any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(renderTemplate(`<\${{ '${text.replaceAll("'", "''")}' }}>`, contexts)).toBe(`<${text}>`)
      }),
    )
  })
})

describe('mistakes', () => {
  test.each([
    ['env.HOME', 'there is no context "env" here'],
    ['hashFiles(1)', 'there is no function "hashFiles" here'],
    ['always()', 'always() exists in conditions alone'],
    ["contains('a')", 'contains() does not take 1 parameters'],
    ['a b', 'unexpected "b"'],
    ['', 'unexpected end'],
    ['(1', 'unexpected end'],
    ['1 ==', 'unexpected end'],
    ['github.', 'unexpected end'],
    ["'open", 'unexpected "\'"'],
    ['"double"', 'unexpected "\\""'],
    ['1x', 'unexpected "1x"'],
    ['a = b', 'unexpected "="'],
    ["format('{1}', 1)", 'look at "{1}"'],
    ["format('{', 1)", 'look at "{"'],
  ])('%s is refused', (expression, message) => {
    expect(() => evaluate(expression)).toThrow(message)
  })

  test('an expression that is not closed is refused', () => {
    expect(() => renderTemplate("a ${{ '}}'", contexts)).toThrow('is not closed')
  })
})

describe('conditions', () => {
  test.each([
    ['always()', 'cancelled', true],
    ['success()', 'success', true],
    ['success()', 'failure', false],
    ['failure()', 'failure', true],
    ['failure()', 'cancelled', false],
    ['cancelled()', 'cancelled', true],
    ['cancelled()', 'failure', false],
    ['!cancelled()', 'failure', true],
    ['${{ failure() || cancelled() }}', 'cancelled', true],
    ["matrix.os == 'linux'", 'success', true],
    ["matrix.os == 'linux'", 'failure', false],
    ["always() && matrix.os == 'windows'", 'failure', false],
    ["job.status == 'failure' && always()", 'failure', true],
  ] as const)('%s in a job with status %s is %j', (condition, status, holds) => {
    expect(conditionHolds(condition, contexts, status)).toBe(holds)
  })
})

describe('the branch that a workflow run is about', () => {
  const expression =
    "${{ github.event.workflow_run.head_branch || github.event.pull_request.head.ref || (github.ref_type == 'branch' && github.ref_name) || '' }}"
  const pull_request = { number: 12, head: { ref: 'feature/x' }, base: { ref: 'main' } }

  test.each([
    ['pull_request', { pull_request }, 'feature/x'],
    ['pull_request_target', { pull_request }, 'feature/x'],
    ['push', { ref: 'refs/heads/release/1.x' }, 'release/1.x'],
    ['push', { ref: 'refs/tags/v1' }, ''],
    [
      'merge_group',
      { merge_group: { head_ref: 'refs/heads/gh-readonly-queue/main/pr-1-abc' } },
      'gh-readonly-queue/main/pr-1-abc',
    ],
    ['workflow_run', { workflow_run: { head_branch: 'topic' } }, 'topic'],
    ['schedule', { repository: { default_branch: 'trunk' } }, 'trunk'],
    ['workflow_dispatch', { ref: 'refs/heads/topic' }, 'topic'],
    ['release', { release: { tag_name: 'v2' } }, ''],
  ])('on %s it is found', (name, payload, branch) => {
    expect(renderTemplate(expression, { github: githubContext({ name, payload }) })).toBe(branch)
  })

  test.each([
    [
      'pull_request',
      { number: 12, pull_request },
      { ref: 'refs/pull/12/merge', ref_name: '12/merge', head_ref: 'feature/x' },
    ],
    ['pull_request_target', { pull_request }, { ref_name: 'main', head_ref: 'feature/x', base_ref: 'main' }],
    ['push', { ref: 'refs/tags/v1' }, { ref_name: 'v1', ref_type: 'tag', head_ref: '' }],
    [
      'workflow_run',
      { workflow_run: { head_branch: 'topic' } },
      { ref_name: 'main', ref_type: 'branch', head_ref: '' },
    ],
  ])('on %s the runner says these refs', (name, payload, refs) => {
    expect(githubContext({ name, payload })).toMatchObject(refs)
  })
})
