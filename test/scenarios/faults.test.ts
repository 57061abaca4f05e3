import { expect, test } from 'vitest'
import { importing, requestsOf, scenario } from '../support/scenario.ts'

// These tests run the built action. test/service/transport.test.ts and test/action test every kind of fault.

test.concurrent('a step whose response was too large exits, although a known fault of V8 could make node wait for ever', async () => {
  const body = { runId: 'x'.repeat(17 * 1024 * 1024) }
  // The fault occurs in about half of the steps.
  for (let step = 1; step <= 2; step++) {
    await using one = await scenario({ faults: [{ on: 'start', do: { status: 200, body } }] })
    const { main } = await one.step.run()
    expect(main).toMatchObject({ exitCode: 1, outputs: { conclusion: 'error' } })
    expect(main.annotations[0]?.message).toContain('a larger body')
  }
})

test.concurrent('if post could not learn of a run, no run is started', async () => {
  const moveFolder = "process.env.RUNNER_TEMP = '/nowhere'"
  await using one = await scenario({ env: { TMPDIR: '/nowhere', NODE_OPTIONS: importing(moveFolder) } })
  const end = await one.step.startMain().result()
  expect(end.conclusion).toBe('failure')
  expect(requestsOf(one.service)).toEqual([])
  const errors = end.annotations.filter(({ level }) => level === 'error')
  expect(errors).toMatchObject([
    {
      title: 'Run not started',
      message: expect.stringMatching(
        /^No run was started.*\/nowhere\/\S+ could not be created \(ENOENT.*Free some space/,
      ),
    },
  ])
  expect(end.summary).toMatch(
    /^## ❌ Run not started\n<p>Nothing was requested from the service\.<\/p>\n<ul>\n<li>No run/,
  )
})
