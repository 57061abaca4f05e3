import type { Reporter, SerializedError, TestCase, TestModule, TestSuite, Vitest } from 'vitest/node'
import {
  describeCauses,
  type Failure,
  type FileFacts,
  framesIn,
  nameAndMessage,
  type Place,
  ReportWriter,
  type ResultFacts,
  type TestFacts,
  type Thrown,
} from './report-writer.ts'

// The project's own Vitest, version 3 or newer, loads this file.
// local-service/test/frameworks/vitest-runs.test.ts tests this file.

export default class EventReporter implements Reporter {
  readonly #report = new ReportWriter()
  #vitest: Pick<Vitest, 'logger' | 'state' | 'config'> | undefined
  #filesLeft = 0
  #total = 0

  /** Some versions of Vitest call it a second time. */
  onInit(vitest: Pick<Vitest, 'logger' | 'state' | 'config'>): void {
    if (this.#vitest !== undefined) return
    this.#vitest = vitest
    const { logger } = vitest
    // All that Vitest says about itself goes through this method, for example thresholds that are not met. The output of
    // tests does not.
    const error = logger.error
    logger.error = (...parts) => {
      this.#report.say(parts.join(' '))
      error.apply(logger, parts)
    }
  }

  onTestRunStart(files: readonly unknown[]): void {
    this.#filesLeft = files.length
  }

  /** Vitest learns the tests of a file when it loads the file. So the total is known when the last file is loaded. */
  onTestModuleCollected(module: TestModule): void {
    this.#total += [...module.children.allTests()].length
    if (--this.#filesLeft === 0) this.#report.announceTotal(this.#total)
  }

  /** Despite the method's name, Vitest calls it when a worker begins with the file. */
  onTestModuleQueued(module: TestModule): void {
    this.#report.startFile(describeFile(module))
  }

  /** If another reporter is slow, Vitest may call it after the result. */
  onTestCaseReady(test: TestCase): void {
    if (test.result().state === 'pending') this.#report.startTest(describeTest(test))
  }

  onTestCaseResult(test: TestCase): void {
    this.#report.finishTest(describeTest(test), this.#describeResult(test))
  }

  onTestModuleEnd(module: TestModule): void {
    this.#report.finishFile(describeFile(module))
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    const { state, config } = this.#vitest ?? {}
    // In a merge, some versions of Vitest leave modules out here, such as those of type tests.
    const all = config?.mergeReports ? (state?.getTestModules() ?? modules) : modules
    // Vitest finds the files in any order. With an order of their own, two runs can be compared.
    const ordered = [...all].sort(({ moduleId: a }, { moduleId: b }) => Number(a > b) - Number(a < b))
    this.#report.finish({
      files: ordered.map((module) => ({
        ...describeFile(module),
        hasFailed: module.state() === 'failed',
        // Those of loading it, and of its hooks outside describe blocks.
        failure: this.#describeFailure(module.errors()),
      })),
      tests: ordered.flatMap(({ children }) => [
        ...[...children.allTests()].map((test) => ({ ...describeTest(test), ...this.#describeResult(test) })),
        // Those in which a hook for all tests failed.
        ...[...children.allSuites()]
          .filter((suite) => suite.errors().length > 0)
          .map((suite) => ({ ...describeTest(suite), ...FAILED, failure: this.#describeFailure(suite.errors()) })),
      ]),
      errors: errors.map((error) => this.#describeFailure([error])),
    })
  }

  #describeResult(test: TestCase): ResultFacts {
    const { state, errors = [] } = test.result()
    if (state === 'pending') return this.#report.unfinished(test.id)
    const { flaky = false, duration = 0 } = test.diagnostic() ?? {}
    // Before version 5, Vitest calls a test flaky that should fail, and failed as it should.
    const isFlaky = flaky && test.options.fails !== true
    return { state, isFlaky, durationMs: duration, failure: this.#describeFailure(lastAttemptOf(test, errors)) }
  }

  #describeFailure(errors: readonly VitestError[]): Failure | undefined {
    // Vitest 3.0 has not parsed the stack yet.
    return this.#report.describeFailure(errors, describe, ({ stacks, stack }) => stacks ?? framesIn(stack))
  }
}

const FAILED = { state: 'failed', isFlaky: false, durationMs: 0 } as const

/**
 * The errors of the last attempt that failed. Before version 5, Vitest has one list for all attempts. If the attempts may differ,
 * all errors count, so that none is lost.
 */
function lastAttemptOf(test: TestCase, errors: readonly VitestError[]): readonly VitestError[] {
  const { attempts } = test as Partial<TestCase>
  if (attempts !== undefined) return attempts.call(test).findLast((one) => one.errors?.length)?.errors ?? errors
  const { retryCount = 0, flaky = false } = test.diagnostic() ?? {}
  const failedAttempts = flaky ? retryCount : retryCount + 1
  const perAttempt = errors.length / failedAttempts
  return Number.isInteger(perAttempt) ? errors.slice(-perAttempt) : errors
}

function describeTest(test: TestCase | TestSuite): TestFacts {
  const path = [test.name]
  for (let { parent } = test; parent.type === 'suite'; parent = parent.parent) path.unshift(parent.name)
  return { ...describeFile(test.module), line: test.location?.line, id: test.id, path }
}

function describeFile({ project, moduleId }: TestModule): FileFacts {
  return { project: project.name, file: moduleId }
}

type VitestError = Thrown & { readonly stacks?: readonly Place[] | undefined; readonly type?: unknown }

function describe(error: VitestError): string {
  const kind = error.type === 'Unhandled Rejection' ? 'Unhandled Rejection: ' : ''
  const diff = typeof error.diff === 'string' ? `\n\n${error.diff}` : ''
  return `${kind}${nameAndMessage(error)}${diff}${describeCauses(error)}`
}
