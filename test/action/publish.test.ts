import { describe, expect, test } from 'vitest'
import { publish as publishOutcome, type ReportSettings, reportFiles, setOutputs } from '../../src/action/publish.ts'
import type { Annotation } from '../../src/github/outputs.ts'
import type { Baseline } from '../../src/model/baseline.ts'
import { type AbortCause, isOutcomeWithRun, type StepOutcome } from '../../src/model/outcome.ts'
import { endingText, verdictLevel, verdictSentences } from '../../src/report/ending.ts'
import { render } from '../../src/text/safe-text.ts'
import { untrusted } from '../../src/text/untrusted.ts'
import { aBaseline, anOutcome, aRun, aTestCase, testCasesBy } from '../support/builders.ts'
import { ENDINGS } from '../support/endings.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { FakeService, RUNNING } from '../support/fake-service.ts'
import { FakeWorld, type FakeWorldOptions } from '../support/fake-world.ts'

const SETTINGS: ReportSettings = { summary: 'always', annotations: true }
const FAILED = anOutcome({ run: aRun({ status: 'FAILED', testCases: testCasesBy({ FAILED: 12, PASSED: 28 }) }) })
const SUCCESS = anOutcome()
const ABORTED = anOutcome({
  ending: { kind: 'aborted', cause: 'system signal' },
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
  setOutputs(outcome, world)
  await publishOutcome(outcome, { ...SETTINGS, ...settings }, world)
  return world
}

describe('outputs', () => {
  test('have the counts that the table of outputs promises, and no free text of the service', async () => {
    const testCases = testCasesBy({ PASSED: 3, FLAKY: 1, FAILED: 1, TIMEDOUT: 1, SKIPPED: 2, '$(reboot)': 1 })
    const run = aRun({ status: '$(reboot)', branchName: '$(reboot)', testCases })
    const outputs = (await publish(anOutcome({ run }))).outputs()
    const counts = { total: '9', passed: '4', failed: '2', flaky: '1', skipped: '2', other: '1' }
    expect(outputs).toMatchObject({ status: 'UNKNOWN', ...counts })
    expect(JSON.stringify(outputs)).not.toContain('reboot')
  })

  test('have zero counts for a PASSED run without results, and no counts for any other run without results', async () => {
    const passed = await publish(anOutcome({ run: aRun({ testCases: undefined }) }))
    expect(passed.outputs()).toMatchObject({ conclusion: 'no-tests', total: '0', passed: '0', failed: '0' })
    const failed = await publish(anOutcome({ run: aRun({ status: 'FAILED', testCases: undefined }) }))
    expect(failed.outputs()).toEqual({ conclusion: 'failed', status: 'FAILED', 'duration-ms': '184000' })
  })

  test('have the number of new failures if a baseline was read, also if it is zero', async () => {
    const newFailures = async (outcome: StepOutcome) => (await publish(outcome)).outputs()['new-failures']
    expect(await newFailures(ENDINGS.failedSomeNew)).toBe('1')
    expect(await newFailures(ENDINGS.timedOutNoneNew)).toBe('0')
    expect(await newFailures(anOutcome({ subject: { baseline: aBaseline({ FAILED: 1 }) } }))).toBe('0')
    expect(await newFailures(FAILED)).toBeUndefined()
  })

  test('have the numbers of added, removed and newly skipped cases if a comparable run was read, also if they are zero', async () => {
    const differences = async (outcome: StepOutcome) => {
      const { added, removed, 'newly-skipped': newlySkipped } = (await publish(outcome)).outputs()
      return [added, removed, newlySkipped]
    }
    const testCases = testCasesBy({ PASSED: 3, FLAKY: 1, SKIPPED: 1 })
    const earlier = (status: 'PASSED' | 'CANCELLED') => aBaseline({ PASSED: 5, SKIPPED: 1 }, status)
    const ofRun = (baseline: Baseline) => differences(anOutcome({ run: aRun({ testCases }), subject: { baseline } }))
    expect(await ofRun(earlier('PASSED'))).toEqual(['1', '2', '0'])
    expect(await ofRun([{ status: 'FAILED', testCases }])).toEqual(['0', '0', '0'])
    expect(await ofRun(earlier('CANCELLED'))).toEqual([undefined, undefined, undefined])
    expect(await differences(FAILED)).toEqual([undefined, undefined, undefined])
  })

  test('have only the conclusion if the service sent nothing', async () => {
    const world = await publish(ENDINGS.abortedBeforeStart)
    expect(world.outputs()).toEqual({ conclusion: 'cancelled' })
  })
})

describe('the verdict', () => {
  test('is an error if the step fails, a warning if its success is doubtful, and otherwise a line of the log', async () => {
    for (const [name, outcome] of Object.entries(ENDINGS)) {
      const world = await publish(outcome, { annotations: false })
      const { title } = endingText(outcome)
      const sentences = verdictSentences(outcome)
      const titled = `[${render(title)}] ${render(sentences)}`
      const level = verdictLevel(outcome)
      expect(level === 'error', name).toBe(!outcome.success)
      expect(world.texts('error '), name).toEqual(level === 'error' ? [titled] : [])
      expect(world.texts('warning ['), name).toEqual(level === 'warning' ? [titled.slice(1)] : [])
      expect(world.texts('info '), name).toEqual(level === 'info' ? [render(sentences)] : [])
    }
  })

  test('is followed by annotations of the failing test cases only if the step fails', async () => {
    const testCases = testCasesBy({ FAILED: 2, PASSED: 1 })
    const titles = async (status: string) => {
      const world = await publish(anOutcome({ run: aRun({ status, testCases }) }))
      return world.texts('error ').map((text) => text.replace(/\].*/s, ']'))
    }
    expect(await titles('FAILED')).toEqual(['[Tests failed]', '[Test failed]', '[Test failed]'])
    expect(await titles('PASSED')).toEqual([])
  })

  test('is shown at the place of an error outside the tests', async () => {
    const clock = new FakeClock()
    const shown: Annotation[] = []
    const annotate = (annotation: Annotation) => void shown.push(annotation)
    const world = Object.assign(new FakeWorld(clock, new FakeService(clock, {})), { annotate })
    const place = { filePath: untrusted('cart.test.ts'), line: 48 }
    const run = { ...aRun({ status: 'FAILED', message: 'Error: lost' }), ...place }
    await publishOutcome(anOutcome({ run }), SETTINGS, world)
    expect(shown).toMatchObject([{ file: 'cart.test.ts', line: 48 }])
  })
})

test('after the end of the job, main writes the verdict to the log, and nothing to folders of the next job', async () => {
  const world = await publish(ENDINGS.abortedRunFinished, {}, { signal: 'end of job' })
  expect(world.texts('error ')).toEqual([expect.stringContaining('[Step cancelled]')])
  for (const effect of ['files ', 'summary ', 'comment']) expect(world.texts(effect)).toEqual([])
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

  test('are three for a run with results or with a message, and none for any other run', () => {
    for (const [name, outcome] of Object.entries(ENDINGS)) {
      const names = isOutcomeWithRun(outcome) ? reportFiles(outcome).map((file) => file.name) : []
      const expected = outcome.run?.testCases || outcome.run?.message ? ['results.json', 'junit.xml', 'ctrf.json'] : []
      expect(names, name).toEqual(expected)
    }
  })

  test('contain the response as it was sent, with its numbers and its order', () => {
    const sent = '{ "status": "PASSED", "b": 1.0, "a": 12345678901234567890, "results": { "testCases": [] } }'
    const [results] = reportFiles(anOutcome({ run: { ...aRun(), responseText: untrusted(sent) } }))
    expect(results?.name).toBe('results.json')
    expect(results?.text).toBe(sent)
  })
})

test('each report that cannot be built is a warning, and the verdict, the outputs and the other reports stay', async () => {
  const testCase = { ...aTestCase({ status: 'FAILED' }), message: 7 as never }
  const run = { ...aRun({ status: 'FAILED', testCases: [testCase] }), startedAt: new Date(Number.NaN) }
  const comment = async () => 'https://example.com/comment/1'
  const world = await publish(anOutcome({ run }), {}, { comment })
  expect(world.outputs()).toMatchObject({ conclusion: 'failed', failed: '1', 'comment-url': expect.any(String) })
  expect(world.outputs()).not.toHaveProperty('report-dir')
  expect(world.texts('error ')).toEqual([expect.stringContaining('[Tests failed]')])
  expect(world.texts('warning ')).toEqual([
    expect.stringMatching(
      /^The annotations of test cases could not be written, because of a bug in the action: .* The verdict stays as it is\./,
    ),
    expect.stringMatching(
      /^The report files could not be written, because of a bug in the action: .* The verdict stays as it is\./,
    ),
    expect.stringMatching(
      /^The job summary could not be written, because of a bug in the action: .* The verdict stays as it is\./,
    ),
  ])
})

test('a comment that cannot be built is a warning that blames the action', async () => {
  const job = { name: {} as never, url: 'https://github.com/o/r/actions/runs/1/job/2' }
  const world = await publish(anOutcome({ subject: { job } }))
  expect(world.texts('warning ')).toEqual([
    expect.stringMatching(/^The pull request comment could not be written, because of a bug in the action: /),
  ])
  expect(world.texts('comment')).toEqual([])
})

test('the comment has its address as an output. An aborted step and one that only starts a run write none', async () => {
  const commented = await publish(SUCCESS, {}, { comment: async () => 'https://example.com/comment/1' })
  expect(commented.outputs()['comment-url']).toBe('https://example.com/comment/1')
  expect((await publish(SUCCESS)).outputs()).not.toHaveProperty('comment-url')
  const aborted = await publish(ABORTED, {}, { signal: 'system signal' })
  expect([aborted.texts('comment'), aborted.texts('summary ').length]).toEqual([[], 1])
  expect((await publish(ENDINGS.started)).texts('comment')).toEqual([])
})
