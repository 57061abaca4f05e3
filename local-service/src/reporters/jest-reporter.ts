import {
  describeCase,
  describeFile,
  describeResults,
  describeTest,
  type FileOfProject,
  type JestCase,
  type JestFile,
  type JestResults,
  type JestTest,
  keyOfTest,
} from './jest-results.ts'
import { ReportWriter } from './report-writer.ts'

// Jest loads this file as a reporter, beside those of the project.

/** Whether Jest is between the begin and the end of the tests. Outside of it, only Jest itself writes to the output. */
export type Phase = 'before' | 'tests' | 'after'

/** Jest creates the reporter when it has found the tests. What happens before is written to the same report. */
export const report = new ReportWriter()
export const run: { phase: Phase } = { phase: 'before' }

type Case = Pick<JestCase, 'ancestorTitles' | 'title'>

export default class EventReporter {
  /** The results of tests that were tried again have only the last attempt. */
  readonly #failedAttempts = new Map<string, JestCase>()
  /** Only the events of a file have its own project. Those of a test have any project. */
  readonly #files = new Map<string, FileOfProject>()
  /** With their projects, because the result of a file that could not be loaded does not name its project. */
  readonly #results: JestFile[] = []

  onRunStart(): void {
    run.phase = 'tests'
  }

  onTestFileStart({ path, context }: JestTest): void {
    const file = { testFilePath: path, displayName: context.config.displayName }
    this.#files.set(path, file)
    report.announceFile('file-started', describeFile(file))
  }

  onTestCaseStart(test: JestTest, started: Case): void {
    report.startTest(describeTest(this.#fileOf(test), started))
  }

  /** Jest calls it for each attempt. */
  onTestCaseResult(test: JestTest, result: JestCase): void {
    const file = this.#fileOf(test)
    const key = keyOfTest(file, result)
    if (result.status === 'failed') this.#failedAttempts.set(key, result)
    report.finishTest(describeTest(file, result), describeCase(result, report, this.#failedAttempts.get(key)))
  }

  onTestFileResult({ context }: JestTest, result: JestFile): void {
    const file = { ...result, displayName: context.config.displayName }
    this.#results.push(file)
    report.announceFile('file-finished', describeFile(file))
  }

  /** With `--bail`, Jest exits when it has called this. */
  onRunComplete(_: unknown, results: JestResults): void {
    run.phase = 'after'
    report.finish(describeResults({ ...results, testResults: this.#results }, report, this.#failedAttempts))
  }

  #fileOf({ path }: JestTest): FileOfProject {
    return this.#files.get(path) ?? { testFilePath: path }
  }
}
