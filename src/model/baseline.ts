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
  /** The files of the test cases in the baseline, by the title. A test case may have no file. */
  const filesByTitle = new Map<string, Set<TestCase['filePath']>>()
  for (const { title, filePath } of failing) {
    const files = filesByTitle.get(String(title)) ?? new Set()
    filesByTitle.set(String(title), files.add(filePath))
  }
  // Two test cases are the same if their titles are equal, and their files too if both have one.
  const isKnown = ({ title, filePath }: TestCase) => {
    const files = filesByTitle.get(String(title))
    return files !== undefined && (filePath === undefined || files.has(undefined) || files.has(filePath))
  }
  return new Set(testCases.filter((testCase) => isFailing(testCase) && !isKnown(testCase)))
}

function isFailing({ kind }: TestCase): boolean {
  return FAILING.includes(kind)
}
