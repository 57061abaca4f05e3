import { FAILING, type TestCase } from './run.ts'

/** The results of an earlier run, with which reports compare the failures of this run. */
export interface Baseline {
  readonly finishedAt?: Date | undefined
  /** The test cases that failed in the earlier run. */
  readonly failing: readonly TestCase[]
}

export function baselineOf(testCases: readonly TestCase[], finishedAt: Date | undefined): Baseline {
  return { finishedAt, failing: testCases.filter(isFailing) }
}

/** The failing test cases of this run that did not fail in the baseline. */
export function newFailures(testCases: readonly TestCase[], { failing }: Baseline): ReadonlySet<TestCase> {
  const byTitle = Map.groupBy(failing, ({ title }) => String(title))
  const filesByTitle = new Map(
    [...byTitle].map(([title, cases]) => [title, new Set(cases.map(({ filePath }) => filePath))] as const),
  )
  return new Set(testCases.filter((testCase) => isFailing(testCase) && !isIn(filesByTitle, testCase)))
}

type FilesByTitle = ReadonlyMap<string, ReadonlySet<TestCase['filePath']>>

/** Two test cases are the same if their titles are equal, and their files too if both have one. */
function isIn(files: FilesByTitle, { title, filePath }: TestCase): boolean {
  const ofTitle = files.get(String(title))
  return ofTitle !== undefined && (filePath === undefined || ofTitle.has(undefined) || ofTitle.has(filePath))
}

function isFailing({ kind }: TestCase): boolean {
  return FAILING.includes(kind)
}
