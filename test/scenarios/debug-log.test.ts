import { expect, test } from 'vitest'
import { placesThatShow } from '../../tools/runner-emulator/step-runner/runner.ts'
import { ONE_PASSED, scenario } from '../support/scenario.ts'

const DEBUG = '##[debug]'

const OF_FILE = /^(Main's file for post|Saved for post|Nothing is left to do for post)/

test.concurrent('with debug logging, the log shows each request, what main saves and what post finds', async () => {
  const busy = { status: 503, body: { error: 'busy' } }
  await using one = await scenario({
    debug: true,
    script: { runId: 'run-1', cases: ONE_PASSED },
    faults: [{ on: 'get', from: 1, to: 1, do: busy }],
    inputs: { 'env-overrides': 'A=two #words' },
  })
  const { main, post } = await one.step.run()
  expect(main).toMatchObject({ conclusion: 'success', outputs: { conclusion: 'passed' } })
  const debugLines = (log: readonly string[]) =>
    log.filter((line) => line.startsWith(DEBUG)).map((line) => line.slice(DEBUG.length).replace(/ [\d,]+ ms/, ' N ms'))
  const lines = debugLines(main.log)
  const runs = '/v1/projects/web-shop/runs'
  expect(lines.filter((line) => !OF_FILE.test(line))).toEqual([
    `POST ${runs}: status 200, N ms`,
    `GET ${runs}/run-1: status 503, N ms`,
    `GET ${runs}/run-1: status 200, N ms`,
  ])
  expect(lines.filter((line) => OF_FILE.test(line))).toEqual([
    expect.stringMatching(/^Main's file for post: .*test-run-action-/),
    'Saved for post: {"phase":"starting"}',
    'Saved for post: {"phase":"started","runId":"run-1","mayCancel":true}',
    'Nothing is left to do for post. Main removes its file.',
  ])
  expect(debugLines(post.log)).toEqual(['Post found no file of main, so nothing is left to do.'])
  expect(lines.join('\n')).not.toMatch(/busy|adds an item/)
  const [start] = one.service.requests
  expect(start?.headers['user-agent']).toMatch(
    /^test-run-action\/\d+\.\d+\.\d+ \(https:\/\/github\.com\/octo-org\/web-shop\/actions\/runs\/\d+\/attempts\/1\)$/,
  )
  expect(main.log.join('\n')).not.toContain('#words')
  expect(placesThatShow(one.service.key, main)).toEqual([])
  // The runner hides the key, should it ever be written.
  expect(one.step.masks.apply(one.service.key)).toBe('***')
})
