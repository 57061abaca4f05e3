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

/** Counts test cases. Two are the same if their titles are equal, and their files too if both have one. */
class CaseCounter {
  readonly #byTitle = new Map<string, number>()
  readonly #byFile = new Map<string, number>()

  constructor(testCases: readonly TestCase[] = []) {
    for (const testCase of testCases) this.add(testCase)
  }

  add({ title, filePath }: TestCase): void {
    const key = keyOf(title, filePath)
    this.#byTitle.set(String(title), (this.#byTitle.get(String(title)) ?? 0) + 1)
    this.#byFile.set(key, (this.#byFile.get(key) ?? 0) + 1)
  }

  countSame({ title, filePath }: TestCase): number {
    if (filePath === undefined) return this.#byTitle.get(String(title)) ?? 0
    return (this.#byFile.get(keyOf(title, filePath)) ?? 0) + (this.#byFile.get(keyOf(title)) ?? 0)
  }
}

/** The length of the title makes the key unique, because a title may contain any character. */
function keyOf(title: TestCase['title'], filePath?: TestCase['filePath']): string {
  return `${String(title).length} ${title}${filePath ?? ''}`
}

/**
 * How each failing and each flaky case did, and each case that passed now and did not in an earlier run. Cases of one run that are the
 * same are told apart by their number, the failing ones first. If two of them fail now and one failed before, the second is new. For
 * each case, only the earlier runs that have as many count.
 */
export function comparePast(testCases: readonly TestCase[], baseline: Baseline): ReadonlyMap<TestCase, PastOfCase> {
  const isBad = (testCase: TestCase) => isFailing(testCase) || isFlaky(testCase)
  const bad = [...testCases, ...baseline.flatMap((run) => run.testCases)].filter(isBad)
  const titles = new Set(bad.map(({ title }) => String(title)))
  const passed = testCases.filter(({ title, kind }) => kind === 'passed' && titles.has(String(title)))
  const runs = baseline.map((run) => {
    const known = run.testCases.filter(({ title }) => titles.has(String(title)))
    const failed = known.filter(isFailing)
    return {
      all: new CaseCounter(known),
      failed: new CaseCounter(failed),
      failedOrFlaky: new CaseCounter([...failed, ...known.filter(isFlaky)]),
    }
  })
  const seen = new CaseCounter()
  const past = new Map<TestCase, PastOfCase>()
  for (const testCase of [...testCases.filter(isFailing), ...testCases.filter(isFlaky), ...passed]) {
    seen.add(testCase)
    const number = seen.countSame(testCase)
    const having = runs.filter(({ all }) => all.countSame(testCase) >= number)
    const badRuns = having.filter(({ failedOrFlaky }) => failedOrFlaky.countSame(testCase) >= number).length
    const hasFailedBefore = (having[0]?.failed.countSame(testCase) ?? 0) >= number
    if (testCase.kind === 'passed' && badRuns === 0) continue
    const mark = badRuns === 0 ? 'new' : hasFailedBefore ? 'failed before' : 'unstable'
    past.set(testCase, { mark: isFailing(testCase) ? mark : undefined, badRuns, runs: having.length })
  }
  return past
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
  const partners = new Map<TestCase, TestCase>()
  const taken = new Set<TestCase>()
  const pairBy = (
    key: (testCase: TestCase) => string,
    isOfThisRun: (testCase: TestCase) => boolean,
    isEarlier: (testCase: TestCase) => boolean,
  ) => {
    const free = earlier.filter((testCase) => !taken.has(testCase) && isEarlier(testCase))
    const freeByKey = Map.groupBy(ranFirst(free).reverse(), key)
    for (const testCase of ranFirst(testCases.filter((one) => !partners.has(one) && isOfThisRun(one)))) {
      const partner = freeByKey.get(key(testCase))?.pop()
      if (partner === undefined) continue
      partners.set(testCase, partner)
      taken.add(partner)
    }
  }
  const any = () => true
  const hasNoFile = ({ filePath }: TestCase) => filePath === undefined
  pairBy(({ title, filePath }) => keyOf(title, filePath), any, any)
  pairBy(({ title }) => String(title), hasNoFile, any)
  pairBy(({ title }) => String(title), any, hasNoFile)
  return partners
}

function ranFirst(testCases: readonly TestCase[]): TestCase[] {
  return [...testCases.filter(hasRun), ...testCases.filter((testCase) => !hasRun(testCase))]
}

function hasRun({ kind }: TestCase): boolean {
  return RAN.includes(kind)
}

function isFailing({ kind }: TestCase): boolean {
  return FAILING.includes(kind)
}

function isFlaky({ kind }: TestCase): boolean {
  return kind === 'flaky'
}
