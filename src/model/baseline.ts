import { FAILING, RAN, type Run, type TestCase } from './run.ts'

/** A run that finished before this one. At least one of its test cases ran. */
export interface EarlierRun {
  readonly status: Run['status']
  readonly finishedAt?: Date | undefined
  readonly testCases: readonly TestCase[]
}

/** The earlier runs with which reports compare this run, the latest first. There is at least one. */
export type Baseline = readonly [EarlierRun, ...EarlierRun[]]

/** How a test case did in the earlier runs that have it. */
export interface PastOfCase {
  /** Only a failing test case has a mark. */
  readonly mark?: 'new' | 'failed before' | 'unstable' | undefined
  /** In how many earlier runs it failed or was flaky. */
  readonly badRuns: number
  /** How many earlier runs have it. */
  readonly runs: number
}

/** Undefined if no test case ran. Such a run was broken before its tests began, so it says nothing about them. */
export function earlierRun(run: Pick<Run, 'status' | 'testCases' | 'finishedAt'>): EarlierRun | undefined {
  const { status, testCases = [], finishedAt } = run
  return testCases.some(hasRun) ? { status, testCases, finishedAt } : undefined
}

// Two test cases are the same if their titles are equal, and their files too if both have one. So a test case is looked for by these
// keys: with a file, by the title with this file and by the title without a file. Without a file, by the title alone.

const keyOfTitle = ({ title }: Pick<TestCase, 'title'>) => JSON.stringify([title])
const keyWithFile = ({ title, filePath }: Pick<TestCase, 'title' | 'filePath'>) =>
  JSON.stringify([title, filePath ?? null])

const keysOf = (testCase: TestCase) => [keyOfTitle(testCase), keyWithFile(testCase)]

function keysOfSame({ title, filePath }: TestCase): readonly string[] {
  if (filePath === undefined) return [keyOfTitle({ title })]
  return [keyWithFile({ title, filePath }), keyWithFile({ title })]
}

/** How many test cases are the same, how many of them failed, and how many failed or were flaky. */
interface SameCases {
  all: number
  failed: number
  bad: number
}

/** Counts only the test cases with these keys, because the keys of all earlier runs would take much memory. */
class CaseCounter {
  readonly #byKey = new Map<string, SameCases>()
  readonly #keys: ReadonlySet<string>

  constructor(keys: ReadonlySet<string>, testCases: readonly TestCase[] = []) {
    this.#keys = keys
    for (const testCase of testCases) this.add(testCase)
  }

  add(testCase: TestCase): void {
    for (const key of keysOf(testCase)) {
      if (!this.#keys.has(key)) continue
      const same = this.#byKey.get(key) ?? { all: 0, failed: 0, bad: 0 }
      this.#byKey.set(key, same)
      same.all++
      if (isFailing(testCase)) same.failed++
      if (isBad(testCase)) same.bad++
    }
  }

  count(what: keyof SameCases, keys: readonly string[]): number {
    let sum = 0
    for (const key of keys) sum += this.#byKey.get(key)?.[what] ?? 0
    return sum
  }
}

/**
 * How each failing and each flaky case did, and each case that passed now and did not in an earlier run. Cases of one run that are the
 * same are told apart by their number, the failing ones first. If two of them fail now and one failed before, the second is new. For
 * each case, only the earlier runs that have as many count.
 */
export function comparePast(testCases: readonly TestCase[], baseline: Baseline): ReadonlyMap<TestCase, PastOfCase> {
  const everBad = new Set(baseline.flatMap((run) => run.testCases.filter(isBad).flatMap(keysOf)))
  const failingFirst = [isFailing, isFlaky, isPassed].flatMap((isOfKind) => testCases.filter(isOfKind))
  const mayHavePast = new Set(
    failingFirst.filter((testCase) => isBad(testCase) || keysOfSame(testCase).some((key) => everBad.has(key))),
  )
  const keysWithPast = new Set([...mayHavePast].flatMap(keysOfSame))
  const earlierRuns = baseline.map((run) => new CaseCounter(keysWithPast, run.testCases))
  const seen = new CaseCounter(keysWithPast)
  const past = new Map<TestCase, PastOfCase>()
  for (const testCase of failingFirst) {
    seen.add(testCase)
    if (!mayHavePast.has(testCase)) continue
    const keys = keysOfSame(testCase)
    const number = seen.count('all', keys)
    const runs = earlierRuns.filter((run) => run.count('all', keys) >= number)
    const badRuns = runs.filter((run) => run.count('bad', keys) >= number).length
    if (isPassed(testCase) && badRuns === 0) continue
    const hasFailedInLatest = (runs[0]?.count('failed', keys) ?? 0) >= number
    const mark = isFailing(testCase) ? markOf(badRuns, hasFailedInLatest) : undefined
    past.set(testCase, { mark, badRuns, runs: runs.length })
  }
  return past
}

function markOf(badRuns: number, hasFailedInLatest: boolean): PastOfCase['mark'] {
  if (badRuns === 0) return 'new'
  return hasFailedInLatest ? 'failed before' : 'unstable'
}

/** How the test cases of this run differ from those of the latest earlier run that is comparable. */
export interface Comparison {
  readonly added: readonly TestCase[]
  /** Test cases of the earlier run. A test case that was renamed is removed and added. */
  readonly removed: readonly TestCase[]
  /** They are skipped in this run, and ran in the earlier run. */
  readonly newlySkipped: readonly TestCase[]
}

/** Undefined unless both runs finished as PASSED or FAILED, because every other run may lack test cases. */
export function compareTestCases(run: Run | undefined, baseline: Baseline): Comparison | undefined {
  const earlier = baseline.find(isWhole)
  if (run === undefined || !isWhole(run) || earlier === undefined) return undefined
  // A PASSED run without results has no test cases. The test cases of a FAILED run without results are not known.
  const testCases = run.testCases ?? (run.status === 'PASSED' ? [] : undefined)
  return testCases && differences(testCases, earlier.testCases)
}

function isWhole({ status }: Pick<Run, 'status'>): boolean {
  return status === 'PASSED' || status === 'FAILED'
}

function differences(testCases: readonly TestCase[], earlier: readonly TestCase[]): Comparison {
  const partners = pairs(testCases, earlier)
  const paired = new Set(partners.values())
  return {
    added: testCases.filter((testCase) => !partners.has(testCase)),
    removed: earlier.filter((testCase) => !paired.has(testCase)),
    newlySkipped: testCases.filter((testCase) => {
      const before = partners.get(testCase)
      return testCase.kind === 'skipped' && before !== undefined && hasRun(before)
    }),
  }
}

/**
 * The test cases of both runs that are the same, each of them once. Those with the same file come first, and of several that are the
 * same, those that ran. So a test case that is skipped in both runs is not taken for another one that ran.
 */
function pairs(testCases: readonly TestCase[], earlier: readonly TestCase[]): ReadonlyMap<TestCase, TestCase> {
  const now = ranFirst(testCases)
  const before = ranFirst(earlier)
  const partners = new Map<TestCase, TestCase>()
  const taken = new Set<TestCase>()
  const pairBy = (key: (testCase: TestCase) => string, ofNow: readonly TestCase[], ofBefore: readonly TestCase[]) => {
    // Reversed, because `pop` takes the last test case of a key, and `shift` would move all others.
    const free = ofBefore.filter((testCase) => !taken.has(testCase)).reverse()
    const freeByKey = Map.groupBy(free, key)
    for (const testCase of ofNow) {
      if (partners.has(testCase)) continue
      const partner = freeByKey.get(key(testCase))?.pop()
      if (partner === undefined) continue
      partners.set(testCase, partner)
      taken.add(partner)
    }
  }
  const hasNoFile = ({ filePath }: TestCase) => filePath === undefined
  pairBy(keyWithFile, now, before)
  pairBy(keyOfTitle, now.filter(hasNoFile), before)
  pairBy(keyOfTitle, now, before.filter(hasNoFile))
  return partners
}

function ranFirst(testCases: readonly TestCase[]): readonly TestCase[] {
  return [...testCases.filter(hasRun), ...testCases.filter((testCase) => !hasRun(testCase))]
}

function hasRun({ kind }: TestCase): boolean {
  return RAN.includes(kind)
}

function isFailing({ kind }: TestCase): boolean {
  return FAILING.includes(kind)
}

/** Whether it failed or was flaky. */
function isBad(testCase: TestCase): boolean {
  return isFailing(testCase) || isFlaky(testCase)
}

function isFlaky({ kind }: TestCase): boolean {
  return kind === 'flaky'
}

function isPassed({ kind }: TestCase): boolean {
  return kind === 'passed'
}
