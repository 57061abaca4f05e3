import { expect, it } from 'vitest'
import { attemptUrl } from '../../src/github/job.ts'

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
