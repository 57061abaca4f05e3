import { FAILING, type Run, type TestCase } from './run.ts'

/** What reports need of an earlier run: the test cases that did not simply pass. */
export interface EarlierRun {
  readonly finishedAt?: Date | undefined
  readonly failed: CaseCounter
  /** FLAKY test cases count too. */
  readonly failedOrFlaky: CaseCounter
}

/** The earlier runs with which reports compare this run, the latest first. There is at least one. */
export type Baseline = readonly [EarlierRun, ...EarlierRun[]]

/** How a failing or flaky test case did in the earlier runs. */
export interface PastOfCase {
  /** Only a failing test case has a mark. */
  readonly mark?: 'new' | 'failed before' | 'unstable' | undefined
  /** In how many of the earlier runs it failed or was flaky. */
  readonly badRuns: number
  /** How many earlier runs there are. */
  readonly runs: number
}

/** Counts test cases. Two are the same if their titles are equal, and their files too if both have one. */
export class CaseCounter {
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

function keyOf(title: TestCase['title'], filePath?: TestCase['filePath']): string {
  return JSON.stringify([String(title), filePath === undefined ? null : String(filePath)])
}

export function earlierRun({ testCases = [], finishedAt }: Pick<Run, 'testCases' | 'finishedAt'>): EarlierRun {
  const failed = testCases.filter(isFailing)
  return {
    finishedAt,
    failed: new CaseCounter(failed),
    failedOrFlaky: new CaseCounter([...failed, ...testCases.filter(isFlaky)]),
  }
}

/** Cases of one run that are the same are told apart by their number. If two of them fail now and one failed before, the second is new. */
export function comparePast(testCases: readonly TestCase[], baseline: Baseline): ReadonlyMap<TestCase, PastOfCase> {
  const [latest] = baseline
  const runs = baseline.length
  const seen = { failing: new CaseCounter(), flaky: new CaseCounter() }
  const past = new Map<TestCase, PastOfCase>()
  for (const testCase of testCases) {
    if (!isFailing(testCase) && !isFlaky(testCase)) continue
    const same = isFlaky(testCase) ? seen.flaky : seen.failing
    same.add(testCase)
    const number = same.countSame(testCase)
    const badRuns = baseline.filter(({ failedOrFlaky }) => failedOrFlaky.countSame(testCase) >= number).length
    const hasFailedBefore = latest.failed.countSame(testCase) >= number
    const mark = badRuns === 0 ? 'new' : hasFailedBefore ? 'failed before' : 'unstable'
    past.set(testCase, { mark: isFlaky(testCase) ? undefined : mark, badRuns, runs })
  }
  return past
}

function isFailing({ kind }: TestCase): boolean {
  return FAILING.includes(kind)
}

function isFlaky({ kind }: TestCase): boolean {
  return kind === 'flaky'
}
