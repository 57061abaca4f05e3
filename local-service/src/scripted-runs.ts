import { randomUUID } from 'node:crypto'
import * as v from 'valibot'
import { type Backend, noRun, notCancellable, ok, type ServiceResponse } from './request-handler.ts'
import { quote } from './text.ts'
import { object } from './validation.ts'

/** What one run does, as its clients see it. Times count from the start request; a run without a script passes at once. */
export interface Script {
  readonly queuedMs?: number
  /** `Infinity`: it never finishes by itself. */
  readonly runningMs?: number
  /** Its final status; any text. Default: PASSED. */
  readonly end?: string
  /** Sent as they are: `results.testCases` of a run, `results` of a test-suite run. */
  readonly cases?: readonly unknown[]
  /** Sent as it is instead of the whole results; given as `undefined`, the field is left out. */
  readonly results?: unknown
  /** Sent as it is for the id in the response to the start; the run is then found under its text. */
  readonly runId?: unknown
  /** Merged into every response about the run, last: its fields win, and `undefined` removes a field. */
  readonly extra?: object
}

/** What a script may depend on. `number` counts the accepted starts from 1. */
export interface ScriptedStart {
  readonly number: number
  readonly projectId?: string
  readonly testSuiteId?: string
  /** The decoded body; undefined if none was sent. */
  readonly body: unknown
}

/** An accepted start and what has become of it. */
export interface ScriptedRun extends ScriptedStart {
  readonly runId: string
  /** Now. */
  readonly status: string
  readonly cancelAccepted: boolean
}

export interface ScriptedResponse extends ServiceResponse {
  /** The script makes it other than the interface has it. */
  readonly deviates?: boolean | undefined
}

interface Run extends ScriptedStart {
  readonly runId: string
  readonly script: Script
  readonly branchName: string
  readonly queuedAtMs: number
  /** Set by a cancel or by the test: ends the run before its script does. */
  ended?: { readonly status: string; readonly atMs: number; readonly cases?: readonly unknown[] }
  cancelAccepted: boolean
}

type Phase =
  | { readonly status: 'QUEUED' }
  | { readonly status: 'RUNNING'; readonly startedAtMs: number }
  | { readonly status: string; readonly startedAtMs: number | undefined; readonly finishedAtMs: number }

/** Runs that execute nothing: the state of each is computed from its script and the clock when a client asks. */
export function createScriptedRuns(
  scriptFor: (start: ScriptedStart) => Script,
  now: () => number = () => performance.timeOrigin + performance.now(),
) {
  const runs: Run[] = []

  function accept(start: Omit<ScriptedStart, 'number'>, branchName: string): Run {
    const numbered = { ...start, number: runs.length + 1 }
    const script = scriptFor(numbered)
    const run: Run = {
      ...numbered,
      script,
      runId: script.runId === undefined ? randomUUID() : String(script.runId),
      branchName,
      queuedAtMs: now(),
      cancelAccepted: false,
    }
    runs.push(run)
    return run
  }

  const find = (belongs: (run: Run) => boolean, runId: string) =>
    runs.findLast((run) => run.runId === runId && belongs(run))
  const findRun = (projectId: string, runId: string) => find((run) => run.projectId === projectId, runId)
  const findSuiteRun = (runId: string) => find((run) => run.testSuiteId !== undefined, runId)

  const backend: Backend = {
    async startRun(projectId, parameters) {
      const run = accept({ projectId, body: parameters.raw }, parameters.branch ?? 'main')
      return about(run, { runId: idToSend(run) })
    },
    async getRun(projectId, runId) {
      const run = findRun(projectId, runId)
      return run ? about(run, describeRun(run, phaseOf(run, now()))) : noRun(runId)
    },
    async cancelRun(projectId, runId) {
      const run = findRun(projectId, runId)
      if (run === undefined) return noRun(runId)
      const { status } = phaseOf(run, now())
      if (!isActive(status)) return notCancellable(runId, status)
      run.ended = { status: 'CANCELLED', atMs: now() }
      run.cancelAccepted = true
      return about(run, { cancelled: [{ runId: idToSend(run) }] })
    },
    async startSuite(testSuiteId, parameters) {
      const run = accept({ testSuiteId, body: parameters.raw }, parameters.branch ?? 'main')
      return about(run, { testSuiteRunId: idToSend(run), testSuiteName: suiteName(run), projectId: 'scripted' })
    },
    async getSuiteStatus(runId) {
      const run = findSuiteRun(runId)
      if (run === undefined) return noRun(runId)
      const { status } = phaseOf(run, now())
      return about(run, { status: isActive(status) ? 'RUNNING' : 'FINISHED', ...run.script.extra })
    },
    async getSuiteResult(runId) {
      const run = findSuiteRun(runId)
      return run ? about(run, describeSuiteRun(run, phaseOf(run, now()))) : noRun(runId)
    },
  }

  return {
    backend,
    /** Every accepted start, in order. */
    get runs(): readonly ScriptedRun[] {
      return runs.map((run) => {
        const { script, branchName, queuedAtMs, ended, ...start } = run
        return { ...start, status: phaseOf(run, now()).status }
      })
    },
    /** Finishes a run now, or gives a finished run another status. */
    finishRun(runId: string, status: string, cases?: readonly unknown[]): void {
      const run = runs.findLast((candidate) => candidate.runId === runId)
      if (run === undefined) throw new Error(`No start returned the run id ${quote(runId)}.`)
      run.ended = { status, atMs: now(), ...(cases === undefined ? {} : { cases }) }
    },
  }
}

const CASE = object({
  title: v.optional(v.string()),
  testId: v.optional(v.string()),
  testName: v.optional(v.string()),
  status: v.optional(v.string()),
  durationMs: v.optional(v.pipe(v.number(), v.integer())),
})

/** What a script may say so that the responses are still as the interface has them. */
const WITHIN_INTERFACE = v.strictObject({
  queuedMs: v.optional(v.number()),
  runningMs: v.optional(v.number()),
  end: v.optional(v.picklist(['PASSED', 'FAILED', 'TIMEDOUT', 'CANCELLED', 'INTERRUPTED'])),
  cases: v.optional(v.array(CASE)),
})

function about({ script, ended }: Run, body: object): ScriptedResponse {
  const said = ended === undefined ? script : { ...script, end: ended.status, cases: ended.cases ?? script.cases }
  return { ...ok(body), deviates: !v.is(WITHIN_INTERFACE, said) }
}

function phaseOf(run: Run, nowMs: number): Phase {
  const startsAtMs = run.queuedAtMs + (run.script.queuedMs ?? 0)
  const endsAtMs = startsAtMs + (run.script.runningMs ?? 0)
  if (run.ended !== undefined) {
    const { status, atMs } = run.ended
    return { status, startedAtMs: startsAtMs <= atMs ? startsAtMs : undefined, finishedAtMs: atMs }
  }
  if (nowMs < startsAtMs) return { status: 'QUEUED' }
  if (nowMs < endsAtMs) return { status: 'RUNNING', startedAtMs: startsAtMs }
  return { status: run.script.end ?? 'PASSED', startedAtMs: startsAtMs, finishedAtMs: endsAtMs }
}

function describeRun(run: Run, phase: Phase): object {
  const startedAtMs = 'startedAtMs' in phase ? phase.startedAtMs : undefined
  return {
    status: phase.status,
    startedAt: startedAtMs === undefined ? null : isoTime(startedAtMs),
    ...('finishedAtMs' in phase ? { finishedAt: isoTime(phase.finishedAtMs) } : {}),
    branchName: run.branchName,
    ...('finishedAtMs' in phase ? { results: resultsOf(run, phase.status) } : {}),
    ...run.script.extra,
  }
}

function resultsOf(run: Run, status: string): unknown {
  if ('results' in run.script) return run.script.results
  return { testCases: run.ended?.cases ?? run.script.cases ?? casesThatFit(status) }
}

function casesThatFit(status: string): unknown[] {
  const passed = { title: 'cart > adds a product', status: 'PASSED', durationMs: 12 }
  const failed = { title: 'cart > rounds the total', status: 'FAILED', durationMs: 34 }
  if (status === 'PASSED') return [passed]
  return status === 'FAILED' ? [passed, failed] : []
}

function describeSuiteRun(run: Run, { status }: Phase): object {
  const fitting = [{ testId: 'test-1', testName: 'cart > adds a product', status }]
  return {
    testSuiteName: suiteName(run),
    results: 'results' in run.script ? run.script.results : (run.ended?.cases ?? run.script.cases ?? fitting),
    ...run.script.extra,
  }
}

function suiteName(run: Run): string {
  return `Suite ${run.testSuiteId}`
}

function idToSend(run: Run): unknown {
  return 'runId' in run.script ? run.script.runId : run.runId
}

function isActive(status: string): boolean {
  return status === 'QUEUED' || status === 'RUNNING'
}

function isoTime(epochMs: number): string {
  return new Date(epochMs).toISOString()
}
