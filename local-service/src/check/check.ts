import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { type Exchange, exchange, type Request } from './client.ts'
import { cancelledIn, inspect, isAccepted, isReadable, jsonOf, testCasesIn } from './inspect.ts'
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

/** The check cannot begin; the message is for a person. */
export class CannotCheck extends Error {}

type Path = readonly string[]

interface Run {
  readonly id: string
  /** Of its start. */
  readonly path: Path
  /** That the start named. */
  readonly branch: unknown
  /** Those that were seen, one after another. */
  readonly statuses: string[]
  branchName?: unknown
}

const ATTEMPTS = 3
const LONGEST_PUT_OFF_MS = 60_000

/** How many runs of the project are started, if the service refuses what it has to refuse. */
export function countRuns(target: Target): number {
  return Object.keys(deprecatedFields(target)).length > 0 ? 5 : 4
}

/** Makes as few exchanges as show the rules. Whatever ends it, it cancels the runs that it started, and no others. */
export async function checkService(
  target: Target,
  limits: Limits,
  signal: AbortSignal,
  warn: (line: string) => void,
): Promise<Report> {
  const verdicts = createVerdicts()
  const notes = new Map<string, Set<unknown>>()
  const runs: Run[] = []
  let suiteRun: string | undefined
  let isCleaningUp = false

  async function send(method: 'GET' | 'POST', path: Path, request: Request = {}): Promise<Exchange> {
    for (let attempt = 1; ; attempt++) {
      // What is in flight is awaited: the id of a run is in its response.
      if (!isCleaningUp) signal.throwIfAborted()
      const made = await exchange(target, method, path, request)
      if (made.operation.operationId === 'startRun') {
        const { runId } = jsonOf(made)
        const isId = isAccepted(made) && (typeof runId === 'string' || typeof runId === 'number')
        if (isId) runs.push({ id: String(runId), path, branch: request.body?.branch, statuses: [] })
        if (made.failure !== undefined) warn('The response to a start was lost. Look for its run at the service.')
      }
      if (!isCleaningUp) inspect(made, verdicts.observe)
      if (made.response?.status !== 429 || attempt === ATTEMPTS) return made
      const putOffMs = Number(made.response.headers.get('retry-after')) * 1000
      await pause(putOffMs >= 0 ? Math.min(putOffMs, LONGEST_PUT_OFF_MS) : limits.pollMs)
    }
  }

  /** A response that no client can read breaks another rule. */
  function verify(id: RuleId, made: Exchange, problemOf: (made: Exchange) => Problem): void {
    if (!isCleaningUp && isReadable(made)) verdicts.observe(id, made, problemOf(made))
  }

  function note(question: string, answer: unknown): void {
    notes.set(question, (notes.get(question) ?? new Set()).add(answer))
  }

  function pause(ms = limits.pollMs): Promise<void> {
    return delay(ms, undefined, isCleaningUp ? {} : { signal })
  }

  const startPath = ['v1', 'projects', target.project, 'runs']
  const elsewhere = ['v1', 'projects', randomUUID(), 'runs']
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
    if (typeof status === 'string' && statusOf(run) !== status) run.statuses.push(status)
    run.branchName = branchName
    if (run.branch !== undefined && typeof branchName === 'string') {
      const isOther = branchName.replace(/^refs\/heads\//, '') !== run.branch
      verify('run-branch', made, () => isOther && `it is ${JSON.stringify(branchName)}`)
    }
    for (const testCase of testCasesIn(made)) note('Statuses of test cases', testCase.status)
    return made
  }

  async function readUntil(run: Run, isReached: (run: Run) => boolean, limitMs: number): Promise<Exchange> {
    const endsAtMs = performance.now() + limitMs
    for (;;) {
      const made = await read(run)
      verify('run-read', made, isNotAccepted)
      if (isReached(run) || performance.now() >= endsAtMs) return made
      await pause()
    }
  }

  async function cancel(run: Run): Promise<void> {
    const before = statusOf(run)
    const made = await sendCancel(run.id)
    const isConfirmed = cancelledIn(made).includes(run.id)
    const last = await readUntil(run, isConfirmed ? isFinished : () => true, limits.cancelMs)
    if (isConfirmed && isAccepted(last)) verify('cancel-ends', last, () => !isFinished(run) && `it is ${statusOf(run)}`)
    // A run that finished by itself in the meantime shows nothing.
    if (!isConfirmed && isFinished(run) && statusOf(run) !== 'CANCELLED') return
    const id = ({ QUEUED: 'cancel-queued', RUNNING: 'cancel-running' } as const)[before ?? '']
    if (id) verify(id, made, () => isNotAccepted(made) || (!isConfirmed && 'the run is not in "cancelled"'))
  }

  async function sendWithoutKey(method: 'GET' | 'POST', path: Path, body?: Request['body']): Promise<void> {
    verify('key-missing', await send(method, path, { body, authorization: null }), isNot(401))
    verify('key-invalid', await send(method, path, { body, authorization: `Bearer ${randomUUID()}` }), isNot(401))
    verify('key-scheme', await send(method, path, { body, authorization: `Basic ${target.key}` }), isNot(401))
  }

  async function checkRefusals(): Promise<void> {
    const unknown = await send('GET', [...startPath, randomUUID()])
    if (unknown.failure !== undefined) throw new CannotCheck(`The service cannot be reached: ${unknown.failure}.`)
    if (unknown.response?.status === 401) throw new CannotCheck('The service refuses the key with 401.')
    verify('run-unknown', unknown, isNot(404))
    const cancelled = await sendCancel(randomUUID())
    verify('cancel-unknown', cancelled, isCancelled)
    note('A cancel of a run that does not exist', cancelled.response?.status)
    const refused = [
      ['branch-empty', 'An empty branch', { body: { branch: '' } }],
      ['branch-too-long', 'A branch that is too long', { body: { branch: branchOf(256) } }],
      ['not-json', 'A body that is not JSON', { rawBody: '{' }],
    ] as const
    for (const [id, what, request] of refused) {
      const made = await send('POST', startPath, request)
      verify(id, made, isNotRefused)
      note(what, made.response?.status)
    }
    await sendWithoutKey('POST', startPath, {})
  }

  async function startRuns(): Promise<Run[]> {
    const least = await start({})
    if (least.made.response?.status === 404)
      throw new CannotCheck(`There is no project ${JSON.stringify(target.project)}.`)
    verify('start-least', least.made, isNotAccepted)

    const { environment, frameworkProject: frameworkProjectName } = target
    const deprecated = deprecatedFields(target)
    const branch = typeof least.run?.branchName === 'string' ? least.run.branchName : undefined
    const fields = { environment, frameworkProjectName, envOverrides: { CHECK: '1' }, autofix: false, branch }
    const all = await start({ ...fields, ...deprecated })
    if (!Object.values(fields).includes(undefined) || !isAccepted(all.made)) {
      verify('start-fields', all.made, isNotAccepted)
    }
    const old = Object.keys(deprecated).length > 0 ? await start(deprecated) : undefined
    if (old !== undefined) verify('start-deprecated', old.made, isNotAccepted)

    const shortest = await start({ branch: branchOf(1) })
    const longest = await start({ branch: branchOf(255) })
    // A service may refuse a branch that it does not know. If it accepts one of the two, it refuses the other's length.
    const isEither = isAccepted(shortest.made) || isAccepted(longest.made)
    for (const [id, { made }] of [['branch-shortest', shortest] as const, ['branch-longest', longest] as const]) {
      if (isEither || isNotRefused(made)) verify(id, made, isNotAccepted)
      note('A start with a branch that may not exist', made.response?.status)
    }
    return [least, all, old, shortest, longest].flatMap((started) => started?.run ?? [])
  }

  async function checkRuns([first, ...others]: Run[]): Promise<void> {
    if (first === undefined) return
    await sendWithoutKey('GET', [...startPath, first.id])
    await sendWithoutKey('POST', [...startPath, 'cancel'], { where: { runId: first.id } })
    verify('project-unknown', await send('GET', [...elsewhere, first.id]), isNot(404))
    verify('cancel-unknown', await sendCancel(first.id, elsewhere), isCancelled)
    const started = await send('POST', elsewhere, { body: {} })
    note('A start in a project that does not exist', started.response?.status)

    // The last ones are the most likely to be QUEUED still; one should be cancelled while RUNNING.
    for (const run of others.toReversed()) {
      const mustRun = run === others[0] && !verdicts.isObserved('cancel-running')
      await readUntil(run, () => !mustRun || statusOf(run) !== 'QUEUED', limits.finishMs)
      if (!isFinished(run)) await cancel(run)
    }
    await readUntil(first, isFinished, limits.finishMs)
    if (!isFinished(first)) await cancel(first)
    for (const { statuses } of [first, ...others]) note('Statuses of a run', statuses.join(' → '))
    if (!isFinished(first)) return
    const late = await sendCancel(first.id)
    verify('cancel-finished', late, isCancelled)
    note('A cancel of a finished run', late.response?.status)
  }

  async function checkSuite(suite: string): Promise<void> {
    const pathsOf = (id: string) => ['status', 'result'].map((what) => ['v1', 'testSuiteRun', id, what])
    for (const path of pathsOf(randomUUID())) verify('suite-unknown', await send('GET', path), isNot(404))
    const path = ['v1', 'testSuite', suite, 'run']
    await sendWithoutKey('POST', path, {})
    const started = await send('POST', path, { body: {} })
    verify('suite-start', started, isNotAccepted)
    const { testSuiteRunId } = jsonOf(started)
    if (!isAccepted(started) || typeof testSuiteRunId !== 'string') return
    suiteRun = testSuiteRunId
    const [statusPath = [], resultPath = []] = pathsOf(testSuiteRunId)
    for (const read of [statusPath, resultPath]) await sendWithoutKey('GET', read)
    const endsAtMs = performance.now() + limits.finishMs
    for (;;) {
      const made = await send('GET', statusPath)
      verify('suite-status', made, isNotAccepted)
      if (jsonOf(made).status === 'FINISHED') break
      if (performance.now() >= endsAtMs) return
      await pause()
    }
    suiteRun = undefined
    verify('suite-result', await send('GET', resultPath), isNotAccepted)
  }

  async function cancelUnfinished(): Promise<void> {
    isCleaningUp = true
    const unfinished = () => runs.filter((run) => !isFinished(run))
    const stop = async (run: Run) => {
      if (cancelledIn(await sendCancel(run.id, run.path)).includes(run.id)) run.statuses.push('CANCELLED')
      else await read(run)
    }
    for (let attempt = 1; unfinished().length > 0 && attempt <= ATTEMPTS; attempt++) {
      if (attempt > 1) await pause()
      await Promise.all(unfinished().map(stop))
    }
    for (const { id } of unfinished())
      warn(`Run ${JSON.stringify(id)} could not be cancelled. Cancel it at the service.`)
    if (suiteRun !== undefined) warn(`Run ${JSON.stringify(suiteRun)} of the test suite goes on.`)
  }

  try {
    await checkRefusals()
    await checkRuns(await startRuns())
    if (target.suite !== undefined) await checkSuite(target.suite)
  } finally {
    await cancelUnfinished()
  }
  return {
    rules: verdicts.results(),
    notes: [...notes].map(([question, answers]) => `${question}: ${[...answers].join(', ')}.`),
  }
}

function isNot(expected: number) {
  return ({ response }: Exchange) =>
    response?.status !== expected && `expected status ${expected}, got ${response?.status}`
}

function isNotAccepted(made: Exchange): Problem {
  return !isAccepted(made) && isNot(200)(made)
}

function isNotRefused({ response }: Exchange): Problem {
  const status = response?.status ?? 0
  return (status < 400 || status > 499) && `expected a status from 400 to 499, got ${status}`
}

/** Refused, or nothing listed: the document leaves open which of them. */
function isCancelled(made: Exchange): Problem {
  return isAccepted(made) ? cancelledIn(made).length > 0 && 'a run is in "cancelled"' : isNotRefused(made)
}

function statusOf({ statuses }: Run): string | undefined {
  return statuses.at(-1)
}

function isFinished(run: Run): boolean {
  return !['QUEUED', 'RUNNING', undefined].includes(statusOf(run))
}

function deprecatedFields({ environment: environmentName, frameworkProject: runGroupName }: Target) {
  return { ...(environmentName && { environmentName }), ...(runGroupName && { runGroupName }) }
}

/** One of the characters takes two UTF-16 units, and counts once. */
function branchOf(characters: number): string {
  return '🐙'.padEnd(characters + 1, 'a')
}
