import { FAILING, RAN, type Run, type TestCase } from './run.ts'

/** A run that finished before this one. At least one of its test cases ran. */
export interface EarlierRun {
  readonly finishedAt?: Date | undefined
  readonly testCases: readonly TestCase[]
}

/** The earlier runs with which reports compare this run, the latest first. There is at least one. */
export type Baseline = readonly [EarlierRun, ...EarlierRun[]]

/** How a failing or flaky test case did in the earlier runs that have it. */
export interface PastOfCase {
  /** Only a failing test case has a mark. */
  readonly mark?: 'new' | 'failed before' | 'unstable' | undefined
  /** In how many earlier runs it failed or was flaky. */
  readonly badRuns: number
  /** How many earlier runs have it. */
  readonly runs: number
}

/** Undefined if no test case ran. Such a run was broken before its tests began, so it says nothing about them. */
export function earlierRun({
  testCases = [],
  finishedAt,
}: Pick<Run, 'testCases' | 'finishedAt'>): EarlierRun | undefined {
  return testCases.some(({ kind }) => RAN.includes(kind)) ? { testCases, finishedAt } : undefined
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
 * Cases of one run that are the same are told apart by their number, the failing ones first. If two of them fail now and one failed
 * before, the second is new. For each case, only the earlier runs that have as many count.
 */
export function comparePast(testCases: readonly TestCase[], baseline: Baseline): ReadonlyMap<TestCase, PastOfCase> {
  const [failing, flaky] = [testCases.filter(isFailing), testCases.filter(isFlaky)]
  const titles = new Set([...failing, ...flaky].map(({ title }) => String(title)))
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
  for (const testCase of [...failing, ...flaky]) {
    seen.add(testCase)
    const number = seen.countSame(testCase)
    const having = runs.filter(({ all }) => all.countSame(testCase) >= number)
    const badRuns = having.filter(({ failedOrFlaky }) => failedOrFlaky.countSame(testCase) >= number).length
    const hasFailedBefore = (having[0]?.failed.countSame(testCase) ?? 0) >= number
    const mark = badRuns === 0 ? 'new' : hasFailedBefore ? 'failed before' : 'unstable'
    past.set(testCase, { mark: isFlaky(testCase) ? undefined : mark, badRuns, runs: having.length })
  }
  return past
}

function isFailing({ kind }: TestCase): boolean {
  return FAILING.includes(kind)
}

function isFlaky({ kind }: TestCase): boolean {
  return kind === 'flaky'
}
