import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { HAS_COMMANDS } from '../support/github-commands.ts'
import { read, readDocument } from './documents.ts'

// Runs the commands of docs/organisation.md with a `gh` that records how it is called.

const { blocks } = readDocument('docs/organisation.md')

/** Writes its arguments and its input as a line of JSON to the file "calls", and prints what the commands need. */
const GH = `#!/bin/bash
input=; test -t 0 || [[ "$*" != *--app* && "$*" != *'--input -'* ]] || input=$(cat)
jq --null-input --compact-output --arg args "$*" --arg input "$input" '{ $args, $input }' >> calls
case "$*" in
  *selected-actions) echo '{"github_owned_allowed":true,"verified_allowed":false,"patterns_allowed":["octo-org/*"]}' ;;
  *repos/octo-org/workflows*) echo 7 ;;
  'repo list'*) printf 'octo-org/web-shop\\nocto-org/back-office\\n' ;;
esac
`

function run(section: string, files: Readonly<Record<string, string>> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'organisation-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'gh'), GH, { mode: 0o755 })
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  const script = blocks.filter((block) => block.section === section).map(({ text }) => text)
  expect(script).not.toEqual([])
  const env = { ...process.env, PATH: `${folder}:${process.env.PATH}` }
  const options = { cwd: folder, env, encoding: 'utf8' } as const
  const { status, stderr } = spawnSync('bash', ['-e', '-o', 'pipefail', '-c', script.join('\n')], options)
  expect(status, stderr).toBe(0)
  const calls = readFileSync(join(folder, 'calls'), 'utf8').trim().split('\n')
  return calls.map((line): { args: string; input: string } => JSON.parse(line))
}

// The commands need Bash, as on Linux and macOS.
describe.skipIf(process.platform === 'win32' || !HAS_COMMANDS)('the organisation page', () => {
  test('adds the action to those that are allowed already', () => {
    const [, put] = run('Allow the action')
    expect(put?.args).toContain('--method PUT')
    expect(JSON.parse(put?.input ?? '').patterns_allowed).toEqual([
      'octo-org/*',
      expect.stringMatching(/^[\w-]+\/test-run-action@\*$/),
    ])
  })

  test('stores each key as a secret of its repository, for workflows and for Dependabot', () => {
    const keys = 'web-shop\tshop-1\tkey-1\nback-office\toffice-1\tkey-2\n'
    const calls = run('Store the address and the keys', { 'keys.tsv': keys })
    expect(calls.map(({ args, input }) => `${args} ${input}`.trim())).toEqual([
      'variable set TEST_SERVICE_URL --org octo-org --visibility all --body https://tests.example.com',
      'variable set TEST_PROJECT --repo octo-org/web-shop --body shop-1',
      'secret set TEST_SERVICE_API_KEY --repo octo-org/web-shop --app actions key-1',
      'secret set TEST_SERVICE_API_KEY --repo octo-org/web-shop --app dependabot key-1',
      'variable set TEST_PROJECT --repo octo-org/back-office --body office-1',
      'secret set TEST_SERVICE_API_KEY --repo octo-org/back-office --app actions key-2',
      'secret set TEST_SERVICE_API_KEY --repo octo-org/back-office --app dependabot key-2',
    ])
  })

  test('tries the ruleset in one repository, and then enforces it in all', () => {
    const put = run('Run it in all repositories').at(-1)
    const { enforcement, conditions, rules } = JSON.parse(put?.input ?? '')
    expect(enforcement).toBe('active')
    expect(conditions.repository_name).toEqual({ include: ['~ALL'], exclude: ['workflows'] })
    expect(conditions.ref_name.include).toEqual(['~DEFAULT_BRANCH'])
    expect(rules[0].parameters.workflows).toMatchObject([
      { repository_id: 7, path: '.github/workflows/organisation.yml' },
    ])
  })

  test('creates the ruleset in each repository', () => {
    const files = { 'ruleset.json': read('examples/workflows/ruleset.json') }
    const posts = run('The ruleset of one repository', files).slice(1)
    expect(posts.map(({ args }) => args)).toEqual([
      'api --method POST repos/octo-org/web-shop/rulesets --input ruleset.json --silent',
      'api --method POST repos/octo-org/back-office/rulesets --input ruleset.json --silent',
    ])
  })
})
