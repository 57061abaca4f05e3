import { describe, expect, it } from 'vitest'
import { attemptUrl, readJob } from '../../src/github/job.ts'

const RUNNER = {
  GITHUB_SERVER_URL: 'https://github.com',
  GITHUB_REPOSITORY: 'octo/shop',
  GITHUB_RUN_ID: '42',
  GITHUB_RUN_ATTEMPT: '3',
}

it('the address of an attempt is the page of the workflow run', () => {
  expect(attemptUrl(RUNNER)).toBe('https://github.com/octo/shop/actions/runs/42/attempts/3')
  const server = { ...RUNNER, GITHUB_SERVER_URL: 'https://ghes.example.com:8443' }
  expect(attemptUrl(server)).toBe('https://ghes.example.com:8443/octo/shop/actions/runs/42/attempts/3')
})

it.each([
  { GITHUB_SERVER_URL: undefined },
  { GITHUB_SERVER_URL: 'http://github.com' },
  { GITHUB_SERVER_URL: 'https://user:secret@github.com' },
  { GITHUB_SERVER_URL: 'https://github.com/(x)' },
  { GITHUB_REPOSITORY: 'octo' },
  { GITHUB_REPOSITORY: 'octo/shop\r\nx-evil: 1' },
  { GITHUB_RUN_ID: '' },
  { GITHUB_RUN_ATTEMPT: undefined },
])('there is none with %j', (fields) => {
  expect(attemptUrl({ ...RUNNER, ...fields })).toBeUndefined()
})

describe("the job's page", () => {
  const known = {
    GITHUB_SERVER_URL: 'https://github.example.com',
    GITHUB_REPOSITORY: 'shop/shop',
    GITHUB_RUN_ID: '77',
  }

  it.each([
    ['21454321098', '3', 'job/21454321098'],
    ['', '3', 'attempts/3'],
    ['../x', '3', 'attempts/3'],
    ['null', undefined, 'attempts/1'],
  ])('is exact if the id of the job is known, and otherwise the page of the attempt: %j, %j', (id, attempt, end) => {
    const job = readJob({ ...known, 'INPUT_CHECK-RUN-ID': id, GITHUB_RUN_ATTEMPT: attempt })
    expect(job?.url).toBe(`https://github.example.com/shop/shop/actions/runs/77/${end}`)
  })

  it.each(Object.keys(known))('has no address without %s', (name) => {
    expect(readJob({ ...known, [name]: '' })).toBeUndefined()
  })
})
