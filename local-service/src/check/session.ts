import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { type Exchange, exchange, type Request } from './client.ts'
import { cancelledIn, inspect, isAccepted, isReadable, jsonOf, testCasesIn } from './inspect.ts'
import { resolve } from './openapi.ts'
import { createVerdicts, type Problem, type RuleId, type RuleResult } from './rules.ts'

export interface Target {
  readonly url: URL
  readonly key: string
  readonly project: string
  readonly suite?: string | undefined
  readonly environment?: string | undefined
  readonly frameworkProject?: string | undefined
}

export interface Limits {
  /** How long a run may take to finish by itself, and after a cancel. */
  readonly finishMs: number
  readonly cancelMs: number
  readonly pollMs: number
}

export interface Report {
  readonly rules: readonly RuleResult[]
  /** What the service does where the document leaves it open. */
  readonly notes: readonly string[]
}

type Path = readonly string[]

/** A run that this check has started. No other one is ever read or cancelled. */
export interface Run {
  readonly id: string
  readonly path: Path
  readonly branch: unknown
  /** As they were last seen. */
  status?: string
  branchName?: unknown
}

/** A service that limits rates may refuse some. */
const CANCEL_ATTEMPTS = 10

export type Session = ReturnType<typeof createSession>

/** Makes the exchanges of one check, and keeps what they show and the runs that they started. */
export function createSession(target: Target, limits: Limits, signal: AbortSignal, warn: (line: string) => void) {
  const verdicts = createVerdicts()
  const notes = new Map<string, Set<unknown>>()
  const runs: Run[] = []
  const startPath = ['v1', 'projects', target.project, 'runs']
  let isCleaningUp = false

  async function send(method: 'GET' | 'POST', path: Path, request: Request = {}): Promise<Exchange> {
    // What is in flight is awaited: the id of a run is in its response.
    if (!isCleaningUp) signal.throwIfAborted()
    const made = await exchange(target, method, path, request)
    if (made.operation.operationId === 'startRun') {
      const { runId } = jsonOf(made)
      const isId = isAccepted(made) && (typeof runId === 'string' || typeof runId === 'number')
      if (isId) runs.push({ id: String(runId), path, branch: request.body?.branch })
      if (made.failure !== undefined) warn('The response to a start was lost. Look for its run at the service.')
    }
    if (!isCleaningUp) inspect(made, verdicts.observe)
    return made
  }

  /** A response that no client can read breaks another rule. */
  function verify(id: RuleId, made: Exchange, problemOf: (made: Exchange) => Problem): void {
    if (!isCleaningUp && isReadable(made)) verdicts.observe(id, made, problemOf(made))
  }

  function note(question: string, answer: unknown): void {
    notes.set(question, (notes.get(question) ?? new Set()).add(answer))
  }

  function pause(): Promise<void> {
    return delay(limits.pollMs, undefined, isCleaningUp ? {} : { signal })
  }

  const sendCancel = (runId: string, path: Path = startPath) =>
    send('POST', [...path, 'cancel'], { body: { where: { runId } } })

  async function start(body: Readonly<Record<string, unknown>>) {
    const index = runs.length
    const made = await send('POST', startPath, { body })
    const run = runs[index]
    if (run !== undefined) verify('read-at-once', await read(run), isNotAccepted)
    return { made, run }
  }

  async function read(run: Run): Promise<Exchange> {
    const made = await send('GET', [...run.path, run.id])
    const { status, branchName } = jsonOf(made)
    if (!isReadable(made) || !isAccepted(made)) return made
    if (typeof status === 'string') run.status = status
    run.branchName = branchName
    note('Statuses of a run', status)
    if (run.branch !== undefined && typeof branchName === 'string') {
      const isOther = branchName.replace(/^refs\/heads\//, '') !== run.branch
      verify('run-branch', made, () => isOther && `it is ${JSON.stringify(branchName)}`)
    }
    for (const testCase of testCasesIn(made)) note('Statuses of test cases', testCase.status)
    return made
  }

  /** Repeats a request until it has shown something, or its time is over. */
  async function poll(
    id: RuleId,
    request: () => Promise<Exchange>,
    isLast: (made: Exchange) => boolean,
    limitMs = limits.finishMs,
  ): Promise<Exchange> {
    const endsAtMs = performance.now() + limitMs
    for (;;) {
      const made = await request()
      verify(id, made, isNotAccepted)
      if (isLast(made) || performance.now() >= endsAtMs) return made
      await pause()
    }
  }

  const readUntil = (run: Run, isReached: () => boolean, limitMs?: number) =>
    poll('run-read', () => read(run), isReached, limitMs)

  async function cancel(run: Run): Promise<void> {
    const before = run.status ?? ''
    const made = await sendCancel(run.id)
    const isConfirmed = cancelledIn(made).includes(run.id)
    const last = await readUntil(run, () => !isConfirmed || isFinished(run), limits.cancelMs)
    if (isConfirmed && isAccepted(last)) verify('cancel-ends', last, () => !isFinished(run) && `it is ${run.status}`)
    // A run that finished by itself in the meantime shows nothing.
    if (!isConfirmed && isFinished(run) && run.status !== 'CANCELLED') return
    const id = ({ QUEUED: 'cancel-queued', RUNNING: 'cancel-running' } as const)[before]
    if (id) verify(id, made, () => isNotAccepted(made) || (!isConfirmed && 'the run is not in "cancelled"'))
  }

  async function sendWithoutKey(method: 'GET' | 'POST', path: Path, body?: Request['body']): Promise<void> {
    verify('key-missing', await send(method, path, { body, authorization: null }), isNot(401))
    verify('key-invalid', await send(method, path, { body, authorization: `Bearer ${randomUUID()}` }), isNot(401))
    verify('key-scheme', await send(method, path, { body, authorization: `Basic ${target.key}` }), isNot(401))
  }

  async function cancelUnfinished(): Promise<void> {
    isCleaningUp = true
    const unfinished = () => runs.filter((run) => !isFinished(run))
    const stop = async (run: Run) => {
      if (cancelledIn(await sendCancel(run.id, run.path)).includes(run.id)) run.status = 'CANCELLED'
      else await read(run)
    }
    for (let attempt = 1; unfinished().length > 0 && attempt <= CANCEL_ATTEMPTS; attempt++) {
      if (attempt > 1) await pause()
      await Promise.all(unfinished().map(stop))
    }
    for (const { id } of unfinished())
      warn(`Run ${JSON.stringify(id)} could not be cancelled. Cancel it at the service.`)
  }

  function report(): Report {
    const answered = [...notes].map(([question, answers]) => `${question}: ${[...answers].join(', ')}.`)
    return { rules: verdicts.results(), notes: answered }
  }

  const requests = { send, sendWithoutKey, sendCancel, start, poll, readUntil, cancel, cancelUnfinished }
  return { target, startPath, verdicts, verify, note, report, warn, ...requests }
}

export function isNot(expected: number) {
  return ({ response }: Exchange) =>
    response?.status !== expected && `expected status ${expected}, got ${response?.status}`
}

export function isNotAccepted(made: Exchange): Problem {
  return !isAccepted(made) && isNot(200)(made)
}

export function isNotRefused({ response }: Exchange): Problem {
  const status = response?.status ?? 0
  return (status < 400 || status > 499) && `expected a status from 400 to 499, got ${status}`
}

/** Refused, or nothing listed: the document leaves open which of them. */
export function isCancelled(made: Exchange): Problem {
  return isAccepted(made) ? cancelledIn(made).length > 0 && 'a run is in "cancelled"' : isNotRefused(made)
}

const { enum: STATUSES } = resolve<{ enum: readonly string[] }>({ $ref: '#/components/schemas/RunStatus' })

/** A status that the document does not have may be that of a run that goes on. */
export function isFinished({ status = '' }: Run): boolean {
  return STATUSES.includes(status) && status !== 'QUEUED' && status !== 'RUNNING'
}
