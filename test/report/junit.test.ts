import { XMLParser, XMLValidator } from 'fast-xml-parser'
import { describe, expect, it } from 'vitest'
import type { StepOutcome } from '../../src/model/outcome.ts'
import * as report from '../../src/report/junit.ts'
import { anOutcome, aRun, aTestCase, type TestCaseFields, testCasesBy, withRun } from '../support/builders.ts'
import { ENDINGS } from '../support/endings.ts'

const junit = (outcome: StepOutcome) => report.junit(withRun(outcome)).toString()

interface Case {
  name: string
  classname: string
  time: string
  file?: string
  line?: string
  failure?: { message: string; type: string; '#text': string }
  error?: { message: string; type: string; '#text': string }
  flakyFailure?: { message: string; type: string; '#text': string }
  skipped?: { message: string }
}

interface Suite extends Record<'name' | 'tests' | 'failures' | 'errors' | 'skipped' | 'time', string> {
  timestamp?: string
  testcase: Case[]
}

function parsed(result: StepOutcome): { suites: Omit<Suite, 'testcase'>; suite: Suite; cases: Case[] } {
  const xml = junit(result)
  expect(XMLValidator.validate(xml)).toBe(true)
  const parser = new XMLParser({
    ignoreAttributes: false,
    attributeNamePrefix: '',
    parseTagValue: false,
    htmlEntities: true,
    isArray: (name) => name === 'testcase',
  })
  const { testsuite, ...suites } = parser.parse(xml).testsuites
  return { suites, suite: testsuite, cases: testsuite.testcase ?? [] }
}

describe('junit.xml', () => {
  it('has the form that readers of JUnit know', () => {
    const run = aRun({
      status: 'FAILED',
      testCases: [
        aTestCase({ title: 'a <b>', durationMs: 1 }),
        aTestCase({ title: 'c', status: 'FAILED', durationMs: 61_250 }),
        aTestCase({ title: 'd', status: 'SKIPPED', durationMs: 0 }),
      ],
    })
    expect(junit(anOutcome({ run }))).toBe(`<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="web-shop" tests="3" failures="1" errors="0" skipped="1" time="184.000">
<testsuite name="web-shop" tests="3" failures="1" errors="0" skipped="1" time="184.000" timestamp="2026-03-01T10:00:00">
<testcase classname="test-run" name="a &lt;b&gt;" time="0.001"/>
<testcase classname="test-run" name="c" time="61.250"><failure message="FAILED" type="FAILED">The service gave this test case the status FAILED.</failure></testcase>
<testcase classname="test-run" name="d" time="0.000"><skipped message="SKIPPED"/></testcase>
</testsuite>
</testsuites>
`)
  })

  it('has a failure for failed cases, and an error for timed-out and interrupted cases, each with text', () => {
    const { cases } = parsed(ENDINGS.failed)
    const failed = cases.filter(({ failure }) => failure)
    const errors = cases.filter(({ error }) => error)
    expect(failed.map(({ name }) => name)).toEqual(['failed case 1', 'failed case 2', 'failed case 3'])
    expect(errors.map(({ name }) => name)).toEqual(['timedout case 1', 'interrupted case 1'])
    for (const { failure, error } of [...failed, ...errors])
      expect((failure ?? error)?.['#text']).toMatch(/the status [A-Z]+\.$/)
  })

  it('counts flaky cases as passed, and cases that neither passed nor failed as skipped', () => {
    const { cases } = parsed(ENDINGS.failed)
    const skipped = cases.filter((testCase) => testCase.skipped).map(({ name }) => name)
    expect(skipped).toEqual(['quarantined case 1', 'skipped case 1', 'skipped case 2', 'skipped case 3'])
    expect(cases.find(({ name }) => name === 'flaky case 1')).toEqual({
      classname: 'test-run',
      name: 'flaky case 1',
      time: '1.200',
      flakyFailure: { message: 'FLAKY', type: 'FLAKY', '#text': expect.stringMatching(/the status FLAKY\.$/) },
    })
  })

  it('has the reason of a skipped case', () => {
    const testCases = [aTestCase({ status: 'SKIPPED', message: 'later\nwith a cart' })]
    expect(junit(anOutcome({ run: aRun({ testCases }) }))).toContain('<skipped message="later"/>')
  })

  it('has the place of a case, and the whole message in its failure', () => {
    const message = `expected 41 & <b>\n  ::error::boo\n${'x'.repeat(9_000)}`
    const fields = { title: 'pays', message, filePath: 'e2e/"pay".ts', line: 12 }
    const testCases = ['FAILED', 'TIMEDOUT', 'FLAKY'].map((status) => aTestCase({ ...fields, status }))
    const outcome = anOutcome({ run: aRun({ status: 'FAILED', testCases }) })
    expect(junit(outcome)).not.toMatch(/^\s*::/m)
    const [failed, timedOut, flaky] = parsed(outcome).cases
    const shown = { message: 'expected 41 & <b>', '#text': message }
    expect(failed).toMatchObject({
      classname: 'e2e/"pay".ts',
      file: 'e2e/"pay".ts',
      line: '12',
      failure: { type: 'FAILED', ...shown },
    })
    expect(timedOut).toMatchObject({ line: '12', error: { type: 'TIMEDOUT', ...shown } })
    expect(flaky).toMatchObject({ line: '12', flakyFailure: { type: 'FLAKY', ...shown } })
  })

  it('has a different name for each case, and for the run itself, and keeps the first of several equal titles', () => {
    const namesOf = (...titles: readonly string[]) => {
      const testCases = titles.map((title) => aTestCase({ title }))
      return parsed(anOutcome({ run: aRun({ status: 'CANCELLED', testCases }) })).cases.map(({ name }) => name)
    }
    expect(namesOf('a', 'a', ' a\n')).toEqual(['a', 'a (2)', 'a (3)', 'The run itself'])
    expect(namesOf('The run itself', '')).toEqual(['The run itself', '(untitled)', 'The run itself (2)'])
    expect(namesOf('a (2)', 'a', 'a', 'a (2)').slice(0, 4)).toEqual(['a (2)', 'a', 'a (3)', 'a (2) (2)'])
  })

  it('has the file of a case as its class, and the same two names for it whatever other files there are', () => {
    const inCart = { title: 'adds', filePath: 'e2e/cart.ts' }
    const namesOf = (...fields: readonly TestCaseFields[]) =>
      parsed(anOutcome({ run: aRun({ testCases: fields.map(aTestCase) }) })).cases.map(
        ({ classname, name, file, line }) => [classname, name, file, line],
      )
    expect(namesOf(inCart)).toEqual([['e2e/cart.ts', 'adds', undefined, undefined]])
    const others = [{ title: 'adds', filePath: 'e2e/account.ts' }, { title: 'adds' }]
    expect(namesOf(...others, { ...inCart, status: 'FAILED', line: 3 }, { ...inCart, status: 'SKIPPED' })).toEqual([
      ['e2e/account.ts', 'adds', undefined, undefined],
      ['test-run', 'adds', undefined, undefined],
      ['e2e/cart.ts', 'adds', 'e2e/cart.ts', '3'],
      ['e2e/cart.ts', 'adds (2)', undefined, undefined],
    ])
  })

  it('has the sum of the durations if the run has no times', () => {
    const times = { startedAt: undefined, finishedAt: undefined }
    const timed = parsed(anOutcome({ run: aRun({ ...times, testCases: testCasesBy({ PASSED: 3 }) }) }))
    expect(timed.suite).toMatchObject({ time: '3.600' })
    expect(timed.suite.timestamp).toBeUndefined()
  })

  it('has the name of the test suite in the test-suite workflow', () => {
    const target = { kind: 'test-suite', id: 'smoke "1"' } as const
    expect(parsed(anOutcome({ subject: { target } })).suite.name).toBe('smoke "1"')
  })
})
