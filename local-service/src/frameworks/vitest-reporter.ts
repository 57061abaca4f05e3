import type { Reporter, SerializedError, TestCase, TestModule, TestSuite, Vitest } from 'vitest/node'
import {
  describeCause,
  describeFailure,
  type Failure,
  framesIn,
  nameAndMessage,
  type Place,
  ReportWriter,
  type ResultFacts,
  type TestFacts,
  type Thrown,
} from './report-writer.ts'

// The project's own Vitest, version 3 or newer, loads this file.

export default class EventReporter implements Reporter {
  readonly #report = new ReportWriter()
  #projects: readonly string[] = []
  #filesLeft = 0
  #total = 0

  onInit({ projects }: Pick<Vitest, 'projects'>): void {
    this.#projects = projects.map(({ name }) => name)
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
    this.#report.write({ event: 'file-started', file: describeFile(module) })
  }

  onTestCaseReady(test: TestCase): void {
    this.#report.startTest(describeTest(test))
  }

  onTestCaseResult(test: TestCase): void {
    this.#report.finishTest(describeTest(test), describeResult(test))
  }

  onTestModuleEnd(module: TestModule): void {
    // There are no events for some skipped tests.
    for (const test of module.children.allTests('skipped'))
      if (!this.#report.hasFinished(test.id)) this.#report.finishTest(describeTest(test), describeResult(test))
    this.#report.write({ event: 'file-finished', file: describeFile(module) })
  }

  /** There are no events for some skipped tests, and for tests of a worker that died. */
  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    const tests = modules
      .flatMap((module) => [...module.children.allTests()])
      .filter(({ id }) => !this.#report.hasFinished(id))
      .map((test) => ({ ...describeTest(test), ...describeResult(test) }))
    const ends = errors.map(findWorkerEnd)
    this.#report.write({
      event: 'finished',
      projects: this.#projects,
      files: modules.map(describeEndOfFile),
      tests: [...tests, ...modules.flatMap(describeFailedSuites)],
      workerEnd: ends.find((end) => end !== undefined),
      errors: errors.filter((_, index) => ends[index] === undefined).map((error) => failureOf([error])),
    })
  }
}

/** How a worker ended unexpectedly: by a signal or with an exit code. Empty if Vitest does not say. */
function findWorkerEnd(error: SerializedError): string | undefined {
  const text = `${error.message} ${(error.cause as Error | undefined)?.message}`
  const [found, end] = /Worker exited unexpectedly(?: with (signal \w+|exit code \d+))?/.exec(text) ?? []
  return found && (end ?? '')
}

function describeTest(test: TestCase | TestSuite): TestFacts {
  const path = [test.name]
  for (let { parent } = test; parent.type === 'suite'; parent = parent.parent) path.unshift(parent.name)
  return { ...describeFile(test.module), line: test.location?.line, id: test.id, path }
}

/** The describe blocks in which a hook for all tests failed. */
function describeFailedSuites(module: TestModule): (TestFacts & ResultFacts)[] {
  const suites = [...module.children.allSuites()].filter((suite) => suite.errors().length > 0)
  return suites.map((suite) => ({
    ...describeTest(suite),
    state: 'failed',
    isFlaky: false,
    durationMs: 0,
    failure: failureOf(suite.errors()),
  }))
}

function describeResult(test: TestCase): ResultFacts {
  const { state, errors = [] } = test.result()
  const { flaky = false, duration = 0, retryCount = 0 } = test.diagnostic() ?? {}
  // Vitest keeps the errors of all attempts and does not say which attempt an error is of.
  const ofLastAttempt = retryCount > 0 ? errors.slice(-1) : errors
  return { state, isFlaky: flaky, durationMs: duration, failure: failureOf(ofLastAttempt) }
}

function describeFile({ project, moduleId }: TestModule) {
  return { project: project.name, file: moduleId }
}

/** The errors of a file are those of loading it, and of its hooks outside describe blocks. */
function describeEndOfFile(module: TestModule) {
  return { ...describeFile(module), hasFailed: module.state() === 'failed', failure: failureOf(module.errors()) }
}

type VitestError = Thrown & { readonly stacks?: readonly Place[] | undefined; readonly type?: unknown }

function failureOf(errors: readonly VitestError[]): Failure | undefined {
  // Vitest 3.0 has not parsed the stack yet.
  return describeFailure(errors, describe, ({ stacks, stack }) => stacks ?? framesIn(stack))
}

function describe(error: VitestError): string {
  const kind = error.type === 'Unhandled Rejection' ? 'Unhandled Rejection: ' : ''
  const diff = typeof error.diff === 'string' ? `\n\n${error.diff}` : ''
  return `${kind}${nameAndMessage(error)}${diff}${describeCause(error)}`
}
