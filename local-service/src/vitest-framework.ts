import { relative } from 'node:path'
import {
  disambiguateTitles,
  type Framework,
  isObject,
  type LocatedCase,
  objectsIn,
  stringOf,
  titleOf,
  unloadableFile,
  wholeMs,
} from './framework.ts'
import type { TestCase, TestCaseStatus } from './run.ts'

export const vitest: Framework = {
  name: 'vitest',
  packageName: 'vitest',
  configFile: /^vitest\.(config|workspace)\.\w+$/,
  arguments: ({ frameworkProjects, files, titles }, { reportFile }) => [
    'run',
    ...files,
    // Its output, with the failures' messages, goes to the log.
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${reportFile}`,
    ...frameworkProjects.map((name) => `--project=${name}`),
    ...(titles === undefined ? [] : [`--testNamePattern=${titles}`]),
  ],
  env: () => ({}),
  readReport(report, folder) {
    if (!isObject(report) || !Array.isArray(report.testResults)) return undefined
    const cases: LocatedCase[] = []
    const unloadableFiles: TestCase[] = []
    for (const file of objectsIn(report.testResults)) {
      const path = stringOf(file.name)
      const tests = objectsIn(file.assertionResults).map((test) => readTest(test, relative(folder, path)))
      cases.push(...tests)
      if (file.status === 'failed' && !tests.some((test) => test.status === 'FAILED')) {
        unloadableFiles.push(unloadableFile(path, folder))
      }
    }
    return [...disambiguateTitles(cases), ...unloadableFiles]
  },
}

function readTest(test: Record<string, unknown>, file: string): LocatedCase {
  const ancestors = Array.isArray(test.ancestorTitles) ? test.ancestorTitles.map(stringOf) : []
  return {
    title: titleOf([...ancestors, stringOf(test.title)]),
    status: statusOf(test),
    durationMs: wholeMs(test.duration),
    qualifiers: [file],
  }
}

function statusOf(test: Record<string, unknown>): TestCaseStatus {
  switch (test.status) {
    case 'passed':
      // A passed test with failures passed after a retry.
      return Array.isArray(test.failureMessages) && test.failureMessages.length > 0 ? 'FLAKY' : 'PASSED'
    case 'skipped':
    case 'todo':
    case 'disabled':
      return 'SKIPPED'
    // It was still queued or running when the report was written: the worker died.
    case 'pending':
      return 'INTERRUPTED'
    default:
      return 'FAILED'
  }
}
