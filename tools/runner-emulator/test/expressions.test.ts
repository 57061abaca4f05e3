// biome-ignore-all lint/suspicious/noTemplateCurlyInString: GitHub's expressions are written like that.

import { expect, test } from 'vitest'
import { type Contexts, conditionHolds, renderTemplate } from '../step-runner/expressions.ts'

const contexts: Contexts = { object: { one: 1, Two: { three: 'x' } } }

test.each([
  ['${{ object.two.three }}', 'x'],
  ['a ${{ 1 }} b ${{ null }} c ${{ true }}', 'a 1 b  c true'],
  ["${{ 'it''s }}' }}!", "it's }}!"],
  ['$ {{ 1 }} $(x) {{ y }} $& $1', '$ {{ 1 }} $(x) {{ y }} $& $1'],
  ["${{\n  'several'\n}} lines", 'several lines'],
])('the template %j is rendered as %j', (template, text) => {
  expect(renderTemplate(template, contexts)).toBe(text)
})

test.each([
  ['failure()', 'cancelled', false],
  ['cancelled()', 'failure', false],
  ['!Cancelled( )', 'failure', true],
  ['${{ failure() || cancelled() }}', 'cancelled', true],
  ['', 'failure', false],
  ['object.one || true', 'failure', false],
  ["object.two.three == 'X' && always()", 'failure', true],
] as const)('the condition %j in a job with status %s: %j', (condition, status, holds) => {
  expect(conditionHolds(condition, contexts, status)).toBe(holds)
})
