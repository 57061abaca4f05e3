import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type EventPayload, forkBranch, jobUrl, readEvent, whyNoSecrets } from '../../src/github/event.ts'

const OWN = { id: 1, full_name: 'shop/shop' }
const FORK = { id: 2, full_name: 'ann/shop' }

function pullRequest(headRepository: unknown, author = 'ann'): EventPayload {
  const head = { ref: 'patch-1', repo: headRepository } as { ref: string; repo: null }
  return {
    repository: OWN,
    sender: { login: author },
    pull_request: { user: { login: author }, head, base: { repo: OWN } },
  }
}

function workflowRun(headRepository: unknown): EventPayload {
  return {
    repository: OWN,
    sender: { login: 'ann' },
    workflow_run: { head_branch: 'patch-1', head_repository: headRepository as null },
  }
}

const env = (event: string, actor = 'ann') => ({
  GITHUB_EVENT_NAME: event,
  GITHUB_REPOSITORY: 'shop/shop',
  GITHUB_ACTOR: actor,
})

describe('the branch of a fork', () => {
  it.each([
    ['pull_request', pullRequest(FORK), 'patch-1'],
    ['pull_request', pullRequest(null), 'patch-1'],
    ['pull_request', pullRequest(OWN), undefined],
    ['pull_request_target', pullRequest(FORK), 'patch-1'],
    ['pull_request_target', pullRequest(OWN), undefined],
    ['pull_request_review', pullRequest(FORK), 'patch-1'],
    ['workflow_run', workflowRun(FORK), 'patch-1'],
    ['workflow_run', workflowRun(null), 'patch-1'],
    ['workflow_run', workflowRun(OWN), undefined],
    ['push', { repository: OWN }, undefined],
    ['merge_group', { repository: OWN }, undefined],
    ['schedule', {}, undefined],
    ['workflow_dispatch', { repository: OWN }, undefined],
    ['release', { repository: OWN }, undefined],
  ])('in the event %s with %j is %j', (name, event, branch) => {
    expect(forkBranch(env(name), event as EventPayload)).toBe(branch)
  })

  it('is known by the name of the repository where ids are missing, in any case of letters', () => {
    const named = (full_name: string) => ({ pull_request: { head: { ref: 'patch-1', repo: { full_name } } } })
    expect(forkBranch(env('pull_request'), named('ann/shop'))).toBe('patch-1')
    expect(forkBranch(env('pull_request'), named('Shop/SHOP'))).toBeUndefined()
  })

  it('is known by the id where the repository was renamed meanwhile', () => {
    expect(forkBranch(env('pull_request'), pullRequest({ ...OWN, full_name: 'shop/former-name' }))).toBeUndefined()
  })

  it.each([
    {},
    { pull_request: {} },
    { pull_request: { head: {} } },
    { workflow_run: {} },
  ])('is none where the event says as little as %j', (event) => {
    expect(forkBranch({}, event)).toBeUndefined()
  })
})

describe('why there are no secrets', () => {
  it.each([
    ['pull_request', pullRequest(FORK), 'ann', 'fork'],
    ['pull_request', pullRequest(null), 'ann', 'fork'],
    ['pull_request_review', pullRequest(FORK), 'ann', 'fork'],
    ['pull_request', pullRequest(OWN), 'ann', undefined],
    ['pull_request_target', pullRequest(FORK), 'ann', undefined],
    ['workflow_run', workflowRun(FORK), 'ann', undefined],
    ['push', { repository: OWN, sender: { login: 'ann' } }, 'ann', undefined],
    ['pull_request', pullRequest(OWN, 'dependabot[bot]'), 'dependabot[bot]', 'dependabot'],
    // A person who re-runs it is the actor from then on.
    ['pull_request', pullRequest(OWN, 'dependabot[bot]'), 'ann', 'dependabot'],
    ['pull_request', { ...pullRequest(OWN, 'dependabot[bot]'), sender: { login: 'ann' } }, 'ann', 'dependabot'],
    ['push', { repository: OWN, sender: { login: 'dependabot[bot]' } }, 'dependabot[bot]', 'dependabot'],
    ['schedule', {}, 'ann', undefined],
  ])('in the event %s with %j by %s: %s', (name, event, actor, why) => {
    expect(whyNoSecrets(env(name, actor), event as EventPayload)).toBe(why)
  })
})

describe('the event', () => {
  function file(text: string): string {
    const folder = mkdtempSync(join(tmpdir(), 'event-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const path = join(folder, 'event.json')
    writeFileSync(path, text)
    return path
  }

  it('is read from the file of the runner', () => {
    expect(readEvent({ GITHUB_EVENT_PATH: file('{"sender":{"login":"ann"}}') })).toEqual({ sender: { login: 'ann' } })
  })

  it.each(['', '{', 'null', '7', '"text"'])('is empty where the file holds %j', (text) => {
    expect(readEvent({ GITHUB_EVENT_PATH: file(text) })).toEqual({})
  })

  it('is empty where there is no file', () => {
    expect(readEvent({})).toEqual({})
    expect(readEvent({ GITHUB_EVENT_PATH: '/nowhere/event.json' })).toEqual({})
  })
})

describe('the page of the workflow run', () => {
  const known = {
    GITHUB_SERVER_URL: 'https://github.example.com',
    GITHUB_REPOSITORY: 'shop/shop',
    GITHUB_RUN_ID: '77',
  }

  it('is that of the attempt', () => {
    expect(jobUrl({ ...known, GITHUB_RUN_ATTEMPT: '3' })).toBe(
      'https://github.example.com/shop/shop/actions/runs/77/attempts/3',
    )
    expect(jobUrl(known)).toBe('https://github.example.com/shop/shop/actions/runs/77/attempts/1')
  })

  it.each(Object.keys(known))('is not known without %s', (name) => {
    expect(jobUrl({ ...known, [name]: '' })).toBeUndefined()
  })
})
