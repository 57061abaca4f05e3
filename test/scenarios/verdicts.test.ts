import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { placesThatShow } from '../../tools/runner-emulator/step-runner/runner.ts'
import { ONE_OF_TWO_FAILED, ONE_PASSED, scenario } from '../support/scenario.ts'

// test/action/step.test.ts tests the other statuses.
test.concurrent.each([
  ['PASSED', ONE_PASSED, 'passed', 'success', /^## ✅/],
  ['FAILED', ONE_OF_TWO_FAILED, 'failed', 'failure', /^## ❌ .*1 of 2.*rounds to cents/s],
])('the final status of a run is the verdict, in every place: %s', async (end, cases, conclusion, step, summary) => {
  await using one = await scenario({ script: { queuedMs: 100, runningMs: 200, end, cases } })
  const { main, post } = await one.step.run()

  expect(main.outputs).toMatchObject({ conclusion, status: end, total: String(cases.length) })
  expect(main.conclusion).toBe(step)
  expect(main.exitCode).toBe(step === 'success' ? 0 : 1)
  expect(main.failedSilently).toBe(false)
  expect(main.summary).toMatch(summary)
  expect(readdirSync(main.outputs['report-dir'] ?? '').sort()).toEqual(['ctrf.json', 'junit.xml', 'results.json'])
  expect(main.log.join('\n')).not.toMatch(/debug|for post/)
  expect(post.log).toEqual([])
  expect(placesThatShow(one.service.key, main)).toEqual([])
})

test.concurrent('why a test failed, and where, reaches the log, the annotations and the summary', async () => {
  const message = '\u001b[31mexpected 41\u001b[39m\n  ::error::to be 42'
  const failed = { title: 'pays', status: 'FAILED', durationMs: 5, message, filePath: 'e2e/a,b:c%.ts', line: 12 }
  const cases = [...ONE_PASSED, failed]
  await using one = await scenario({ script: { end: 'FAILED', cases, message: 'no browser\nat launch' } })
  const { main } = await one.step.run()
  const verdict = expect.stringContaining('finished as FAILED with the message “no browser”: 1 of 2')
  expect(main.annotations).toMatchObject([
    { title: 'Tests failed', message: verdict },
    {
      title: 'Test failed',
      message: 'pays\nexpected 41\n  : :error::to be 42',
      properties: { file: 'e2e/a,b:c%.ts', line: '12' },
    },
  ])
  const [, link] = /<a href="([^"]+)"><code>e2e\/a,b:c%\.ts:12<\/code><\/a>/.exec(main.summary) ?? []
  expect(link).toMatch(/^https:\/\/github\.com\/[^/]+\/[^/]+\/blob\/[0-9a-f]{40}\/e2e\/a%2Cb%3Ac%25\.ts#L12$/)
  expect(main.summary).toContain('<code>no browser</code></p><pre lang="diff">at launch</pre>')
})

test.concurrent('the requests are those of the interface, and no others', async () => {
  await using one = await scenario({
    script: { queuedMs: 150, runningMs: 150, cases: ONE_PASSED, runId: 'run:1' },
    inputs: {
      project: 'web shop/é',
      branch: 'feature/x',
      environment: 'staging',
      'framework-project': 'unit checkout',
      'env-overrides': 'A=1\nB=two #words',
      autofix: 'false',
    },
  })
  const { main } = await one.step.run()
  expect(main.conclusion).toBe('success')

  const [start, ...polls] = one.service.requests
  expect(start).toMatchObject({ method: 'POST', path: '/v1/projects/web%20shop%2F%C3%A9/runs' })
  expect(JSON.parse(start?.body ?? '')).toEqual({
    branch: 'feature/x',
    environment: 'staging',
    frameworkProjectName: 'unit checkout',
    envOverrides: { A: '1', B: 'two #words' },
    autofix: false,
  })
  expect(start?.headers).toMatchObject({
    authorization: `Bearer ${one.service.key}`,
    accept: 'application/json',
    'content-type': 'application/json',
    'user-agent': expect.stringMatching(
      /^test-run-action\/\d+\.\d+\.\d+ \(https:\/\/github\.com\/octo-org\/web-shop\/actions\/runs\/\d+\/attempts\/1\)$/,
    ),
  })
  expect(new Set(polls.map(({ method, path, body }) => `${method} ${path} ${body}`))).toEqual(
    new Set(['GET /v1/projects/web%20shop%2F%C3%A9/runs/run%3A1 ']),
  )
  expect(main.log.join('\n')).not.toContain('#words')
})

// test/service/key-redaction.test.ts tests every way to write a key.
test.concurrent('an API key that the service sends in a title, partly escaped, reaches no report', async () => {
  const written = String.raw`hidden\/key\u002B42\u0026more`
  const key = 'hidden/key+42&more'
  const rawBody = `{"status":"FAILED","results":{"testCases":[{"title":"leaks ${written} here","status":"FAILED","durationMs":1}]}}`
  const service = { key }
  await using one = await scenario({ service, faults: [{ on: 'get', do: { status: 200, rawBody } }] })
  const { main } = await one.step.run()
  expect(main.outputs).toMatchObject({ conclusion: 'failed', failed: '1' })
  expect(placesThatShow(key, main)).toEqual([])
  const folder = main.outputs['report-dir'] ?? ''
  const files = readdirSync(folder).map((file) => readFileSync(`${folder}/${file}`, 'utf8'))
  expect(files).toHaveLength(3)
  for (const text of [...files, main.files.STEP_SUMMARY]) {
    expect(text).toContain('leaks *** here')
    for (const form of [key, written, 'hidden/key+42&amp;more']) expect(text).not.toContain(form)
  }
})
