import { rawText, type Untrusted } from '../text/untrusted.ts'

export const RUN_STATUSES = ['QUEUED', 'RUNNING', 'PASSED', 'FAILED', 'TIMEDOUT', 'CANCELLED', 'INTERRUPTED'] as const

type RunStatus = (typeof RUN_STATUSES)[number]

export const RUN_ID_RULE = '1 to 256 of these characters: letters, digits and `. _ ~ : = + / @ -`'

/** Whether outputs, paths and main's file can safely contain this id. URL parsing would collapse `.` and `..`. */
export function isUsableRunId(runId: string): boolean {
  return /^[A-Za-z0-9._~:=+/@-]{1,256}$/.test(runId) && runId !== '.' && runId !== '..'
}

export const BRANCH_LIMIT_CHARS = 255

export interface StartParameters {
  readonly branch?: string | undefined
  readonly environment?: string | undefined
  readonly frameworkProject?: string | undefined
  readonly envOverrides?: Readonly<Record<string, string>> | undefined
  readonly autofix?: boolean | undefined
}

/** Whose tests the step runs. `id` is the id at the service. */
export interface Target {
  readonly kind: 'project' | 'test-suite'
  readonly id: string
}

/** The kinds of test cases, in the order of pages, and how each kind counts. */
const COUNTS_AS = {
  failed: 'failed',
  'timed-out': 'failed',
  interrupted: 'failed',
  /** The status is missing, or this version does not know it. Such a case counts as not run. */
  other: 'other',
  flaky: 'passed',
  skipped: 'skipped',
  passed: 'passed',
} as const

export type CaseKind = keyof typeof COUNTS_AS

export const CASE_KINDS = Object.keys(COUNTS_AS) as readonly CaseKind[]

export interface TestCase {
  readonly title: Untrusted
  /** The status as the service sent it. Empty if it sent none. */
  readonly rawStatus: Untrusted
  readonly kind: CaseKind
  /** Absent if the service sent no usable duration. The interface for test suites documents none. */
  readonly durationMs?: number | undefined
  /** Why the case failed, or was skipped. It may have several lines. Absent if the case passed at the first try. */
  readonly message?: Untrusted | undefined
  /** The file of the case, whatever its status. It is relative to the root of the repository, and all its characters are visible. */
  readonly filePath?: Untrusted | undefined
  /** The line of the failure in this file. Absent if the case was skipped, or passed at the first try. */
  readonly line?: number | undefined
}

export interface Run {
  /** `UNKNOWN` means that this version does not know the status in `rawStatus`. */
  readonly status: RunStatus | 'UNKNOWN'
  readonly rawStatus: Untrusted
  readonly startedAt?: Date | undefined
  readonly finishedAt?: Date | undefined
  readonly branchName?: Untrusted | undefined
  /** Why the run as a whole did not pass. Absent if it passed, or has not finished. */
  readonly message?: Untrusted | undefined
  /** Where an error outside the tests happened. */
  readonly filePath?: Untrusted | undefined
  readonly line?: number | undefined
  /** Absent if the service sent no usable results, or an empty list before the run has finished. */
  readonly testCases?: readonly TestCase[] | undefined
  /** How far the run is. Absent if it has finished, or if the service does not say it. */
  readonly progress?: Progress | undefined
  /** How many bytes of output the tests have written. Absent if the service does not offer the output. */
  readonly outputBytes?: number | undefined
  /** The service's whole response, for `results.json`. It may be present without `testCases`. */
  readonly responseText?: Untrusted | undefined
}

/** Numbers of test cases. Each number may be absent. `passed` counts flaky cases too. */
export type Progress = Readonly<Record<'total' | 'passed' | 'failed' | 'skipped', number | undefined>>

/** A status that this version does not know is final if the run has a usable finishing time. */
export function isFinished({ status, finishedAt }: Run): boolean {
  return status === 'UNKNOWN' ? finishedAt !== undefined : status !== 'QUEUED' && status !== 'RUNNING'
}

export function runDurationMs(run: Run): number | undefined {
  if (run.startedAt === undefined || run.finishedAt === undefined) return undefined
  const ms = run.finishedAt.getTime() - run.startedAt.getTime()
  return ms >= 0 ? ms : undefined
}

/** `refs/heads/main` is the branch `main`. The hash of a commit is the same in upper and in lower case. */
export function isSameBranch(one: string | Untrusted, other: string): boolean {
  const nameOf = (branch: string | Untrusted) =>
    isCommit(branch) ? rawText(branch).toLowerCase() : rawText(branch).replace(/^refs\/heads\//, '')
  return nameOf(one) === nameOf(other)
}

/** Whether a branch is a commit, named by its full hash, as with the local service. */
export function isCommit(branch: string | Untrusted): boolean {
  return /^[\da-f]{40}$/i.test(rawText(branch))
}

const KIND_OF_STATUS: ReadonlyMap<string, CaseKind> = new Map([
  ['PASSED', 'passed'],
  ['FLAKY', 'flaky'],
  ['FAILED', 'failed'],
  ['ERROR', 'failed'],
  ['TIMEDOUT', 'timed-out'],
  ['INTERRUPTED', 'interrupted'],
  ['SKIPPED', 'skipped'],
])

export function kindOf(rawStatus: string): CaseKind {
  return KIND_OF_STATUS.get(rawStatus) ?? 'other'
}

type OfKind = Pick<TestCase, 'kind'>

export function countsAs({ kind }: OfKind): 'passed' | 'failed' | 'skipped' | 'other' {
  return COUNTS_AS[kind]
}

export function isFailing(testCase: OfKind): boolean {
  return countsAs(testCase) === 'failed'
}

export function hasRun(testCase: OfKind): boolean {
  return isFailing(testCase) || countsAs(testCase) === 'passed'
}

/** Whether pages list the case among those that did not pass. Flaky and skipped cases have parts of their own. */
export function isFailingOrOther(testCase: OfKind): boolean {
  return isFailing(testCase) || testCase.kind === 'other'
}

/** Whether reports show why and where the case failed. They do unless it was skipped, or passed at the first try. */
export function showsReason({ kind }: OfKind): boolean {
  return kind !== 'passed' && kind !== 'skipped'
}

/** Each test case is in one of `passed`, `failed`, `skipped` and `other`. */
export interface Counts {
  readonly total: number
  readonly passed: number
  /** How many of `passed` are flaky. */
  readonly flaky: number
  readonly failed: number
  /** How many of `failed` timed out. */
  readonly timedOut: number
  /** How many of `failed` were interrupted. */
  readonly interrupted: number
  readonly skipped: number
  readonly other: number
}

export function countTestCases(testCases: readonly TestCase[]): Counts {
  const counts = { passed: 0, failed: 0, skipped: 0, other: 0 }
  for (const testCase of testCases) counts[countsAs(testCase)]++
  const numberOf = (wanted: CaseKind) => testCases.filter(({ kind }) => kind === wanted).length
  return {
    ...counts,
    total: testCases.length,
    flaky: numberOf('flaky'),
    timedOut: numberOf('timed-out'),
    interrupted: numberOf('interrupted'),
  }
}
