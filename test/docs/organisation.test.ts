import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { Ajv, type Schema } from 'ajv'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { commandsOf, type GhFolder, ghFolder } from '../support/gh-folder.ts'
import { HAS_COMMANDS } from '../support/github-commands.ts'
import { ROOT, read, readDocument } from './documents.ts'
import { problemsOfRuleset } from './ruleset-types.ts'

const PAGE = 'docs/organisation.md'
const IDS = {
  'teams/gate-keepers': { id: 5 },
  'workflows/commits/main': { sha: 'c0ffee' },
  'octo-org/workflows ': { id: 7 },
}

/** The arguments of the provider integrations/github 6.13, as far as the file uses them. An expression is a string. */
const TERRAFORM: Schema = (() => {
  const text = { type: 'string', minLength: 1 }
  const expression = { type: 'string', pattern: '^\\$\\{.*\\}$' }
  const list = { anyOf: [{ type: 'array', items: text }, expression] }
  const flag = { type: 'boolean' }
  const oneOf = (...values: readonly string[]) => ({ anyOf: [{ enum: values }, expression] })
  const object = (required: object, optional: object = {}) => ({
    type: 'object',
    properties: { ...required, ...optional },
    required: Object.keys(required),
    additionalProperties: false,
  })
  const block = (required: object, optional?: object) => ({
    type: 'array',
    minItems: 1,
    items: object(required, optional),
  })
  const filter = block({ include: list, exclude: list })
  const property = block({ name: text, property_values: list }, { source: oneOf('custom', 'system') })
  const rules = {
    required_workflows: block(
      { required_workflow: block({ repository_id: expression, path: text }, { ref: text }) },
      { do_not_enforce_on_create: flag },
    ),
    file_path_restriction: block({ restricted_file_paths: list }),
  }
  const named = (required: object, optional?: object) => ({
    type: 'object',
    additionalProperties: block(required, { ...optional, for_each: {} }),
  })
  return object({
    github_organization_ruleset: named(
      {
        name: text,
        target: oneOf('branch', 'tag', 'push'),
        enforcement: oneOf('disabled', 'active', 'evaluate'),
        rules: block({}, rules),
      },
      {
        bypass_actors: block(
          { actor_type: oneOf('Team'), bypass_mode: oneOf('always', 'pull_request', 'exempt') },
          { actor_id: expression },
        ),
        conditions: block(
          {},
          {
            ref_name: filter,
            repository_name: filter,
            repository_property: block({}, { include: property, exclude: property }),
          },
        ),
      },
    ),
    github_organization_custom_properties: named(
      { property_name: text },
      {
        value_type: oneOf('string', 'single_select', 'multi_select', 'true_false'),
        allowed_values: list,
        required: flag,
        default_value: text,
        values_editable_by: oneOf('org_actors', 'org_and_repo_actors'),
      },
    ),
    github_repository_custom_property: named({
      repository: text,
      property_name: text,
      property_type: oneOf('string', 'single_select', 'multi_select', 'true_false'),
      property_value: list,
    }),
  })
})()

/** Runs all commands below a heading of the page, and returns the calls of `gh`. */
function runSection(heading: string, folder: GhFolder) {
  const { status, stderr } = folder.run(commandsOf(PAGE, heading).join('\n'))
  expect(status, stderr).toBe(0)
  return folder.calls()
}

// The commands need Bash, as on Linux and macOS.
describe.skipIf(process.platform === 'win32' || !HAS_COMMANDS)('the commands of the organisation page', () => {
  test('add the action and the local service to the actions that are allowed already', () => {
    const [, put] = runSection(
      'Allow the action',
      ghFolder({ 'selected-actions': { patterns_allowed: ['octo-org/*'] } }),
    )
    expect(put?.args).toContain('--method PUT')
    const { patterns_allowed } = JSON.parse(put?.input ?? '')
    expect(patterns_allowed).toEqual([
      'octo-org/*',
      expect.stringMatching(/^[\w-]+\/test-run-action@\*$/),
      expect.stringMatching(/^[\w-]+\/test-run-action\/local-service@\*$/),
    ])
  })

  describe('for the keys', () => {
    const [, store = ''] = commandsOf(PAGE, 'Store the address and the keys')
    const KEYS = 'octo-org/web-shop\tshop-1\tkey-1\nocto-org/back-office\toffice-1\tkey-2' // without a line break at the end
    const callsFor = (repository: string, project: string, key: string) => [
      { args: `variable set TEST_PROJECT --repo ${repository} --body ${project}`, input: '' },
      { args: `secret set TEST_SERVICE_API_KEY --repo ${repository} --app actions`, input: key },
      { args: `secret set TEST_SERVICE_API_KEY --repo ${repository} --app dependabot`, input: key },
    ]
    const SHOP = callsFor('octo-org/web-shop', 'shop-1', 'key-1')
    const OFFICE = callsFor('octo-org/back-office', 'office-1', 'key-2')

    function folderWithKeys(keys = KEYS) {
      const folder = ghFolder()
      folder.write('keys.tsv', keys)
      return folder
    }

    test('store each key for workflows and for Dependabot, also that of the last line, and delete the file', () => {
      const folder = folderWithKeys()
      const { status, stdout } = folder.run(store)
      expect([status, stdout]).toEqual([0, 'octo-org/web-shop\nocto-org/back-office\n'])
      expect(folder.calls()).toEqual([...SHOP, ...OFFICE])
      expect(() => folder.read('keys.tsv')).toThrow('ENOENT')
    })

    test('list at the end what has failed, keep the file, and repeat only that', () => {
      const folder = folderWithKeys()
      folder.fail({ 'octo-org/web-shop --app dependabot': 'HTTP 404: Not Found' })
      const { status, stderr } = folder.run(store)
      expect(status).toBe(1)
      expect(stderr).toMatch(/^octo-org\/web-shop: HTTP 404: Not Found\n.*\nocto-org\/web-shop\n$/)
      expect(folder.calls()).toEqual([...SHOP, ...OFFICE])
      folder.fail({})
      expect(folder.run(store).status).toBe(0)
      expect(folder.calls()).toEqual(SHOP)
    })

    test('repeat nothing if the same keys are given again, and store a new key', () => {
      const folder = folderWithKeys()
      folder.run(store)
      folder.calls()
      folder.write('keys.tsv', KEYS)
      expect(folder.run(store).status).toBe(0)
      expect(folder.calls()).toEqual([])
      folder.write('keys.tsv', KEYS.replace('key-2', 'key-3'))
      expect(folder.run(store).status).toBe(0)
      expect(folder.calls()).toEqual(callsFor('octo-org/back-office', 'office-1', 'key-3'))
    })

    test('try again after a rate limit of GitHub, and not after other errors', () => {
      const folder = folderWithKeys()
      folder.fail({
        'octo-org/web-shop --body': 'once HTTP 403: You have exceeded a secondary rate limit.',
        'octo-org/back-office --body': 'once HTTP 500',
      })
      const { status, stderr } = folder.run(store)
      expect(status).toBe(1)
      expect(stderr).toMatch(/\nocto-org\/back-office\n$/)
      expect(folder.calls()).toEqual([SHOP[0], ...SHOP, OFFICE[0]])
    })

    test('refuse a line without a key, and a file from Windows works', () => {
      const folder = folderWithKeys('octo-org/web-shop\tshop-1\r\nocto-org/back-office\toffice-1\tkey-2\r\n')
      expect(folder.run(store)).toMatchObject({ status: 1, stderr: expect.stringContaining('needs three columns') })
      expect(folder.calls()).toEqual(OFFICE)
    })

    test('write no key anywhere', () => {
      const folder = folderWithKeys()
      folder.fail({ 'octo-org/web-shop --app dependabot': 'HTTP 404' })
      const { stdout, stderr } = folder.run(store)
      expect(stdout + stderr + folder.read('keys.tsv.done')).not.toMatch(/key-\d/)
    })
  })

  test('create one ruleset that is tried and one that is enforced, in the shape that GitHub documents', () => {
    const calls = runSection('Create the rulesets', ghFolder({ ...IDS, 'orgs/octo-org/rulesets': { id: 1 } }))
    const [property, central] = calls
    expect(JSON.parse(property?.input ?? '')).toMatchObject({
      default_value: 'trial',
      values_editable_by: 'org_actors',
    })
    expect(central?.args).toContain('repos/octo-org/workflows/properties/values')
    const bodies = calls.filter(({ args }) => args.includes('POST')).map(({ input }) => JSON.parse(input))
    expect(bodies.map(({ enforcement, conditions }) => [enforcement, conditions.repository_property.include])).toEqual([
      ['evaluate', [expect.objectContaining({ name: 'test-gate', property_values: ['trial'] })]],
      ['active', [expect.objectContaining({ name: 'test-gate', property_values: ['enforced'] })]],
    ])
    for (const body of bodies) {
      expect(problemsOfRuleset(body, 'repos/create-org-ruleset')).toEqual([])
      expect(body.bypass_actors).toEqual([{ actor_id: 5, actor_type: 'Team', bypass_mode: 'pull_request' }])
      expect(body.conditions.ref_name.include).toEqual(['~DEFAULT_BRANCH'])
      expect(body.rules[0].parameters.workflows).toEqual([
        { repository_id: 7, path: '.github/workflows/organisation.yml', ref: 'refs/heads/main', sha: 'c0ffee' },
      ])
    }
  })

  test('enforce the gate in a group, undo that, and enforce it again', () => {
    const [enforce = '', undo = ''] = commandsOf(PAGE, 'Enforce it, group by group')[0]?.split('\n') ?? []
    const folder = ghFolder()
    folder.write('ring-1.txt', 'octo-org/web-shop\nocto-org/back-office')
    for (const [command, value] of [
      [enforce, 'enforced'],
      [undo, 'trial'],
      [enforce, 'enforced'],
    ]) {
      expect(folder.run(command ?? '').status).toBe(0)
      expect(folder.calls().map(({ args }) => args)).toEqual(
        ['web-shop', 'back-office'].map((name) =>
          expect.stringMatching(new RegExp(`repos/octo-org/${name}/properties/values .*test-gate .*=${value}$`)),
        ),
      )
      expect(folder.run(command ?? '').status).toBe(0)
      expect(folder.calls()).toEqual([])
    }
  })

  test('list what would have been blocked', () => {
    const suite = { pushed_at: 'T', repository_name: 'web-shop', actor_name: 'octocat', after_sha: 'b' }
    const suites = [
      { ...suite, evaluation_result: 'fail' },
      { ...suite, evaluation_result: 'pass' },
    ]
    const { stdout } = ghFolder({ 'rule-suites': suites }).run(commandsOf(PAGE, 'Look at the trial')[0] ?? '')
    expect(stdout).toBe('T\tweb-shop\toctocat\tb\n')
  })

  test('create a push ruleset in the shape that GitHub documents', () => {
    const post = runSection('What people can still do', ghFolder({ ...IDS, 'orgs/octo-org/rulesets': { id: 1 } })).at(
      -1,
    )
    const body = JSON.parse(post?.input ?? '')
    expect(problemsOfRuleset(body, 'repos/create-org-ruleset')).toEqual([])
    expect(body).toMatchObject({ target: 'push', rules: [{ type: 'file_path_restriction' }] })
  })

  test('create the ruleset of each repository, and change the ruleset of one that has it', () => {
    const repositories = ['web-shop', 'back-office'].map((name) => ({ nameWithOwner: `octo-org/${name}` }))
    const { name } = JSON.parse(read('examples/workflows/ruleset.json'))
    const existing = [
      { id: 3, name: 'another' },
      { id: 4, name },
    ]
    const folder = ghFolder({ ...IDS, 'repo list': repositories, 'back-office/rulesets?': existing })
    const changes = runSection('The ruleset of one repository', folder).filter(({ args }) => args.includes('--method'))
    expect(changes.map(({ args }) => args.replace(' --input closed.json --silent', ''))).toEqual([
      'api --method POST repos/octo-org/web-shop/rulesets',
      'api --method PUT repos/octo-org/back-office/rulesets/4',
    ])
    for (const { input } of changes) {
      expect(problemsOfRuleset(JSON.parse(input), 'repos/create-repo-ruleset')).toEqual([])
      expect(JSON.parse(input)).toMatchObject({
        enforcement: 'active',
        bypass_actors: [{ actor_id: 5, actor_type: 'Team', bypass_mode: 'pull_request' }],
      })
    }
  })

  test('let a ruleset use the newest commit of a branch, and keep its other settings', () => {
    const workflow = {
      repository_id: 7,
      path: '.github/workflows/organisation.yml',
      ref: 'refs/heads/main',
      sha: 'old',
    }
    const parameters = { do_not_enforce_on_create: true, workflows: [workflow] }
    const ruleset = { id: 42, name: 'Tests must pass', rules: [{ type: 'workflows', parameters }] }
    const folder = ghFolder({ 'commits/upgrade': { sha: 'c0ffee' }, 'rulesets/TRIAL_ID': ruleset, rulesets: [ruleset] })
    const [, , commands = ''] = commandsOf(PAGE, 'Upgrade and roll back')
    const { status, stdout, stderr } = folder.run(commands)
    expect(status, stderr).toBe(0)
    expect(stdout).toContain('42 Tests must pass\n')
    const put = folder.calls().at(-1)
    expect(put?.args).toBe('api --method PUT orgs/octo-org/rulesets/TRIAL_ID --input - --silent')
    const workflows = [{ ...workflow, ref: 'refs/heads/upgrade', sha: 'c0ffee' }]
    expect(JSON.parse(put?.input ?? '')).toEqual({
      rules: [{ type: 'workflows', parameters: { ...parameters, workflows } }],
    })
  })

  test('list which repositories use which version', () => {
    const [owner] = /[\w-]+(?=\/test-run-action@\*)/.exec(read(PAGE)) ?? []
    const fragment = `  - uses: ${owner}/test-run-action/local-service@v1\n  - uses: ${owner}/test-run-action@0123abc # v1.2.3`
    const found = [{ repository: { nameWithOwner: 'octo-org/web-shop' }, path: 'a.yml', textMatches: [{ fragment }] }]
    const search = /gh search code[\s\S]*/.exec(commandsOf(PAGE, 'Upgrade and roll back')[0] ?? '')
    expect(ghFolder({ 'search code': found }).run(search?.[0] ?? '').stdout).toBe(
      [
        `octo-org/web-shop\ta.yml\t${owner}/test-run-action/local-service@v1\n`,
        `octo-org/web-shop\ta.yml\t${owner}/test-run-action@0123abc\n`,
      ].join(''),
    )
  })
})

test.each([
  'docs/organisation.md',
  'docs/outage.md',
])('%s begins in the folder of the scripts, and copies a file that exists', (page) => {
  const [commands = ''] = commandsOf(page, 'Prepare the commands')
  const [, folder = ''] = /^cd test-run-action\/(.+)$/m.exec(commands) ?? []
  const [, file = ''] = /^cp (\S+) \.$/m.exec(commands) ?? []
  expect(existsSync(join(ROOT, folder, 'each-line.sh'))).toBe(true)
  expect(join(folder, file)).toBe(join('examples/workflows/ruleset.json'))
})

test('a mistake in a ruleset is found', () => {
  const ruleset = JSON.parse(read('examples/workflows/ruleset.json'))
  expect(problemsOfRuleset(ruleset, 'repos/create-repo-ruleset')).toEqual([])
  const mistaken = { ...ruleset, rules: [{ type: 'required_status_check' }] }
  expect(problemsOfRuleset(mistaken, 'repos/create-repo-ruleset')).not.toEqual([])
})

test('the cost in the table is what its assumptions give', () => {
  const DAYS = 21
  const number = (value: number) => value.toLocaleString('en-US')
  const rows = [...read(PAGE).matchAll(/^\| (\d+) \| (\d+) \| ([\d,]+) \| (.*?) \| (.*?) \| ([\d,]+) minutes \|$/gm)]
  expect(rows).not.toHaveLength(0)
  for (const [, repositories, minutes, ...cells] of rows) {
    const inQueue = Number(repositories) * Number(minutes) * DAYS
    const inPullRequests = 4 * inQueue
    const slim = Number(minutes) < 15 ? `$${number(inPullRequests * 0.002)}` : 'too long'
    expect(cells).toEqual([number(inPullRequests), `$${number(inPullRequests * 0.006)}`, slim, number(inQueue)])
  }
})

test('the page says what each recipe needs on other servers', () => {
  const { rows } = readDocument(PAGE)
  expect(rows).not.toHaveLength(0)
  const table = /\| recipe \|[\s\S]*?\n\n/.exec(read(PAGE))?.[0] ?? ''
  const recipes = [...read('README.md').matchAll(/examples\/workflows\/([\w-]+)\.yml/g)].map(([, name = '']) => name)
  expect([...new Set(recipes)].filter((name) => !new RegExp(`\\b${name}\\b`).test(table))).toEqual([])
})

test('the lines for a comment give the workflow a comment, and the permission for it', () => {
  const [permissions, inputs] = readDocument(PAGE)
    .blocks.filter(({ section, language }) => section === 'What the rule does' && language === 'yaml')
    .map(({ text }) => parse(text))
  expect(permissions).toEqual({ permissions: { 'pull-requests': 'write' } })
  expect(inputs).toEqual({ comment: 'on-failure', 'comment-key': `\${{ inputs.project }}` })
})

describe('rulesets.tf', () => {
  const { parse: parseHcl } = createRequire(import.meta.url)('@cdktf/hcl2json') as typeof import('@cdktf/hcl2json')
  const load = (text: string) => parseHcl('rulesets.tf', text)

  const validate = new Ajv({ strictRequired: false }).compile(TERRAFORM)
  const problemsOf = (resources: unknown) => (validate(resources) ? [] : validate.errors)

  test('has only arguments that version 6.13 of the provider has, and all that it requires', async () => {
    const { terraform, resource } = await load(read('examples/organisation/rulesets.tf'))
    expect(terraform[0].required_providers[0].github).toEqual({ source: 'integrations/github', version: '~> 6.13' })
    expect(problemsOf(resource)).toEqual([])
  })

  test.each([
    ['a misspelt argument', 'enforcement = each.value', 'enforced = each.value'],
    ['an argument that the provider does not have', 'path          = ', 'sha = "c0ffee"\n        path = '],
    ['a missing argument', 'bypass_mode = "pull_request"', ''],
    ['a value that does not exist', '"push"', '"pushes"'],
    ['a block where an argument is expected', 'exclude = []', 'exclude {}'],
  ])('with %s is not accepted', async (_, text, mistake) => {
    const file = read('examples/organisation/rulesets.tf')
    expect(file).toContain(text)
    const { resource } = await load(file.replace(text, mistake))
    expect(problemsOf(resource)).not.toEqual([])
  })

  test('has the names, enforcements and conditions of the page', async () => {
    const { locals, resource } = await load(read('examples/organisation/rulesets.tf'))
    const [gate] = resource.github_organization_ruleset.gate
    expect(gate.for_each).toEqual({ trial: 'evaluate', enforced: 'active' })
    expect(Object.values(locals[0].gates)).toEqual(['enforced', 'none'])
    const commands = commandsOf(PAGE, 'Create the rulesets').join('')
    for (const name of ['Tests must pass (trial)', 'Tests must pass']) {
      expect(gate.name).toContain(`"${name}"`)
      expect(commands).toContain(`"${name}"`)
    }
  })
})
