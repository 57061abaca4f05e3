import { randomUUID } from 'node:crypto'
import { UsageError } from '../invocation.ts'
import { quote } from '../text.ts'
import type { Exchange } from './client.ts'
import { isAccepted, jsonOf } from './inspect.ts'
import {
  createSession,
  isCancelled,
  isFinished,
  isNot,
  isNotAccepted,
  isNotRefused,
  type Limits,
  type Report,
  type Run,
  type Session,
  type Target,
} from './session.ts'

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
  const session = createSession(target, limits, signal, warn)
  try {
    await checkRefusals(session)
    await checkRuns(session, await startRuns(session))
    if (target.suite !== undefined) await checkSuite(session, target.suite)
  } finally {
    await session.cancelUnfinished()
  }
  return session.report()
}

async function checkRefusals({ send, verify, note, sendCancel, startPath, ...session }: Session): Promise<void> {
  const unknown = await send('GET', [...startPath, randomUUID()])
  if (unknown.failure !== undefined) throw new UsageError(`The service cannot be reached: ${unknown.failure}.`)
  if (unknown.response?.status === 401) throw new UsageError('The service refuses the key with 401.')
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
  await session.sendWithoutKey('POST', startPath, {})
}

/** Returns the runs that were started; the first may finish. */
async function startRuns({ target, start, verify, note }: Session): Promise<Run[]> {
  const least = await start({})
  if (least.made.response?.status === 404) throw new UsageError(`There is no project ${quote(target.project)}.`)
  verify('start-least', least.made, isNotAccepted)

  const { environment, frameworkProject: frameworkProjectName } = target
  const deprecated = deprecatedFields(target)
  const branch = typeof least.run?.branchName === 'string' ? least.run.branchName : undefined
  const fields = { environment, frameworkProjectName, envOverrides: { CHECK: '1' }, autofix: false, branch }
  const all = await start({ ...fields, ...deprecated })
  const isComplete = !Object.values(fields).includes(undefined)
  if (isComplete || !isAccepted(all.made)) verify('start-fields', all.made, isNotAccepted)
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

async function checkRuns(session: Session, [first, ...others]: Run[]): Promise<void> {
  if (first === undefined) return
  const { verdicts, startPath, send, verify, note, sendCancel, sendWithoutKey, readUntil, cancel } = session
  await sendWithoutKey('GET', [...startPath, first.id])
  await sendWithoutKey('POST', [...startPath, 'cancel'], { where: { runId: first.id } })
  const elsewhere = ['v1', 'projects', randomUUID(), 'runs']
  verify('project-unknown', await send('GET', [...elsewhere, first.id]), isNot(404))
  verify('cancel-unknown', await sendCancel(first.id, elsewhere), isCancelled)
  const started = await send('POST', elsewhere, { body: {} })
  note('A start in a project that does not exist', started.response?.status)

  // The last ones are the most likely to be QUEUED still; one should be cancelled while RUNNING.
  for (const run of others.toReversed()) {
    const mustRun = run === others[0] && !verdicts.isObserved('cancel-running')
    await readUntil(run, () => !mustRun || run.status !== 'QUEUED')
    if (!isFinished(run)) await cancel(run)
  }
  await readUntil(first, () => isFinished(first))
  if (!isFinished(first)) return cancel(first)
  const late = await sendCancel(first.id)
  verify('cancel-finished', late, isCancelled)
  note('A cancel of a finished run', late.response?.status)
}

async function checkSuite(session: Session, suite: string): Promise<void> {
  const { send, verify, sendWithoutKey, poll, warn } = session
  const pathsOf = (id: string) => ['status', 'result'].map((what) => ['v1', 'testSuiteRun', id, what])
  for (const path of pathsOf(randomUUID())) verify('suite-unknown', await send('GET', path), isNot(404))
  const path = ['v1', 'testSuite', suite, 'run']
  await sendWithoutKey('POST', path, {})
  const started = await send('POST', path, { body: {} })
  verify('suite-start', started, isNotAccepted)
  const { testSuiteRunId: id } = jsonOf(started)
  if (!isAccepted(started) || typeof id !== 'string') return
  warn(`The run of the test suite is ${JSON.stringify(id)}.`)
  const [statusPath = [], resultPath = []] = pathsOf(id)
  for (const read of [statusPath, resultPath]) await sendWithoutKey('GET', read)
  const hasFinished = (made: Exchange) => jsonOf(made).status === 'FINISHED'
  const last = await poll('suite-status', () => send('GET', statusPath), hasFinished)
  if (hasFinished(last)) verify('suite-result', await send('GET', resultPath), isNotAccepted)
}

function deprecatedFields({ environment: environmentName, frameworkProject: runGroupName }: Target) {
  return { ...(environmentName && { environmentName }), ...(runGroupName && { runGroupName }) }
}

/** One of the characters takes two UTF-16 units, and counts once. */
function branchOf(characters: number): string {
  return '🐙'.padEnd(characters + 1, 'a')
}
