import { rawText, untrusted } from '../text/untrusted.ts'
import { type CaseKind, hasRun, isFailing, type Run, type TestCase } from './run.ts'

/** A run of the baseline, as an earlier step has saved it. At least one of its test cases ran. Perhaps it had not finished. */
export interface EarlierRun {
  readonly status: Run['status']
  readonly finishedAt?: Date | undefined
  readonly testCases: readonly EarlierCase[]
}

/** What comparisons need of a test case. The messages of all earlier runs would take much memory. */
export type EarlierCase = Pick<TestCase, 'title' | 'filePath' | 'kind'>

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

/**
 * What comparisons need of a run. Undefined if no test case ran, because such a run says nothing about test cases. `shared` has the test
 * cases that several runs share.
 */
export function earlierRun(
  { status, finishedAt, testCases = [] }: Pick<Run, 'status' | 'testCases' | 'finishedAt'>,
  shared: Map<string, EarlierCase> = new Map(),
): EarlierRun | undefined {
  if (!testCases.some(hasRun)) return undefined
  return { status, finishedAt, testCases: testCases.map((testCase) => sharedCase(testCase, shared)) }
}

/**
 * Most test cases come again in each run, with the same result. The runs share one object for them, because ten runs of 20,000 test cases
 * then take 20 MB instead of 56 MB.
 */
function sharedCase({ title, filePath, kind }: TestCase, shared: Map<string, EarlierCase>): EarlierCase {
  const key = `${kind}\n${fileAndTitle({ title, filePath })}`
  const testCase = shared.get(key) ?? { title, filePath, kind }
  shared.set(key, testCase)
  return testCase
}

/** The file and the title as one key. A path has no line break, so two different cases never have the same key. */
function fileAndTitle({ title, filePath = untrusted('') }: Pick<TestCase, 'title' | 'filePath'>): string {
  return `${rawText(filePath)}\n${rawText(title)}`
}

/** Has each failing or flaky test case, and each test case that passed now and was bad in an earlier run. */
export type Past = ReadonlyMap<TestCase, PastOfCase>

/** How the test cases of this run did in the earlier runs. */
export function comparePast(testCases: readonly TestCase[], baseline: Baseline): Past {
  const [now, ...earlierRuns] = onlyTitlesWithBadCases([testCases, ...baseline.map((run) => run.testCases)])
  const partnersByRun = earlierRuns.map((earlier) => pairUp(now, earlier).partners)
  const past = new Map<TestCase, PastOfCase>()
  for (const testCase of now.filter(hasRun)) {
    const earlier = partnersByRun.flatMap((partners) => partners.get(testCase) ?? [])
    const badRuns = earlier.filter(isBad).length
    if (!isBad(testCase) && badRuns === 0) continue
    past.set(testCase, { mark: isFailing(testCase) ? markOf(earlier) : undefined, badRuns, runs: earlier.length })
  }
  return past
}

type RunsToCompare = readonly [readonly TestCase[], ...(readonly EarlierCase[])[]]

/**
 * Keeps the test cases whose title has a bad test case in at least one run. `comparePast` gives an entry only to these, and the partners of a
 * test case have its title. So the result is the same, but ten runs of 20,000 test cases take 0.3 s instead of 1.7 s.
 */
function onlyTitlesWithBadCases([now, ...earlierRuns]: RunsToCompare): RunsToCompare {
  const badTitles = new Set([now, ...earlierRuns].flatMap((cases) => cases.filter(isBad).map(({ title }) => title)))
  const hasBadTitle = ({ title }: EarlierCase) => badTitles.has(title)
  return [now.filter(hasBadTitle), ...earlierRuns.map((cases) => cases.filter(hasBadTitle))]
}

function markOf(earlier: readonly EarlierCase[]): PastOfCase['mark'] {
  const [latest] = earlier
  if (latest !== undefined && isFailing(latest)) return 'failed before'
  return earlier.some(isBad) ? 'unstable' : 'new'
}

/** How the test cases of this run differ from those of the latest earlier run that is comparable. */
export interface Comparison {
  readonly added: readonly TestCase[]
  /** A test case that was renamed is removed and added. */
  readonly removed: readonly EarlierCase[]
  /** They are skipped in this run, and ran in the earlier run. */
  readonly newlySkipped: readonly TestCase[]
}

/** Undefined unless both runs finished as PASSED or FAILED, because every other run may lack test cases. */
export function compareTestCases(run: Run | undefined, baseline: Baseline): Comparison | undefined {
  const earlier = baseline.find(isWhole)
  if (run === undefined || !isWhole(run) || earlier === undefined) return undefined
  // A PASSED run without results has no test cases. The test cases of a FAILED run without results are not known.
  if (run.testCases === undefined && run.status === 'FAILED') return undefined
  const { testCases = [] } = run
  const { partners, removed } = pairUp(testCases, earlier.testCases)
  return {
    added: testCases.filter((testCase) => !partners.has(testCase)),
    removed,
    newlySkipped: testCases.filter((testCase) => {
      const before = partners.get(testCase)
      return testCase.kind === 'skipped' && before !== undefined && hasRun(before)
    }),
  }
}

function isWhole({ status }: Pick<Run, 'status'>): boolean {
  return status === 'PASSED' || status === 'FAILED'
}

/**
 * Finds for each test case its partner in an earlier run. Two test cases are the same if their titles are equal, and their files too if
 * both have one. `removed` are the earlier test cases without a partner.
 */
function pairUp(now: readonly TestCase[], earlier: readonly EarlierCase[]) {
  const title = (testCase: EarlierCase) => rawText(testCase.title)
  const hasNoFile = ({ filePath }: EarlierCase) => filePath === undefined
  const hasFile = (testCase: EarlierCase) => !hasNoFile(testCase)
  // 1. Those with the same file, or with no file in both runs.
  const same = pairBy(fileAndTitle, now, earlier)
  // 2. Those with a file only in the earlier run.
  const withFileEarlier = pairBy(title, same.unpairedNow.filter(hasNoFile), same.unpairedEarlier.filter(hasFile))
  // 3. Those with a file only in this run.
  const withFileNow = pairBy(title, same.unpairedNow.filter(hasFile), same.unpairedEarlier.filter(hasNoFile))
  return {
    partners: new Map([...same.partners, ...withFileEarlier.partners, ...withFileNow.partners]),
    // Step 2 gets only earlier test cases with a file, and step 3 only those without. So together, these lists have each of them once.
    removed: [...withFileEarlier.unpairedEarlier, ...withFileNow.unpairedEarlier],
  }
}

/**
 * Pairs test cases with the same key. If several have it, the worst of this run and the worst of the earlier run are a pair, and so on.
 * So if two of them fail now and one failed before, one is new.
 */
function pairBy(key: (testCase: EarlierCase) => string, now: readonly TestCase[], earlier: readonly EarlierCase[]) {
  const nowByKey = Map.groupBy(worstFirst(now), key)
  const earlierByKey = Map.groupBy(worstFirst(earlier), key)
  const partners = new Map<TestCase, EarlierCase>()
  for (const [name, testCases] of nowByKey) {
    const earlierCases = earlierByKey.get(name) ?? []
    for (const [index, testCase] of testCases.entries()) {
      const partner = earlierCases[index]
      if (partner !== undefined) partners.set(testCase, partner)
    }
  }
  return {
    partners,
    unpairedNow: now.filter((testCase) => !partners.has(testCase)),
    // If three cases have this key now, the first three earlier cases with it have partners, and the others have none. A look-up in `partners`
    // would be wrong, because equal earlier cases share one object (`sharedCase`).
    unpairedEarlier: [...earlierByKey].flatMap(([name, cases]) => {
      const pairedCount = nowByKey.get(name)?.length ?? 0
      return cases.slice(pairedCount)
    }),
  }
}

function worstFirst<Case extends EarlierCase>(testCases: readonly Case[]): Case[] {
  const kinds: readonly CaseKind[] = ['failed', 'timed-out', 'interrupted', 'flaky', 'passed', 'skipped', 'other']
  return kinds.flatMap((wanted) => testCases.filter(({ kind }) => kind === wanted))
}

/** Whether it failed or was flaky. */
function isBad(testCase: EarlierCase): boolean {
  return isFailing(testCase) || testCase.kind === 'flaky'
}
