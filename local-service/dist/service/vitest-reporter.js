import { describeCause, describeFailure, framesIn, nameAndMessage, ReportWriter, } from './report-writer.js';
// The project's own Vitest, version 3 or newer, loads this file.
export default class EventReporter {
    #report = new ReportWriter();
    #projects = [];
    #filesLeft = 0;
    #total = 0;
    onInit({ projects }) {
        this.#projects = projects.map(({ name }) => name);
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
        this.#report.write({ event: 'file-started', file: describeFile(module) });
    }
    onTestCaseReady(test) {
        this.#report.startTest(describeTest(test));
    }
    onTestCaseResult(test) {
        this.#report.finishTest(describeTest(test), describeResult(test));
    }
    onTestModuleEnd(module) {
        // There are no events for some skipped tests.
        for (const test of module.children.allTests('skipped'))
            if (!this.#report.hasFinished(test.id))
                this.#report.finishTest(describeTest(test), describeResult(test));
        this.#report.write({ event: 'file-finished', file: describeFile(module) });
    }
    /** There are no events for some skipped tests, and for tests of a worker that died. */
    onTestRunEnd(modules, errors) {
        const tests = modules
            .flatMap((module) => [...module.children.allTests()])
            .filter(({ id }) => !this.#report.hasFinished(id))
            .map((test) => ({ ...describeTest(test), ...describeResult(test) }));
        const ends = errors.map(findWorkerEnd);
        this.#report.write({
            event: 'finished',
            projects: this.#projects,
            files: modules.map(describeEndOfFile),
            tests: [...tests, ...modules.flatMap(describeFailedSuites)],
            workerEnd: ends.find((end) => end !== undefined),
            errors: errors.filter((_, index) => ends[index] === undefined).map((error) => failureOf([error])),
        });
    }
}
/** How a worker ended unexpectedly: by a signal or with an exit code. Empty if Vitest does not say. */
function findWorkerEnd(error) {
    const text = `${error.message} ${error.cause?.message}`;
    const [found, end] = /Worker exited unexpectedly(?: with (signal \w+|exit code \d+))?/.exec(text) ?? [];
    return found && (end ?? '');
}
function describeTest(test) {
    const path = [test.name];
    for (let { parent } = test; parent.type === 'suite'; parent = parent.parent)
        path.unshift(parent.name);
    return { ...describeFile(test.module), line: test.location?.line, id: test.id, path };
}
/** The describe blocks in which a hook for all tests failed. */
function describeFailedSuites(module) {
    const suites = [...module.children.allSuites()].filter((suite) => suite.errors().length > 0);
    return suites.map((suite) => ({
        ...describeTest(suite),
        state: 'failed',
        isFlaky: false,
        durationMs: 0,
        failure: failureOf(suite.errors()),
    }));
}
function describeResult(test) {
    const { state, errors = [] } = test.result();
    const { flaky = false, duration = 0, retryCount = 0 } = test.diagnostic() ?? {};
    // Vitest keeps the errors of all attempts and does not say which attempt an error is of.
    const ofLastAttempt = retryCount > 0 ? errors.slice(-1) : errors;
    return { state, isFlaky: flaky, durationMs: duration, failure: failureOf(ofLastAttempt) };
}
function describeFile({ project, moduleId }) {
    return { project: project.name, file: moduleId };
}
/** The errors of a file are those of loading it, and of its hooks outside describe blocks. */
function describeEndOfFile(module) {
    return { ...describeFile(module), hasFailed: module.state() === 'failed', failure: failureOf(module.errors()) };
}
function failureOf(errors) {
    // Vitest 3.0 has not parsed the stack yet.
    return describeFailure(errors, describe, ({ stacks, stack }) => stacks ?? framesIn(stack));
}
function describe(error) {
    const kind = error.type === 'Unhandled Rejection' ? 'Unhandled Rejection: ' : '';
    const diff = typeof error.diff === 'string' ? `\n\n${error.diff}` : '';
    return `${kind}${nameAndMessage(error)}${diff}${describeCause(error)}`;
}
