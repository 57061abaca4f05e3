import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { githubContext, type WorkflowEvent } from '../../tools/runner-emulator/contexts.ts'
import { type Contexts, conditionHolds, renderTemplate } from '../../tools/runner-emulator/expressions.ts'
import { type JobResult, prepareStep, type Step } from '../../tools/runner-emulator/runner.ts'
import { type ScriptedService, startScriptedService } from '../../tools/scripted-service/scripted-service.ts'
import { expectConformingRequests } from '../support/openapi.ts'
import { ONE_PASSED } from '../support/scenario.ts'
import { OWN_ACTION, read } from './documents.ts'

// Each recipe does what the README says of it: its own step, with its own expressions, over the built action. Recipes with
// scripts are played in test/scenarios/recipes.test.ts.

let service: ScriptedService
const steps: Step[] = []

beforeEach(async () => {
  service = await startScriptedService({ script: { cases: ONE_PASSED } })
})

afterEach(async () => {
  for (const step of steps.splice(0)) await step.dispose()
  await service.close()
  expectConformingRequests(service)
})

interface RunOptions {
  readonly job?: string
  readonly event?: WorkflowEvent
  /** Beside those that every example has. */
  readonly contexts?: Contexts
  /** Instead of what the example says. */
  readonly inputs?: Readonly<Record<string, string>>
}

/** Runs the action's step of an example's job as GitHub would. */
async function run(file: string, { job = 'test-run', event, contexts = {}, inputs = {} }: RunOptions = {}) {
  const step = stepOf(file, job)
  const values = Object.entries(step.with).map(
    ([name, value]) => [name, renderTemplate(String(value), contextsOf(contexts, event))] as const,
  )
  const prepared = prepareStep({
    inputs: { ...Object.fromEntries(values), 'poll-interval-seconds': '0.05', ...inputs },
    ...(event === undefined ? {} : { event }),
  })
  steps.push(prepared)
  return { end: await prepared.run(), step: prepared }
}

interface ExampleStep {
  readonly uses?: string
  readonly with: Readonly<Record<string, unknown>>
}

interface ExampleJob {
  readonly if?: string
  readonly steps: readonly ExampleStep[]
}

function jobOf(file: string, job: string): ExampleJob {
  return parse(read(`examples/workflows/${file}`)).jobs[job]
}

function stepOf(file: string, job: string): ExampleStep {
  const step = jobOf(file, job).steps.find(({ uses }) => OWN_ACTION.test(uses ?? ''))
  if (step === undefined) throw new Error(`The job ${job} of ${file} does not use the action.`)
  return step
}

function contextsOf(contexts: Contexts, event: WorkflowEvent = { name: 'push' }): Contexts {
  return {
    github: githubContext(event),
    vars: { TEST_SERVICE_URL: service.url },
    secrets: { TEST_SERVICE_API_KEY: service.key, PREVIEW_SHOP_PASSWORD: 'a "quoted" #1 \\ secret' },
    ...contexts,
  }
}

function isGreen({ main, jobStatus }: JobResult): void {
  expect(main.annotations).toEqual([])
  expect(main.outputs.conclusion).toBe('passed')
  expect(jobStatus).toBe('success')
}

const PULL_REQUEST: WorkflowEvent = {
  name: 'pull_request',
  payload: {
    number: 7,
    repository: { id: 1, full_name: 'octo-org/web-shop' },
    pull_request: {
      number: 7,
      user: { login: 'octocat' },
      head: { ref: 'faster-checkout', repo: { id: 1, full_name: 'octo-org/web-shop' } },
      base: { ref: 'main', repo: { id: 1, full_name: 'octo-org/web-shop' } },
    },
  },
}

test('gate.yml tests the branch of the pull request', async () => {
  const { end } = await run('gate.yml', { event: PULL_REQUEST })
  isGreen(end)
  expect(service.runs).toMatchObject([{ projectId: 'web-shop', body: { branch: 'faster-checkout' } }])
})

test('gate.yml is red when the tests fail', async () => {
  service.setScript({ end: 'FAILED', cases: [{ title: 'pays by card', status: 'FAILED', durationMs: 1 }] })
  const { end } = await run('gate.yml', { event: PULL_REQUEST })
  expect(end.jobStatus).toBe('failure')
  expect(end.main.annotations[0]?.message).toContain('pays by card')
})

test("merge-queue.yml tests the queue's own branch", async () => {
  const branch = 'gh-readonly-queue/main/pr-7-ffac537e6cbbf934b08745a378932722df287a53'
  const event = { name: 'merge_group', payload: { merge_group: { head_ref: `refs/heads/${branch}` } } }
  const { end } = await run('merge-queue.yml', { event })
  isGreen(end)
  expect(service.runs).toMatchObject([{ body: { branch } }])
})

test('gate.yml lets a newer push to a pull request replace the older run, and tests every push to main', () => {
  const { group } = parse(read('examples/workflows/gate.yml')).concurrency
  const groups = (event: WorkflowEvent) =>
    ['1', '2', '3'].map((run_id) => renderTemplate(group, { github: githubContext(event, { run_id }) }))
  expect(new Set(groups(PULL_REQUEST)).size).toBe(1)
  expect(new Set(groups({ name: 'push' })).size).toBe(3)
})

test('matrix.yml runs one framework project in each leg', async () => {
  for (const name of ['unit', 'checkout']) {
    const { end } = await run('matrix.yml', { job: 'tests', contexts: { matrix: { 'framework-project': name } } })
    isGreen(end)
  }
  expect(service.runs.map(({ body }) => body)).toMatchObject([
    { frameworkProjectName: 'unit' },
    { frameworkProjectName: 'checkout' },
  ])
})

test('nightly.yml tests the staging environment on the branch of the schedule', async () => {
  const { end } = await run('nightly.yml', { job: 'nightly', event: { name: 'schedule' } })
  isGreen(end)
  expect(service.runs).toMatchObject([{ body: { environment: 'staging', branch: 'main' } }])
})

test('preview.yml hands every character of its values on, and the action logs none of them', async () => {
  const url = 'https://pr-7.preview.example.com/#/shop?a=1'
  const { end } = await run('preview.yml', { job: 'tests', contexts: { needs: { deploy: { outputs: { url } } } } })
  isGreen(end)
  const envOverrides = { SHOP_URL: url, SHOP_PASSWORD: 'a "quoted" #1 \\ secret' }
  expect(service.runs).toMatchObject([{ body: { envOverrides } }])
  expect(end.main.log.join('\n')).not.toMatch(/preview\.example|quoted/)
})

test('reports.yml leaves its files where the next steps look for them', async () => {
  const { end, step } = await run('reports.yml')
  isGreen(end)
  for (const file of ['junit.xml', 'ctrf.json', 'results.json', 'summary.md']) {
    expect(existsSync(join(step.workspace, 'test-reports', file))).toBe(true)
  }
})

describe('forks.yml', () => {
  const condition = jobOf('forks.yml', 'test-run').if ?? ''

  test('skips the job on a pull request from a fork alone', () => {
    const fork = structuredClone(PULL_REQUEST.payload) as { pull_request: { head: { repo: { full_name: string } } } }
    fork.pull_request.head.repo.full_name = 'stranger/web-shop'
    const holds = (event: WorkflowEvent) => conditionHolds(condition, contextsOf({}, event), 'success')
    expect(holds({ name: 'pull_request', payload: { ...fork } })).toBe(false)
    expect(holds(PULL_REQUEST)).toBe(true)
    expect(holds({ name: 'merge_group' })).toBe(true)
  })
})

test('self-hosted.yml keeps the path in its address', async () => {
  await service.close()
  service = await startScriptedService({ script: { cases: ONE_PASSED }, pathPrefix: '/api' })
  const { end } = await run('self-hosted.yml', { inputs: { 'base-url': `${service.url}/` } })
  isGreen(end)
  expect(service.requests[0]?.path).toBe('/api/v1/projects/web-shop/runs')
})

test('test-suite.yml runs a suite over the older endpoints', async () => {
  service.setScript({ cases: [{ testId: '1', testName: 'pays by card', status: 'PASSED' }] })
  const { end } = await run('test-suite.yml')
  isGreen(end)
  expect(service.runs).toMatchObject([{ testSuiteId: 'smoke', body: { environment: 'staging' } }])
})

test('comment.yml writes no comment if there is no pull request', async () => {
  const { end } = await run('comment.yml', { event: { name: 'push' } })
  isGreen(end)
  expect(end.main.outputs['comment-url']).toBeUndefined()
})

test('local-service.yml tests what is checked out, of a fork too', async () => {
  const event = structuredClone(PULL_REQUEST) as { name: string; payload: { pull_request: { head: { repo: object } } } }
  event.payload.pull_request.head.repo = { id: 2, full_name: 'stranger/web-shop' }
  const contexts = { steps: { service: { outputs: { url: service.url, key: service.key } } }, secrets: {}, vars: {} }
  const { end } = await run('local-service.yml', { event, contexts, inputs: { project: 'web-shop' } })
  isGreen(end)
  expect(service.runs).toMatchObject([{ body: { branch: 'under-test' } }])
})
