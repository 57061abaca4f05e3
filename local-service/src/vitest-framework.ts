import { relative } from 'node:path'
import {
  brokenFile,
  type Framework,
  isObject,
  type LocatedCase,
  objectsIn,
  tellApart,
  textIn,
  titleOf,
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
    // For the log: what a failing test said.
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
    const brokenFiles: TestCase[] = []
    for (const file of objectsIn(report.testResults)) {
      const path = textIn(file.name)
      const tests = objectsIn(file.assertionResults).map((test) => readTest(test, relative(folder, path)))
      cases.push(...tests)
      if (file.status === 'failed' && !tests.some((test) => test.status === 'FAILED')) {
        brokenFiles.push(brokenFile(path, folder))
      }
    }
    return [...tellApart(cases), ...brokenFiles]
  },
}

function readTest(test: Record<string, unknown>, file: string): LocatedCase {
  const ancestors = Array.isArray(test.ancestorTitles) ? test.ancestorTitles.map(textIn) : []
  return {
    title: titleOf([...ancestors, textIn(test.title)]),
    status: statusOf(test),
    durationMs: wholeMs(test.duration),
    where: [file],
  }
}

function statusOf(test: Record<string, unknown>): TestCaseStatus {
  switch (test.status) {
    case 'passed':
      // A test that passed and yet has failures is one that passed after a retry.
      return Array.isArray(test.failureMessages) && test.failureMessages.length > 0 ? 'FLAKY' : 'PASSED'
    case 'skipped':
    case 'todo':
    case 'disabled':
      return 'SKIPPED'
    // Queued or running when the report was written: the worker died.
    case 'pending':
      return 'INTERRUPTED'
    default:
      return 'FAILED'
  }
}
