import { describe, expect, it } from 'vitest'
import { junit } from '../../src/report/junit.ts'
import { anOutcome, aRun, aTestCase, type RunFields, type TestCaseFields } from '../support/builders.ts'

// hostile-text.test.ts shows that each file is well-formed XML, and that its totals agree with its test cases.

const junitOf = (fields: readonly TestCaseFields[], run: RunFields = {}) =>
  junit(anOutcome({ run: aRun({ ...run, testCases: fields.map(aTestCase) }) }))

/** The names of the test cases. */
const namesIn = (xml: string) => [...xml.matchAll(/ name="([^"]*)"(?: file=| time=")/g)].map(([, name]) => name)

describe('junit.xml', () => {
  it('has the form that readers of JUnit know', () => {
    const testCases = [
      { title: 'a <b>', durationMs: 1 },
      { title: 'c', status: 'FAILED', durationMs: 61_250 },
      { title: 'd', status: 'SKIPPED', durationMs: 0 },
    ]
    expect(junitOf(testCases, { status: 'FAILED' })).toBe(`<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="web-shop" tests="3" failures="1" errors="0" skipped="1" time="184.000">
<testsuite name="web-shop" tests="3" failures="1" errors="0" skipped="1" time="184.000" timestamp="2026-03-01T10:00:00">
<testcase classname="test-run" name="a &lt;b&gt;" time="0.001"/>
<testcase classname="test-run" name="c" time="61.250"><failure message="FAILED" type="FAILED">The service gave this test case the status FAILED.</failure></testcase>
<testcase classname="test-run" name="d" time="0.000"><skipped message="SKIPPED"/></testcase>
</testsuite>
</testsuites>
`)
  })

  it.each([
    ['FAILED', 'failure'],
    ['TIMEDOUT', 'error'],
    ['INTERRUPTED', 'error'],
    ['FLAKY', 'flakyFailure'],
  ])('has the status, or the whole message and the place, for a case that is %s', (status, element) => {
    const reason = `The service gave this test case the status ${status}.`
    expect(junitOf([{ title: 'a', status }])).toContain(
      `name="a" time="1.200"><${element} message="${status}" type="${status}">${reason}</${element}></testcase>\n`,
    )
    const long = 'x'.repeat(9_000)
    const fields = { title: 'pays', message: `41 & <b>\n  ::error::boo\n${long}`, filePath: 'e2e/"pay".ts', line: 12 }
    expect(junitOf([{ ...fields, status }])).toContain(
      `<testcase classname="e2e/&quot;pay&quot;.ts" name="pays" file="e2e/&quot;pay&quot;.ts" line="12" time="1.200"><${element} message="41 &amp; &lt;b&gt;" type="${status}">41 &amp; &lt;b&gt;\n  &#58;:error::boo\n${long}</${element}></testcase>\n`,
    )
  })

  it.each([
    ['SKIPPED', undefined, '"SKIPPED"/>'],
    ['SKIPPED', 'later\nwith a cart', '"later">later\nwith a cart</skipped>'],
    ['QUARANTINED', undefined, '"QUARANTINED"/>'],
    ['QUARANTINED', 'flaky\non Mondays', '"flaky">flaky\non Mondays</skipped>'],
  ])('counts a case that is %s with the message %j as skipped', (status, message, element) => {
    expect(junitOf([{ status, message }])).toContain(`><skipped message=${element}</testcase>`)
  })

  it('has a different name for each case, and for the run itself, and keeps the first of several equal titles', () => {
    const namesOf = (...titles: readonly string[]) =>
      namesIn(
        junitOf(
          titles.map((title) => ({ title })),
          { status: 'CANCELLED' },
        ),
      )
    expect(namesOf('a', 'a', ' a\n')).toEqual(['a', 'a (2)', 'a (3)', 'The run itself'])
    expect(namesOf('The run itself', '')).toEqual(['The run itself', '(untitled)', 'The run itself (2)'])
    expect(namesOf('a (2)', 'a', 'a', 'a (2)').slice(0, 4)).toEqual(['a (2)', 'a', 'a (3)', 'a (2) (2)'])
    expect(namesOf('a', 'a', 'a (2)').slice(0, 3)).toEqual(['a', 'a (2)', 'a (2) (2)'])
  })

  it('has the file of a case as its class, and the same two names for it whatever other files there are', () => {
    const inCart = { title: 'adds', filePath: 'e2e/cart.ts' }
    const named = '<testcase classname="e2e/cart.ts" name="adds" '
    expect(junitOf([inCart])).toContain(`${named}time=`)
    const others = [{ title: 'adds', filePath: 'e2e/account.ts' }, { title: 'adds' }]
    const xml = junitOf([...others, { ...inCart, status: 'FAILED', line: 3 }, { ...inCart, status: 'SKIPPED' }])
    expect(xml).toContain(`${named}file="e2e/cart.ts" line="3" time=`)
    expect(xml).toContain('<testcase classname="e2e/cart.ts" name="adds (2)" time=')
  })

  it('has the sum of the durations if the run has no times', () => {
    const xml = junitOf([{}, {}, {}], { startedAt: undefined, finishedAt: undefined })
    expect(xml).toContain('skipped="0" time="3.600">\n<testcase')
  })

  it('has the name of the test suite if the run is of a test suite', () => {
    const target = { kind: 'test-suite', id: 'smoke "1"' } as const
    expect(junit(anOutcome({ subject: { target } }))).toContain('<testsuite name="smoke &quot;1&quot;" ')
  })
})
