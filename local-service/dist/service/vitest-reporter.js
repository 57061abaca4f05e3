import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { framesIn, ReportWriter } from './report-writer.js';
// The project's own Vitest, version 3 or newer, loads this file.
export default class EventReporter {
    #report = new ReportWriter();
    #vitest;
    #files;
    #loadedFiles = 0;
    #finishedFiles = 0;
    #total = 0;
    /** Some versions of Vitest call it a second time. */
    onInit(vitest) {
        if (this.#vitest !== undefined)
            return;
        this.#vitest = vitest;
        // Then Vitest says in which line a test begins. If a failure has no place in its test's file, this is its line.
        vitest.config.includeTaskLocation ??= true;
        // Vitest 3 has a listener after which no other is called.
        process.prependOnceListener('exit', () => this.#endEarly());
        process.prependOnceListener('SIGINT', () => this.#endByStop());
        const { logger } = vitest;
        let isAboutTests = false;
        // All that Vitest says about itself goes through this method, and the output of tests does not.
        const error = logger.error;
        logger.error = (...parts) => {
            if (!isAboutTests)
                this.#report.say(parts.join(' '));
            error.apply(logger, parts);
        };
        // In `printErrorsSummary`, Vitest's own reporters print the errors of tests with `logger.error`. The results have these errors already.
        for (const reporter of reportersOf(vitest)) {
            const print = reporter.printErrorsSummary;
            if (print === undefined)
                continue;
            reporter.printErrorsSummary = (...args) => {
                isAboutTests = true;
                print.apply(reporter, args);
                isAboutTests = false;
            };
        }
    }
    onTestRunStart(files) {
        this.#files = files.length;
    }
    /** Vitest learns the tests of a file when it loads the file. So the total is known when the last file is loaded. */
    onTestModuleCollected(module) {
        this.#total += [...module.children.allTests()].length;
        if (++this.#loadedFiles === this.#files)
            this.#report.setTotal(this.#total);
    }
    /** Despite the method's name, Vitest calls it when a worker begins with the file. */
    onTestModuleQueued(module) {
        this.#report.announceFile('file-started', describeFile(module));
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
        this.#finishedFiles++;
        this.#report.announceFile('file-finished', describeFile(module));
    }
    /** If a worker does not end in time, Vitest 3 may exit when all tests have ended, without another call. */
    #endEarly() {
        if (this.#report.hasFinished || this.#finishedFiles !== this.#files)
            return;
        this.onTestRunEnd([], this.#vitest?.state.getUnhandledErrors());
    }
    /**
     * The service stops a run with this signal, which ends Vitest at once. For each file:
     * 1. If a test of the file is running, the tests that never began are reported as skipped.
     * 2. If none is known to run, the worker may be blocked in any of its tests. So none is reported, and the service lists the file as unfinished.
     */
    #endByStop() {
        for (const { children } of this.#vitest?.state.getTestModules() ?? []) {
            const pending = [...children.allTests()].filter((test) => test.result().state === 'pending');
            const isRunning = ({ id }) => this.#report.isRunning(id);
            if (!pending.some(isRunning))
                continue;
            for (const test of pending.filter((one) => !isRunning(one)))
                this.#report.finishTest(describeTest(test), this.#describeResult(test));
        }
        // This listener has replaced the default action of the signal, which ends the process. So without another listener, the signal is sent again.
        if (process.listenerCount('SIGINT') === 0)
            process.kill(process.pid, 'SIGINT');
    }
    onTestRunEnd(_, errors) {
        const { state, config } = this.#vitest ?? {};
        // In a merge, some versions of Vitest leave modules out of the list that they pass, such as those of type tests.
        const modules = state?.getTestModules() ?? [];
        // Vitest finds the files in any order. With an order of their own, two runs can be compared.
        const ordered = modules.sort(({ moduleId: a }, { moduleId: b }) => Number(a > b) - Number(a < b));
        this.#report.finish({
            // The errors of loading a file, and of its hooks outside describe blocks.
            files: ordered
                .filter((module) => module.errors().length > 0)
                .map((module) => ({ ...describeFile(module), failure: this.#describeFailure(module.errors()) })),
            tests: ordered.flatMap(({ children }) => [
                ...[...children.allTests()].map((test) => ({ ...describeTest(test), ...this.#describeResult(test) })),
                // The describe blocks in which a hook for all tests failed.
                ...[...children.allSuites()]
                    .filter((suite) => suite.errors().length > 0)
                    .map((suite) => ({
                    ...describeTest(suite),
                    isBlock: true,
                    ...FAILED,
                    failure: this.#describeFailure(suite.errors()),
                })),
            ]),
            errors: errors.map((error) => this.#describeUnhandled(error)),
            hasCoverage: config?.coverage.enabled,
        });
    }
    #describeResult(test) {
        const result = test.result();
        const { state, errors = [] } = result;
        if (state === 'pending')
            return this.#report.unfinished(test.id);
        const { flaky = false, duration = 0 } = test.diagnostic() ?? {};
        // Before version 5, Vitest calls a test flaky that should fail, and failed as it should.
        const isFlaky = flaky && test.options.fails !== true;
        const note = result.state === 'skipped' ? result.note : undefined;
        const failure = note ? { message: note } : this.#describeFailure(lastAttemptOf(test, errors));
        return { status: isFlaky ? 'FLAKY' : STATUS_OF[state], durationMs: duration, failure };
    }
    #describeFailure(errors) {
        return this.#report.describeFailure(errors, (error) => [
            ...this.#placeOfParser(error),
            // Vitest 3.0 has not parsed the stack yet, and no version that of a cause.
            ...(Array.isArray(error.stacks) ? error.stacks : framesIn(error.stack)),
        ]);
    }
    #describeUnhandled(error) {
        const { VITEST_TEST_PATH: file, VITEST_TEST_NAME: test } = error;
        const origin = [
            file && `This error originated in ${JSON.stringify(this.#report.pathInRepository(file) ?? file)} test file.`,
            test && `The last test to run before this error was ${JSON.stringify(test)}.`,
        ];
        const failure = this.#describeFailure([error]);
        return { ...failure, file: failure?.file ?? file, origin: origin.filter(Boolean).join('\n') || undefined };
    }
    /**
     * The line that could not be parsed. Rolldown names the file from its project's root on. Oxc has the line only in the message, as in
     * `╭─[ cart.test.ts:3:7 ]`.
     */
    #placeOfParser({ __vitest_rollup_error__: where, message }) {
        if (where === undefined)
            return [];
        // Behind a question mark, there is the part of the file that a plugin has asked for.
        const name = String(where.loc?.file ?? where.id).replace(/\?.*/, '');
        const files = [name, ...(this.#vitest?.projects ?? []).map(({ config }) => join(config.root, name))];
        const file = files.find((one) => this.#report.isInRepository({ file: one }) && existsSync(one));
        if (file === undefined)
            return [];
        const [line] = /^\d+(?=:\d)/.exec(String(message).split(`${basename(file)}:`)[1] ?? '') ?? [];
        return [{ file, line: where.loc?.line ?? (line === undefined ? undefined : Number(line)) }];
    }
}
/** All versions from 3.0 on have this field, but version 5.1 does not declare it. */
export function reportersOf(vitest) {
    return vitest.reporters;
}
const FAILED = { status: 'FAILED', durationMs: 0 };
const STATUS_OF = { passed: 'PASSED', failed: 'FAILED', skipped: 'SKIPPED' };
/** Before version 5, Vitest has one list for all attempts. If the errors cannot be divided evenly among the attempts, all are shown. */
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
function describeFile(module) {
    const { project, moduleId } = module;
    // Vitest 5 keeps the variable VITEST_BLOB_LABEL of a merged report here. Vitest 3.0 does not have this method.
    const meta = module.meta?.() ?? {};
    const label = project.vitest.config.mergeReports ? meta.__vitest_label__ : undefined;
    return { project: project.name, label, file: moduleId };
}
