import { XMLParser } from 'fast-xml-parser'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startScriptedService } from '../../../tools/scripted-service/scripted-service.ts'
import { checkService } from '../../src/check/check.ts'
import { render } from '../../src/check/report.ts'
import { createVerdicts } from '../../src/check/rules.ts'
import type { Report } from '../../src/check/session.ts'
import { createRepository } from '../a-git-repository.ts'
import { puppet, puppetProject, startService } from '../a-local-service.ts'
import { ECHO, FAULTS, type Fault, KEY, startFaultyService } from './a-faulty-service.ts'

const TARGET = { key: KEY, project: 'shop', suite: 'smoke', environment: 'staging', frameworkProject: 'unit' }
const LIMITS = { finishMs: 50, cancelMs: 50, pollMs: 1 }

async function check(url: string, limits: object = {}, target: object = {}) {
  const warnings: string[] = []
  const { signal } = new AbortController()
  const report = await checkService(
    { ...TARGET, ...target, url: new URL(url) },
    { ...LIMITS, ...limits },
    signal,
    (line) => warnings.push(line),
  )
  return { ...report, warnings }
}

function rulesWith(verdict: string, { rules }: Report): string[] {
  return rules.filter((rule) => rule.verdict === verdict).map(({ id }) => id)
}

describe('a service that keeps every rule', () => {
  it('is found to, in five runs and one of the suite', async () => {
    const { url, scripted } = await startFaultyService()
    const report = await check(url)
    expect(rulesWith('broken', report)).toEqual([])
    expect(rulesWith('not observed', report)).toEqual(['retry-after'])
    expect(report.warnings).toEqual([expect.stringMatching(/^The run of the test suite is "\d+"\.$/)])
    // The scripted service has every project, so that it accepts a start in one that does not exist.
    expect(report.notes).toContain('A start in a project that does not exist: 200.')
    const ofProject = scripted.runs.filter(({ projectId }) => projectId === 'shop')
    expect(ofProject.map(({ status }) => status)).toEqual(['PASSED', ...Array(4).fill('CANCELLED')])
    expect(scripted.runs).toHaveLength(7)
  })

  it('is not asked about what the check has no values for', async () => {
    const { url, scripted } = await startFaultyService()
    const nothing = { suite: undefined, environment: undefined, frameworkProject: undefined }
    const report = await check(url, {}, nothing)
    expect(rulesWith('broken', report)).toEqual([])
    expect(rulesWith('not observed', report)).toEqual([
      'start-fields',
      'start-deprecated',
      'suite-start',
      'suite-status',
      'suite-result',
      'suite-unknown',
      'retry-after',
      'suite-fields',
    ])
    expect(scripted.runs.filter(({ projectId }) => projectId === 'shop')).toHaveLength(4)
  })

  it('keeps the runs that somebody else started', async () => {
    const { url, scripted, seen } = await startFaultyService()
    const parameters = { envOverrides: {}, autofix: false, ignored: [], raw: { autofix: false } }
    const started = await scripted.backend.startRun('shop', parameters)
    await check(url)
    const { runId } = started.body as { runId: string }
    expect(scripted.runs.find((run) => run.runId === runId)?.status).toBe('RUNNING')
    expect(seen.filter((request) => request.runId === runId)).toEqual([])
  })

  it('may refuse a branch that it does not know, whatever its length', async () => {
    const { url } = await startFaultyService({
      instead: ({ json }) =>
        'branch' in json && json.branch !== 'main' && { status: 404, body: { error: 'No branch.' } },
    })
    const report = await check(url)
    expect(rulesWith('broken', report)).toEqual([])
    expect(rulesWith('not observed', report)).toContain('branch-longest')
    expect(report.notes).toContain('A start with a branch that may not exist: 404.')
  })
})

describe('a service that breaks a rule', () => {
  it.each(Object.entries<Fault>(FAULTS))('is found to break %s, and nothing else', async (id, fault) => {
    const { url, scripted } = await startFaultyService(fault)
    const report = await check(url)
    expect(rulesWith('broken', report)).toEqual([id])
    const unfinished = scripted.runs.filter(({ projectId, status }) => projectId && /QUEUED|RUNNING/.test(status))
    expect(unfinished).toEqual([])
  })

  it('is there for each of the rules', () => {
    const rules = createVerdicts().results()
    expect(Object.keys(FAULTS)).toEqual(expect.arrayContaining(rules.map(({ id }) => id)))
  })
})

describe('a check', () => {
  it('is refused with a sentence if the service refuses the key', async () => {
    const { url, scripted } = await startFaultyService()
    await expect(check(url, {}, { key: 'x' })).rejects.toThrow('The service refuses the key with 401.')
    expect(scripted.runs).toEqual([])
  })

  it('names the runs that it could not cancel', async () => {
    const { url, scripted } = await startFaultyService({
      instead: ({ kind }) => kind === 'cancel' && { status: 500, body: { error: 'Broken.' } },
    })
    const { warnings } = await check(url)
    const left = scripted.runs.filter(({ projectId, status }) => projectId === 'shop' && /QUEUED|RUNNING/.test(status))
    for (const { runId } of left) expect(warnings.join('\n')).toContain(`Run "${runId}" could not be cancelled.`)
    expect(left).toHaveLength(4)
  })
})

describe('the report of a check', () => {
  it('says what broke each rule, for a terminal', async () => {
    const { url } = await startFaultyService({
      response: ({ status }) => status === 401 && { body: { message: '\x1b[2J' } },
    })
    const output = render(await check(url, {}, { suite: undefined }), 'text', KEY)
    expect(output).toMatch(
      /^ {2}BROKEN +2\.6, 7 +An error is an object .*\n +the body must have required property 'error'$/m,
    )
    expect(output).toMatch(
      /^ +POST \/v1\/projects\/shop\/runs \{\}\n +Authorization: \(none\)\n +401 \{"message":".*\}$/m,
    )
    expect(output).toMatch(/^ {2}not observed +4\.4 +A test suite can be started\.\n +needs --suite$/m)
    expect(output).not.toContain('\x1b')
  })

  it('shows the key nowhere, as JSON and as JUnit', async () => {
    const report = await check((await startFaultyService(ECHO)).url)
    const [json, junit] = [render(report, 'json', KEY), render(report, 'junit', KEY)]
    expect(`${json}${junit}`).not.toContain(KEY.slice(0, 5))
    const { summary, rules } = JSON.parse(json)
    expect(summary).toMatchObject({ broken: 1 })
    expect(rules[0]).toMatchObject({ id: 'key-missing', section: '5.3', verdict: 'holds' })
    const { testsuites } = new XMLParser({ ignoreAttributes: false }).parse(junit, true)
    expect(testsuites).toMatchObject({ '@_tests': '43', '@_failures': '1' })
    expect(testsuites.testsuite.testcase).toHaveLength(43)
  })
})

describe("this repository's services", () => {
  it('keep the rules: the service that runs tests', async () => {
    const { folder, remove } = await createRepository({ 'README.md': 'A project on a branch.' })
    onTestFinished(remove)
    const { url } = await startService({
      keys: [KEY],
      concurrency: 1,
      projects: { shop: { ...puppetProject(folder), environments: { staging: puppet({ hangs: true }).envOverrides } } },
      suites: { smoke: { project: 'shop' } },
    })
    const report = await check(url, { finishMs: 60_000, cancelMs: 60_000, pollMs: 20 })
    expect(rulesWith('broken', report)).toEqual([])
    // It looks for a branch, and finds none with such a name.
    expect(rulesWith('not observed', report)).toEqual(['branch-shortest', 'branch-longest', 'retry-after'])
  })

  it('keep the rules: the scripted one', async () => {
    const script = ({ body }: { body: unknown }) =>
      'autofix' in Object(body) ? { runningMs: Infinity } : 'branch' in Object(body) ? { queuedMs: Infinity } : {}
    const { url, close } = await startScriptedService({ keys: [KEY], script })
    onTestFinished(close)
    const report = await check(url)
    expect([rulesWith('broken', report), rulesWith('not observed', report)]).toEqual([[], ['retry-after']])
  })
})
