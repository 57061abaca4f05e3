// biome-ignore-all lint/suspicious/noTemplateCurlyInString: GitHub's expressions are written like that.

import { describe, expect, test } from 'vitest'
import { githubContext } from '../contexts.ts'
import { type Contexts, conditionHolds, renderTemplate } from '../expressions.ts'

const contexts: Contexts = { object: { one: 1, Two: { three: 'x' } } }

describe('a template', () => {
  test.each([
    ['plain', 'plain'],
    ['${{ object.two.three }}', 'x'],
    ['a ${{ 1 }} b ${{ null }} c ${{ true }}', 'a 1 b  c true'],
    ["${{ '}}' }}", '}}'],
    ["${{ 'it''s }}' }}!", "it's }}!"],
    ['$ {{ 1 }} $(x) {{ y }} $& $1', '$ {{ 1 }} $(x) {{ y }} $& $1'],
    ["${{\n  'several'\n}} lines", 'several lines'],
  ])('%j is rendered as %j', (template, text) => {
    expect(renderTemplate(template, contexts)).toBe(text)
  })
})

test.each([
  ['always()', 'cancelled', true],
  ['success()', 'failure', false],
  ['failure()', 'cancelled', false],
  ['cancelled()', 'failure', false],
  ['!Cancelled( )', 'failure', true],
  ['${{ failure() || cancelled() }}', 'cancelled', true],
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
