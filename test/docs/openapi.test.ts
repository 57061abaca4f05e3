import { Validator } from '@seriousme/openapi-schema-validator'
import { describe, expect, it } from 'vitest'
import { DOCUMENT } from '../../local-service/src/check/openapi.ts'
import { OPENAPI_FILE, problemsOfRequest, problemsOfResponse } from '../support/openapi.ts'

const RUNS = '/v1/projects/web-shop/runs'

function request(method: string, path: string, body?: unknown) {
  return {
    method,
    path,
    headers: { authorization: 'Bearer key', ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    body: body === undefined ? '' : JSON.stringify(body),
  }
}

describe('docs/openapi.yaml', () => {
  it('is a valid OpenAPI 3.1 document', async () => {
    expect(await new Validator().validate(OPENAPI_FILE)).toEqual({ valid: true })
  })

  it('has the six endpoints of the interface', () => {
    const endpoints = Object.entries(DOCUMENT.paths).flatMap(([path, operations]) =>
      ['get', 'post', 'put', 'delete', 'patch']
        .filter((method) => method in operations)
        .map((method) => `${method} ${path}`),
    )
    expect(endpoints).toEqual([
      'post /v1/projects/{projectId}/runs',
      'post /v1/projects/{projectId}/runs/cancel',
      'get /v1/projects/{projectId}/runs/{runId}',
      'post /v1/testSuite/{testSuiteId}/run',
      'get /v1/testSuiteRun/{testSuiteRunId}/status',
      'get /v1/testSuiteRun/{testSuiteRunId}/result',
    ])
  })

  it.each([
    ['a start with nothing in it', request('POST', RUNS, {})],
    [
      'a start with every field',
      request('POST', RUNS, {
        frameworkProjectName: 'unit',
        runGroupName: 'unit',
        envOverrides: { A: 'b' },
        environment: 'staging',
        environmentName: 'staging',
        autofix: true,
        branch: '🐙'.repeat(255),
      }),
    ],
    ['a cancel', request('POST', `${RUNS}/cancel`, { where: { runId: 'r1' } })],
    ['a look at a run', request('GET', `${RUNS}/a%2Fb`)],
    ['a suite without a body', request('POST', '/v1/testSuite/smoke/run')],
  ])('accepts %s', (_case, accepted) => {
    expect(problemsOfRequest(accepted)).toEqual([])
  })

  it.each([
    ['an empty branch', request('POST', RUNS, { branch: '' })],
    ['a branch that is too long', request('POST', RUNS, { branch: '🐙'.repeat(256) })],
    ['a text for a boolean', request('POST', RUNS, { autofix: 'true' })],
    ['a field that it does not name', request('POST', RUNS, { project: 'unit' })],
    ['a start without a body', request('POST', RUNS)],
    ['a cancel without a selector', request('POST', `${RUNS}/cancel`, {})],
    ['a look at a run with a body', request('GET', `${RUNS}/r1`, {})],
    ['another path', request('GET', `${RUNS}/r1/results`)],
    ['a path without an id', request('GET', '/v1/testSuiteRun//status')],
    ['a query', request('GET', `${RUNS}/r1?verbose`)],
    ['a request without a key', { ...request('GET', `${RUNS}/r1`), headers: {} }],
    ['a body that is not JSON', { ...request('POST', RUNS, {}), body: '{' }],
    ['a body of another type', { ...request('POST', RUNS, {}), headers: { authorization: 'Bearer key' } }],
  ])('refuses %s', (_case, refused) => {
    expect(problemsOfRequest(refused)).toEqual([expect.any(String)])
  })

  const TIME = '2026-01-01T00:00:00.000Z'

  it.each([
    ['a queued run', 200, { status: 'QUEUED', startedAt: null, branchName: 'main' }],
    ['a running run', 200, { status: 'RUNNING', startedAt: TIME, branchName: 'main' }],
    [
      'a finished run',
      200,
      { status: 'FAILED', startedAt: TIME, finishedAt: TIME, results: { testCases: [{ title: 'a' }] } },
    ],
    ['more fields', 200, { status: 'PASSED', eta: 5 }],
    ['an error', 404, { error: 'There is no such run.' }],
  ])('accepts %s', (_case, status, body) => {
    expect(problemsOfResponse({ method: 'GET', path: `${RUNS}/r1`, status, body })).toEqual([])
  })

  it.each([
    ['an unknown status', 200, { status: 'PREPARING' }],
    ['a queued run that has started', 200, { status: 'QUEUED', startedAt: TIME }],
    ['results of a running run', 200, { status: 'RUNNING', results: { testCases: [] } }],
    ['results without test cases', 200, { status: 'PASSED', results: {} }],
    ['a time that is none', 200, { status: 'PASSED', finishedAt: 'yesterday' }],
    ['a duration in fractions', 200, { status: 'PASSED', results: { testCases: [{ durationMs: 1.5 }] } }],
    ['an error without its text', 500, { message: 'x' }],
    ['an undocumented status code', 409, { error: 'x' }],
  ])('refuses %s', (_case, status, body) => {
    expect(problemsOfResponse({ method: 'GET', path: `${RUNS}/r1`, status, body })).not.toEqual([])
  })
})
