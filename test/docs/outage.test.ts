import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, onTestFinished, test } from 'vitest'
import { commandsOf, type GhFolder, ghFolder } from '../support/gh-folder.ts'
import { HAS_COMMANDS } from '../support/github-commands.ts'
import { read } from './documents.ts'

const PAGE = 'docs/outage.md'
const RULESET = JSON.parse(read('examples/workflows/ruleset.json'))
const EXISTING = { 'teams/gate-keepers': { id: 5 }, 'rulesets?': [{ id: 4, name: RULESET.name }] }

function run(folder: GhFolder, command: string | undefined) {
  const { status, stdout, stderr } = folder.run(command ?? 'exit 1')
  expect(status, stderr).toBe(0)
  return { stdout, calls: folder.calls() }
}

// The commands need Bash, as on Linux and macOS.
describe.skipIf(process.platform === 'win32' || !HAS_COMMANDS)('the commands of the page about outages', () => {
  test.each([401, 503])('print the status %i of a service that responds with it', async (status) => {
    const server = createServer((_, response) => response.writeHead(status).end('{"error":"x"}'))
    onTestFinished(() => void server.close())
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const [command = ''] = commandsOf(PAGE, 'Recognise it')
    const here = command.replace(
      'https://tests.example.com',
      `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    )
    expect(here).not.toBe(command)
    const child = spawn('bash', ['-c', here], { stdio: ['ignore', 'pipe', 'inherit'] })
    const [printed] = await Promise.all([text(child.stdout), once(child, 'close')])
    expect(printed).toBe(`${status}\n`)
  })

  test('turn the organisation’s rule off and on', () => {
    const folder = ghFolder({ 'orgs/octo-org/rulesets': { enforcement: 'x' } })
    const [open] = commandsOf(PAGE, 'Open the gate')
    const [close] = commandsOf(PAGE, 'Close the gate')
    const enforcements = [open, close].map((command) => run(folder, command).calls[0]?.args)
    expect(enforcements).toEqual([
      'api --method PUT orgs/octo-org/rulesets/ID -f enforcement=evaluate --jq .enforcement',
      'api --method PUT orgs/octo-org/rulesets/ID -f enforcement=active --jq .enforcement',
    ])
  })

  test('list the rulesets of the organisation, and the repositories that have a ruleset of their own', () => {
    const folder = ghFolder({
      'orgs/octo-org/rulesets': [{ id: 4, name: RULESET.name }],
      'repo list': ['web-shop', 'back-office'].map((name) => ({ nameWithOwner: `octo-org/${name}` })),
      'web-shop/rulesets?': EXISTING['rulesets?'],
      'back-office/rulesets?': [{ id: 5, name: 'another' }],
    })
    const [, ids, repositories] = commandsOf(PAGE, 'Prepare the commands')
    expect(run(folder, ids).stdout).toBe(`4 ${RULESET.name}\n`)
    run(folder, repositories)
    expect(folder.read('repositories.txt')).toBe('octo-org/web-shop\n')
  })

  test('take only the check out of the rulesets of repositories, and put it back', () => {
    const folder = ghFolder(EXISTING)
    folder.write('repositories.txt', 'octo-org/web-shop\n')
    const commands = [
      commandsOf(PAGE, 'One urgent change')[0],
      commandsOf(PAGE, 'Open the gate')[1],
      commandsOf(PAGE, 'Close the gate')[1],
    ]
    const changes = commands.map((command) => run(folder, command).calls.at(-1))
    const [team, open, closed] = changes.map((call) => JSON.parse(call?.input ?? ''))
    expect(changes.map((call) => call?.args.split(' --input')[0])).toEqual(
      Array(3).fill('api --method PUT repos/octo-org/web-shop/rulesets/4'),
    )
    const bypass_actors = [{ actor_id: 5, actor_type: 'Team', bypass_mode: 'pull_request' }]
    expect(team).toEqual({ ...RULESET, bypass_actors })
    expect(open).toEqual({
      ...team,
      rules: RULESET.rules.filter(({ type }: { type: string }) => type === 'pull_request'),
    })
    expect(open.rules[0].parameters.require_code_owner_review).toBe(true)
    expect(closed).toEqual(team)
  })

  test('list what was merged, what the rule would have blocked, who bypassed it, and who changed it', () => {
    const [merged, suites, audit] = commandsOf(PAGE, 'What was merged untested')
    const suite = {
      pushed_at: 'T',
      repository_name: 'web-shop',
      ref: 'refs/heads/main',
      actor_name: 'octocat',
      after_sha: 'b',
    }
    const event = {
      '@timestamp': 1_795_000_000_123,
      actor: 'octocat',
      ruleset_name: 'Tests must pass',
      ruleset_old_enforcement: 'active',
      ruleset_enforcement: 'evaluate',
    }
    const folder = ghFolder({
      'search prs': [{ repository: { nameWithOwner: 'octo-org/web-shop' }, number: 7, title: 'Faster', url: 'U' }],
      'evaluate_status=evaluate': [
        { ...suite, evaluation_result: 'fail' },
        { ...suite, evaluation_result: 'pass' },
      ],
      'rule_suite_result=bypass': [{ ...suite, actor_name: 'hubot' }],
      'audit-log': [event],
    })
    expect(run(folder, merged).stdout).toBe('octo-org/web-shop\t7\tFaster\tU\n')
    const line = (actor: string) => `T\tweb-shop\trefs/heads/main\t${actor}\tb\n`
    expect(run(folder, suites).stdout).toBe(line('octocat') + line('hubot'))
    expect(run(folder, audit).stdout).toBe('2026-11-18T11:06:40Z\toctocat\tTests must pass\tactive\tevaluate\n')
  })

  test('run the failed runs again, in one repository and in many', () => {
    const folder = ghFolder({ 'run list': [{ databaseId: 11 }, { databaseId: 12 }] })
    folder.write('repositories.txt', 'octo-org/back-office')
    const { calls } = run(folder, commandsOf(PAGE, 'Run again what failed')[0])
    const reruns = calls.filter(({ args }) => args.startsWith('run rerun')).map(({ args }) => args)
    expect(reruns).toEqual(
      ['web-shop', 'back-office'].flatMap((name) =>
        [11, 12].map((id) => `run rerun --failed --repo octo-org/${name} ${id}`),
      ),
    )
    expect(calls[0]?.args).toContain('--workflow Tests --status failure --created 2026-11-20T10:00:00Z..')
  })

  test('say that a run could not be started again', () => {
    const folder = ghFolder({ 'run list': [{ databaseId: 11 }] })
    folder.write('repositories.txt', 'octo-org/web-shop\nocto-org/back-office\n')
    folder.fail({ 'octo-org/web-shop 11': 'HTTP 403: This workflow run cannot be retried' })
    const many = commandsOf(PAGE, 'Run again what failed')[0]?.trim().split('\n').at(-1) ?? ''
    expect(folder.run(many)).toMatchObject({ status: 1, stdout: 'octo-org/back-office\n' })
  })
})
