import { describe, expect, it } from 'vitest'
import { DOT, join, NONE } from '../../src/report/phrases.ts'
import { factsOf, whatIsTested } from '../../src/report/what-is-tested.ts'
import { render } from '../../src/text/safe-text.ts'
import { aBaseline, anOutcome, aRun } from '../support/builders.ts'

describe('the line of facts', () => {
  const parameters = {
    branch: 'feature/x',
    environment: 'staging',
    frameworkProject: 'chromium',
    autofix: true,
    envOverrides: { PASSWORD: 'hunter2' },
  }
  const lineOf = (...args: Parameters<typeof anOutcome>) => render(join(factsOf(anOutcome(...args)), DOT) ?? NONE)

  it('says what was run and where, and shows no override', () => {
    expect(lineOf({ subject: { parameters }, run: aRun({ branchName: undefined }) })).toBe(
      'Environment staging · Branch feature/x · Run run_7f3a · Auto-fix on',
    )
  })

  it('has the branch that the service names, and no other fact of a run that another step started', () => {
    expect(lineOf({ subject: { parameters }, run: aRun({ branchName: 'main' }) })).toContain('Branch main')
    const run = aRun({ branchName: undefined })
    expect(lineOf({ subject: { parameters: {}, ownsRun: false }, run })).toBe('Run run_7f3a')
  })

  it('calls a full hash a commit', () => {
    const commit = 'f'.repeat(40)
    const subject = { parameters: { branch: commit } }
    expect(lineOf({ subject, run: aRun({ branchName: undefined }) })).toContain(`Commit ${commit} ·`)
    expect(lineOf({ subject, run: aRun({ branchName: commit }) })).toContain(`Commit ${commit} ·`)
    expect(lineOf({ subject, run: aRun({ branchName: 'main' }) })).toContain('Branch main ·')
    expect(lineOf({ run: aRun({ branchName: commit.slice(1) }) })).toContain(`· Branch ${commit.slice(1)} ·`)
  })

  it('has the time of the baseline', () => {
    const baseline = aBaseline({ FAILED: 1 })
    expect(lineOf({ subject: { baseline } })).toMatch(/ · Run run_7f3a · Baseline 2026-02-28 09:05 UTC$/)
    const [latest] = baseline
    expect(lineOf({ subject: { baseline: [latest, latest, latest] } })).toMatch(
      / · Baseline 2026-02-28 09:05 UTC \(3 runs\)$/,
    )
    expect(lineOf({ subject: { baseline: [{ ...latest, finishedAt: undefined }] } })).toMatch(
      / · Baseline without a time$/,
    )
  })

  it('says that the branch of a test suite is metadata', () => {
    const target = { kind: 'test-suite', id: 'smoke' } as const
    const subject = { target, parameters: { branch: 'main', autofix: false } }
    expect(lineOf({ subject, ending: { kind: 'started' } })).toBe(
      'Branch main · The branch is metadata only, so the service may test another branch · Run run_7f3a · Auto-fix off',
    )
  })
})

it('the line of a start says what is tested: a branch or a commit', () => {
  const said = (parameters: object) => render(whatIsTested(anOutcome({ subject: { parameters } }).subject))
  expect(said({ branch: 'b', environment: 'staging', frameworkProject: 'e2e' })).toBe(
    'project “web-shop”, environment “staging”, branch “b”, framework project “e2e”',
  )
  expect(said({ branch: 'f'.repeat(40) })).toBe(`project “web-shop”, commit “${'f'.repeat(40)}”`)
})
