import { expect, it } from 'vitest'
import { countTestCases } from '../../src/outcome/run.ts'
import { projectRuns } from '../../src/service/project-runs.ts'
import { recordingServer } from '../support/recording-server.ts'
import { failureOf, patient, sendJsonTo } from '../support/service-requests.ts'

// Responses just within what is read at all. What they cost in time and memory is for the bench; here is how they end.

async function getting(body: Buffer) {
  const server = await recordingServer((response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(body),
  )
  return projectRuns(await sendJsonTo(server.origin), 'p').get('r-1', patient())
}

it('a title of 60 MB is truncated', async () => {
  const opening = '{"status":"PASSED","results":{"testCases":[{"status":"PASSED","title":"'
  const run = await getting(Buffer.concat([Buffer.from(opening), Buffer.alloc(60e6, 'x'), Buffer.from('"}]}}')]))
  expect(run.testCases).toMatchObject([{ title: `${'x'.repeat(9_999)}…`, outcome: 'passed' }])
})

it('1.3 million test cases are decoded', async () => {
  const cases = Array.from({ length: 1_300_000 }, (_, index) => `{"title":"t${index}","status":"PASSED"}`)
  const run = await getting(Buffer.from(`{"status":"PASSED","results":{"testCases":[${cases.join(',')}]}}`))
  expect(countTestCases(run.testCases ?? [])).toMatchObject({ total: 1_300_000, passed: 1_300_000 })
})

it.each<[string, () => Buffer, string]>([
  ['60 million arrays, each in the one before', () => Buffer.alloc(60e6, '['), 'JSON nested at most 1000 levels deep'],
  [
    '12 million objects, each in the one before',
    () => Buffer.alloc(60e6, '{"a":'),
    'JSON nested at most 1000 levels deep',
  ],
  [
    '4.5 million member names',
    () => Buffer.from(`{${Array.from({ length: 4.5e6 }, (_, index) => `"k${index}":1`).join(',')}}`),
    'at most 10000 different member names',
  ],
])('%s are refused before anything is made of them', async (_, body, expected) => {
  expect(await failureOf(getting(body()))).toEqual({ kind: 'invalid-response', expected, got: 'more' })
})
