import { Validator } from '@seriousme/openapi-schema-validator'
import { describe, expect, it } from 'vitest'
import { DOCUMENT, OPENAPI_FILE, problemsOfRequest, problemsOfResponse } from '../support/openapi.ts'
import { read, readDocument } from './documents.ts'

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

  it('has each status code that the page for authors of a service names', () => {
    const rows = read('docs/own-service.md')
      .match(/^\| (?:\d{3}|each).*$/gm)
      ?.map((row) => row.split('|')[1] ?? '')
    const named = [...new Set(rows?.join(' ').match(/\b\d{3}\b/g))]
    expect(named).toContain('429')
    // A path also has the parameters of its operations.
    const operations = Object.values(DOCUMENT.paths).flatMap((path) =>
      Object.values(path).filter(({ responses }) => responses),
    )
    for (const { operationId, responses } of operations)
      expect(Object.keys(responses), operationId).toEqual(expect.arrayContaining(named))
  })

  it('allows the request and the response on this page', () => {
    const texts = readDocument('docs/own-service.md').blocks.map(({ text }) => text)
    const [start = '', started = '', finished = ''] = texts
    const [, path = '', key = '', body = ''] =
      /^POST (.*)\nAuthorization: (.*)\nContent.*\n\n(.*)\n$/s.exec(start) ?? []
    const headers = { authorization: key, 'content-type': 'application/json' }
    expect(problemsOfRequest({ method: 'POST', path, headers, body })).toEqual([])
    expect(problemsOfResponse({ method: 'POST', path, status: 200, body: JSON.parse(started) })).toEqual([])
    const read = {
      method: 'GET',
      path: `${path}/${JSON.parse(started).runId}`,
      status: 200,
      body: JSON.parse(finished),
    }
    expect(problemsOfResponse(read)).toEqual([])
  })

  it.each([
    ['an empty branch', request('POST', RUNS, { branch: '' })],
    ['a branch that is too long', request('POST', RUNS, { branch: '🐙'.repeat(256) })],
    ['a field that it does not name', request('POST', RUNS, { project: 'unit' })],
    ['a cancel without a selector', request('POST', `${RUNS}/cancel`, {})],
    ['another path', request('GET', `${RUNS}/r1/results`)],
    ['a query', request('GET', `${RUNS}/r1?verbose`)],
    ['a request without a key', { ...request('GET', `${RUNS}/r1`), headers: {} }],
    ['a body that is not JSON', { ...request('POST', RUNS, {}), body: '{' }],
  ])('refuses %s', (_case, refused) => {
    expect(problemsOfRequest(refused)).toEqual([expect.any(String)])
  })

  const TIME = '2026-01-01T00:00:00.000Z'
  const ofCase = (fields: object) => ({ status: 'FAILED', results: { testCases: [fields] } })

  it.each([
    ['an unknown status', 200, { status: 'PREPARING' }],
    ['a queued run that has started', 200, { status: 'QUEUED', startedAt: TIME }],
    ['a queued run without a start time', 200, { status: 'QUEUED' }],
    ['results of a running run', 200, { status: 'RUNNING', results: { testCases: [] } }],
    ['a time that is not a timestamp', 200, { status: 'PASSED', finishedAt: 'yesterday' }],
    ['a message of a run that is no text', 200, { status: 'FAILED', message: null }],
    ['a message of a test case that is no text', 200, ofCase({ message: ['expected 2 to be 1'] })],
    ['a file path that is no text', 200, ofCase({ filePath: 7 })],
    ['a line 0', 200, ofCase({ line: 0 })],
    ['half a line', 200, ofCase({ line: 1.5 })],
    ['an error without its text', 500, { message: 'x' }],
    ['an undocumented status code', 409, { error: 'x' }],
  ])('refuses %s', (_case, status, body) => {
    expect(problemsOfResponse({ method: 'GET', path: `${RUNS}/r1`, status, body })).not.toEqual([])
  })
})
