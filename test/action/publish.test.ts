import { describe, expect, test } from 'vitest'
import { publish as publishOutcome, type ReportSettings } from '../../src/action/publish.ts'
import type { AbortCause, StepOutcome } from '../../src/outcome/step-outcome.ts'
import { anOutcome, aRun, testCasesBy } from '../support/builders.ts'
import { ENDINGS } from '../support/endings.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { FakeService, RUNNING } from '../support/fake-service.ts'
import { FakeWorld, type FakeWorldOptions } from '../support/fake-world.ts'

const SETTINGS: ReportSettings = { summary: 'always', annotations: true }
const FAILED = anOutcome({ run: aRun({ status: 'FAILED', testCases: testCasesBy({ FAILED: 12, PASSED: 28 }) }) })
const SUCCESS = anOutcome()
const ABORTED = anOutcome({
  ending: { kind: 'aborted', cause: 'SIGINT' },
  run: RUNNING,
  cancellation: { kind: 'cancelled' },
})

async function publish(
  outcome: StepOutcome,
  settings: Partial<ReportSettings> = {},
  { signal, ...options }: FakeWorldOptions & { readonly signal?: AbortCause } = {},
): Promise<FakeWorld> {
  const clock = new FakeClock()
  const world = new FakeWorld(clock, new FakeService(clock, {}), options)
  if (signal !== undefined) world.signalAt(0, signal)
  await publishOutcome(outcome, { ...SETTINGS, ...settings }, world)
  return world
}

test('the outputs and the verdict come first, and then the files, the summary and the comment', async () => {
  const world = await publish(FAILED, {}, { comment: async () => 'https://example.com/comment/1' })
  const kinds = world.effects.map(({ text }) =>
    text
      .split(/[ =]/, 2)
      .join(' ')
      .replace(/^summary .*/, 'summary'),
  )
  expect(kinds.filter((kind, index) => kind !== kinds[index - 1])).toEqual([
    'output conclusion',
    'output status',
    'output duration-ms',
    'output total',
    'output passed',
    'output failed',
    'output flaky',
    'output skipped',
    'output other',
    'error [Tests',
    'error [Test',
    'error [More',
    'files results.json',
    'output report-dir',
    'summary',
    'comment',
    'output comment-url',
  ])
})

describe('outputs', () => {
  test('have the counts that the table of outputs promises', async () => {
    const testCases = testCasesBy({ PASSED: 3, FLAKY: 1, FAILED: 1, TIMEDOUT: 1, SKIPPED: 2, NEW: 1 })
    const world = await publish(anOutcome({ run: aRun({ status: 'FAILED', testCases }) }))
    const counts = { total: '9', passed: '4', failed: '2', flaky: '1', skipped: '2', other: '1' }
    expect(world.outputs()).toMatchObject(counts)
  })

  test('have zero counts for a PASSED run without results, and no counts for any other run without results', async () => {
    const passed = await publish(anOutcome({ run: aRun({ testCases: undefined }) }))
    expect(passed.outputs()).toMatchObject({ conclusion: 'no-tests', total: '0', passed: '0', failed: '0' })
    const failed = await publish(anOutcome({ run: aRun({ status: 'FAILED', testCases: undefined }) }))
    expect(failed.outputs()).toEqual({ conclusion: 'failed', status: 'FAILED', 'duration-ms': '184000' })
  })

  test('have only the conclusion if the service sent nothing', async () => {
    const world = await publish(ENDINGS.abortedBeforeStart)
    expect(world.outputs()).toEqual({ conclusion: 'cancelled' })
  })

  test('never contain free text of the service', async () => {
    const run = aRun({ status: '$(reboot)', branchName: '$(reboot)', testCases: testCasesBy({ '$(reboot)': 1 }) })
    const world = await publish(anOutcome({ run }))
    expect(world.outputs().status).toBe('UNKNOWN')
    expect(JSON.stringify(world.outputs())).not.toContain('reboot')
  })
})

describe('the verdict', () => {
  test('is an error only if the step fails', async () => {
    for (const [name, outcome] of Object.entries(ENDINGS)) {
      const errors = (await publish(outcome)).texts('error [')
      expect(errors.length > 0, name).toBe(!outcome.success)
    }
  })

  test('comes before the errors of the test cases, which have at most nine lines', async () => {
    const errors = (await publish(FAILED)).texts('error ')
    expect(errors[0]).toContain('12 of 40')
    expect(errors).toHaveLength(1 + 8 + 1)
  })

  test('is the only annotation if the input annotations is false', async () => {
    expect((await publish(FAILED, { annotations: false })).texts('error ')).toHaveLength(1)
  })

  test('is a warning for a PASSED run with failed cases, and a line of the log for a PASSED run without failed cases', async () => {
    const odd = await publish(ENDINGS.passedWithFailures)
    expect(odd.texts('warning ')).toEqual([expect.stringContaining('2 of 40')])
    const one = await publish(anOutcome({ run: aRun({ testCases: testCasesBy({ FAILED: 1, PASSED: 39 }) }) }))
    expect(one.texts('warning ')).toEqual([expect.stringContaining('1 of 40')])
    const success = await publish(SUCCESS)
    expect(success.texts('warning ')).toEqual([])
    expect(success.texts('info ')).toEqual([expect.stringMatching(/run_7f3a.*PASSED/)])
  })
})

describe('the branch that the service names', () => {
  const warningsOf = async (branchName: string | undefined, subject: Partial<StepOutcome['subject']>) =>
    (await publish(anOutcome({ run: aRun({ status: 'FAILED', branchName }), subject }))).texts('warning ')

  test.each([
    ['main', 'feature/cart'],
    ['refs/tags/main', 'main'],
  ])('is a warning if the service names %s, the step asked for %s, and the run did not pass', async (branchName, branch) => {
    expect(await warningsOf(branchName, { parameters: { branch } })).toEqual([
      `The service says that it tested the branch “${branchName}”, and this step asked for “${branch}”. So nothing shows whether the tests of “${branch}” pass. Check whether “${branch}” is pushed. If the service has another name for “${branch}”, set the input branch to that name. Otherwise ask the operators of the service.`,
    ])
  })

  test.each([
    ['refs/heads/main', { parameters: { branch: 'main' } }],
    ['main', { parameters: { branch: 'refs/heads/main' } }],
    ['main', { parameters: {} }],
  ])('is not mentioned if the service names %s, and the step has %j', async (branchName, subject) => {
    expect(await warningsOf(branchName, subject)).toEqual([])
  })

  test('fails the step if it is another branch and the run is PASSED, and only the verdict says so', async () => {
    const world = await publish(ENDINGS.otherBranch)
    expect(world.outputs()).toMatchObject({ conclusion: 'error', status: 'PASSED' })
    expect(world.texts('warning ')).toEqual([])
    expect(world.texts('error ')).toEqual([
      '[Another branch was tested] Run run_7f3a finished as PASSED, but on another branch. The service says that it tested the branch “main”, and this step asked for “feature/cart”. So nothing shows whether the tests of “feature/cart” pass. Check whether “feature/cart” is pushed. If the service has another name for “feature/cart”, set the input branch to that name. Otherwise ask the operators of the service.',
    ])
  })
})

test('after the end of the job, main writes the verdict to the log, and nothing to folders of the next job', async () => {
  const world = await publish(ENDINGS.abortedRunFinished, {}, { signal: 'SIGHUP', isJobOver: true })
  expect(world.texts('error ')).toEqual([expect.stringContaining('[Step cancelled]')])
  for (const effect of ['files ', 'summary ', 'comment']) expect(world.texts(effect)).toEqual([])
})

test('a run that is only started gets no comment, because the step that waits for it writes the comment', async () => {
  expect((await publish(ENDINGS.started)).texts('comment')).toEqual([])
  expect((await publish(SUCCESS)).texts('comment')).toHaveLength(1)
})

describe('the summary', () => {
  test.each([
    ['always', 1, 1],
    ['on-failure', 0, 1],
    ['never', 0, 0],
  ] as const)('%s', async (summary, ifSuccess, ifFailure) => {
    expect((await publish(SUCCESS, { summary })).texts('summary ')).toHaveLength(ifSuccess)
    expect((await publish(FAILED, { summary })).texts('summary ')).toHaveLength(ifFailure)
  })

  test('takes only the space that is left in the file', async () => {
    const run = aRun({ status: 'FAILED', testCases: testCasesBy({ FAILED: 500 }) })
    const [summary = ''] = (await publish(anOutcome({ run }), {}, { summaryBytes: 890_000 })).texts('summary ')
    expect(Buffer.byteLength(summary)).toBeLessThan(10_000)
  })
})

describe('the report files', () => {
  test('that cannot be written set no output and change nothing else', async () => {
    const world = await publish(SUCCESS, {}, { reportFolder: undefined })
    expect(world.outputs()).not.toHaveProperty('report-dir')
    expect(world.texts('comment')).toHaveLength(1)
  })
})

describe('the comment', () => {
  test('has its address as an output, if it was written', async () => {
    const commented = await publish(SUCCESS, {}, { comment: async () => 'https://example.com/comment/1' })
    expect(commented.outputs()['comment-url']).toBe('https://example.com/comment/1')
    expect((await publish(SUCCESS)).outputs()).not.toHaveProperty('comment-url')
  })

  test('is not written by a cancelled step, because there is no time for it', async () => {
    const world = await publish(ABORTED, {}, { signal: 'SIGINT' })
    expect(world.texts('comment')).toEqual([])
    expect(world.texts('summary ')).toHaveLength(1)
  })
})
