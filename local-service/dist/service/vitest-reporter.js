import { describeCauses, framesIn, nameAndMessage, ReportWriter, } from './report-writer.js';
// The project's own Vitest, version 3 or newer, loads this file.
// local-service/test/frameworks/vitest-runs.test.ts tests this file.
export default class EventReporter {
    #report = new ReportWriter();
    #hasInit = false;
    #filesLeft = 0;
    #total = 0;
    /** Some versions of Vitest call it a second time. */
    onInit({ logger }) {
        if (this.#hasInit)
            return;
        this.#hasInit = true;
        // All that Vitest says about itself goes through this method, for example thresholds that are not met. The output of
        // tests does not.
        const error = logger.error;
        logger.error = (...parts) => {
            this.#report.say(parts.join(' '));
            error.apply(logger, parts);
        };
    }
    onTestRunStart(files) {
        this.#filesLeft = files.length;
    }
    /** Vitest learns the tests of a file when it loads the file. So the total is known when the last file is loaded. */
    onTestModuleCollected(module) {
        this.#total += [...module.children.allTests()].length;
        if (--this.#filesLeft === 0)
            this.#report.announceTotal(this.#total);
    }
    /** Despite the method's name, Vitest calls it when a worker begins with the file. */
    onTestModuleQueued(module) {
        this.#report.startFile(describeFile(module));
    }
    /** If another reporter is slow, Vitest may call it after the result. */
    onTestCaseReady(test) {
        if (test.result().state === 'pending')
            this.#report.startTest(describeTest(test));
    }
    onTestCaseResult(test) {
        this.#report.finishTest(describeTest(test), this.#describeResult(test));
    }
    onTestModuleEnd(module) {
        this.#report.finishFile(describeFile(module));
    }
    onTestRunEnd(modules, errors) {
        // Vitest finds the files in any order. With an order of their own, two runs can be compared.
        const ordered = [...modules].sort(({ moduleId: a }, { moduleId: b }) => Number(a > b) - Number(a < b));
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
        });
    }
    #describeResult(test) {
        const { state, errors = [] } = test.result();
        if (state === 'pending')
            return this.#report.unfinished(test.id);
        const { flaky = false, duration = 0 } = test.diagnostic() ?? {};
        // Before version 5, Vitest calls a test flaky that should fail, and failed as it should.
        const isFlaky = flaky && test.options.fails !== true;
        return { state, isFlaky, durationMs: duration, failure: this.#describeFailure(lastAttemptOf(test, errors)) };
    }
    #describeFailure(errors) {
        // Vitest 3.0 has not parsed the stack yet.
        return this.#report.describeFailure(errors, describe, ({ stacks, stack }) => stacks ?? framesIn(stack));
    }
}
const FAILED = { state: 'failed', isFlaky: false, durationMs: 0 };
/**
 * The errors of the last attempt that failed. Before version 5, Vitest has one list for all attempts. If the attempts may differ,
 * all errors count, so that none is lost.
 */
function lastAttemptOf(test, errors) {
    const { attempts } = test;
    if (attempts !== undefined)
        return attempts.call(test).findLast((one) => one.errors?.length)?.errors ?? errors;
    const { retryCount = 0, flaky = false } = test.diagnostic() ?? {};
    const failedAttempts = flaky ? retryCount : retryCount + 1;
    const perAttempt = errors.length / failedAttempts;
    return Number.isInteger(perAttempt) ? errors.slice(-perAttempt) : errors;
}
function describeTest(test) {
    const path = [test.name];
    for (let { parent } = test; parent.type === 'suite'; parent = parent.parent)
        path.unshift(parent.name);
    return { ...describeFile(test.module), line: test.location?.line, id: test.id, path };
}
function describeFile({ project, moduleId }) {
    return { project: project.name, file: moduleId };
}
function describe(error) {
    const kind = error.type === 'Unhandled Rejection' ? 'Unhandled Rejection: ' : '';
    const diff = typeof error.diff === 'string' ? `\n\n${error.diff}` : '';
    return `${kind}${nameAndMessage(error)}${diff}${describeCauses(error)}`;
}
