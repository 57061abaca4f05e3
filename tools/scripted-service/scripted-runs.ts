import { randomUUID } from 'node:crypto'

export interface ScriptedResponse {
  readonly status: number
  readonly body: unknown
}

/** What clients see of one run. Times count from the start request. A run without a script passes at once. */
export interface Script {
  readonly queuedMs?: number
  /** With `Infinity`, the run never finishes by itself. */
  readonly runningMs?: number
  /** The final status. It may be any text. The default is PASSED. */
  readonly end?: string
  /** Sent as they are when the run has finished. */
  readonly cases?: readonly unknown[]
  /** The default is a new id. */
  readonly runId?: string
  /** The output of the tests. If absent, the run offers no output. */
  readonly output?: string
}

export interface ScriptedStart {
  readonly projectId: string
  /** The decoded body. Undefined if the request had no body. */
  readonly body: unknown
}

/** An accepted start and its run. */
export interface ScriptedRun extends ScriptedStart {
  readonly runId: string
  /** The status at this moment. */
  readonly status: string
}

interface Run extends ScriptedStart {
  readonly runId: string
  readonly script: Script
  readonly branchName: string
  readonly queuedAtMs: number
  /** Set by a cancel, which ends the run before its script does. */
  cancelledAtMs?: number
  readonly output: Buffer | undefined
}

interface State {
  readonly status: string
  readonly startedAtMs: number | undefined
  readonly finishedAtMs?: number
}

export type Endpoint = 'start' | 'cancel' | 'get' | 'output'

/** Runs that execute nothing. When a client reads a run, its state is computed from its script and the clock. */
export function createScriptedRuns(scriptFor: (start: ScriptedStart) => Script) {
  const runs: Run[] = []

  function accept(start: ScriptedStart): Run {
    const script = scriptFor(start)
    const { runId = randomUUID(), output } = script
    const { branch: branchName = 'main' } = Object(start.body)
    const run: Run = {
      ...start,
      script,
      runId,
      branchName,
      queuedAtMs: Date.now(),
      output: output === undefined ? undefined : Buffer.from(output),
    }
    runs.push(run)
    return run
  }

  function withRun(
    projectId: string,
    runId: string,
    describe: (run: Run, state: State) => ScriptedResponse,
  ): ScriptedResponse {
    const run = runs.findLast((candidate) => candidate.runId === runId && candidate.projectId === projectId)
    return run === undefined ? refuse(404, `There is no run "${runId}" here.`) : describe(run, stateOf(run))
  }

  /** Each endpoint gets the decoded body or the query, and the id or the ids in the path, in order. */
  const endpoints: Record<Endpoint, (body: unknown, projectId: string, runId: string) => ScriptedResponse> = {
    start: (body, projectId) => ok({ runId: accept({ projectId, body }).runId }),
    get: (_body, projectId, runId) => withRun(projectId, runId, (run, state) => ok(describeRun(run, state))),
    output: (query, projectId, runId) =>
      withRun(projectId, runId, ({ output }) => {
        const from = Number(new URLSearchParams(String(query)).get('from'))
        return output === undefined ? refuse(404, 'The run has no output.') : ok(outputFrom(output, from))
      }),
    cancel: (body, projectId) => {
      const runId = String(Object(Object(body).where).runId)
      return withRun(projectId, runId, (run, { status, finishedAtMs }) => {
        if (finishedAtMs !== undefined) {
          return refuse(400, `Run "${runId}" is ${status}; only a QUEUED or RUNNING run can be cancelled.`)
        }
        run.cancelledAtMs = Date.now()
        return ok({ cancelled: [{ runId }] })
      })
    },
  }

  return {
    endpoints,
    get runs(): readonly ScriptedRun[] {
      return runs.map((run) => ({ ...run, status: stateOf(run).status }))
    },
  }
}

function ok(body: unknown): ScriptedResponse {
  return { status: 200, body }
}

export function refuse(status: 400 | 401 | 404, error: string): ScriptedResponse {
  return { status, body: { error } }
}

function stateOf({ script, queuedAtMs, cancelledAtMs }: Run): State {
  const nowMs = Date.now()
  const startsAtMs = queuedAtMs + (script.queuedMs ?? 0)
  const endsAtMs = cancelledAtMs ?? startsAtMs + (script.runningMs ?? 0)
  const startedAtMs = startsAtMs <= Math.min(nowMs, endsAtMs) ? startsAtMs : undefined
  if (nowMs < endsAtMs) return { status: startedAtMs === undefined ? 'QUEUED' : 'RUNNING', startedAtMs }
  const status = cancelledAtMs === undefined ? (script.end ?? 'PASSED') : 'CANCELLED'
  return { status, startedAtMs, finishedAtMs: endsAtMs }
}

function describeRun({ script, branchName, output }: Run, { status, startedAtMs, finishedAtMs }: State): object {
  const startedAt = startedAtMs === undefined ? null : isoTime(startedAtMs)
  const run = { status, startedAt, branchName, outputBytes: output?.byteLength }
  if (finishedAtMs === undefined) return run
  return { ...run, finishedAt: isoTime(finishedAtMs), results: { testCases: script.cases ?? [] } }
}

const OUTPUT_LIMIT_BYTES = 262_144

function outputFrom(output: Buffer, from: number): object {
  let next = Math.min(output.length, from + OUTPUT_LIMIT_BYTES)
  // The text ends between two characters.
  while (next > from && ((output[next] ?? 0) & 0xc0) === 0x80) next--
  return { text: output.toString('utf8', from, next), next }
}

function isoTime(epochMs: number): string {
  return new Date(epochMs).toISOString()
}
