import { dirname, relative } from 'node:path';
import { framesIn, ReportWriter, SHARD_ROOTS, } from './report-writer.js';
// The project's own Playwright Test, version 1.45 or newer, loads this file.
// A test may start Playwright itself, which must not write to this report.
delete process.env.PW_TEST_REPORTER;
leaveOutAnnotations();
/**
 * The service always adds --forbid-only, except in a merge. If Playwright's configuration does not have it, the command has dropped the
 * service's arguments. This reporter is loaded nevertheless, because a variable names it.
 */
const NOT_PASSED_ON = 'Playwright got no --forbid-only from the service, so the "command" of the project does not pass on what the service adds. ' +
    'In a script, write "$@" behind the call of Playwright.';
export default class EventReporter {
    #isMerge = SHARD_ROOTS in process.env;
    #report = new ReportWriter();
    #errors = [];
    #config;
    #tests = [];
    /** Otherwise, Playwright would show nothing if no other reporter prints. */
    printsToStdio() {
        return false;
    }
    onBegin(config, suite) {
        this.#config = config;
        this.#tests = suite.allTests();
        this.#report.setTotal(this.#tests.length);
        process.once('exit', () => this.#endEarly());
    }
    onTestBegin(test) {
        this.#report.startTest(describeTest(test));
    }
    /** Playwright calls it for each attempt. */
    onTestEnd(test, result) {
        const facts = this.#describeResult(test, result);
        const isTriedAgain = (facts.status === 'FAILED' || facts.status === 'TIMEDOUT') && result.retry < test.retries;
        // If the run ends before the next attempt, the test has not finished, and the failure of this attempt is the reason.
        this.#report.finishTest(describeTest(test), isTriedAgain ? { ...facts, status: 'INTERRUPTED' } : facts);
    }
    onError(error) {
        this.#errors.push(this.#withOwnPaths(error));
    }
    /** A global teardown, or a reporter of the project, may end the process when all tests have ended. */
    #endEarly() {
        const haveEnded = this.#tests.every(({ id, results }) => results.length > 0 && !this.#report.isRunning(id));
        if (!this.#report.hasFinished && haveEnded)
            this.onEnd();
    }
    onEnd(result) {
        const fileErrors = this.#errors.filter((error) => this.#isOfFile(error));
        const others = this.#errors.filter((error) => !fileErrors.includes(error) && !FOUND_NO_TESTS.test(error.message ?? ''));
        const tests = worstOfEachTest(this.#tests);
        const isFlaky = this.#config?.failOnFlakyTests && tests.some((test) => test.outcome() === 'flaky');
        const flaky = isFlaky ? [{ message: 'failOnFlakyTests is set, and a test is flaky' }] : [];
        this.#report.finish({
            problem: this.#isMerge || this.#config?.forbidOnly ? undefined : NOT_PASSED_ON,
            status: result?.status ?? 'unfinished',
            files: fileErrors.map((error) => ({
                project: '',
                file: error.location?.file ?? '',
                failure: this.#describeFailure([error]),
            })),
            tests: tests.map((test) => ({ ...describeTest(test), ...this.#describeEnd(test) })),
            errors: [...others.flatMap((error) => this.#describeFailure([error]) ?? []), ...flaky],
        });
    }
    /** A test that never began has no result. A test that had begun when Playwright ended may have one that is not finished. */
    #describeEnd(test) {
        const result = test.results.at(-1);
        if (result === undefined || this.#report.isRunning(test.id))
            return this.#report.unfinished(test.id);
        return this.#describeResult(test, result);
    }
    #describeResult(test, result) {
        const durationMs = test.results.reduce((sum, { duration }) => sum + duration, 0);
        const lastFailed = test.results.findLast(({ errors }) => errors.length > 0);
        // In the mode `serial`, Playwright skips a later attempt of a test if a test before it fails again. Then the last failed attempt is shown.
        const showsEarlier = test.outcome() === 'flaky' || result.status === 'skipped';
        const shown = showsEarlier && lastFailed !== undefined ? lastFailed : result;
        const status = statusOf(test, shown);
        const failure = this.#failureOf(test, status, shown);
        const details = this.#describeDetails(test, shown);
        return { status, durationMs, failure: failure && { ...failure, message: failure.message.trimEnd() + details } };
    }
    #failureOf({ annotations }, status, shown) {
        const { description } = annotations.findLast(({ type }) => type === 'skip' || type === 'fixme') ?? {};
        if (status === 'SKIPPED' && description)
            return { message: description };
        if (status === 'FAILED' && shown.status === 'passed')
            return { message: 'The test is expected to fail, but it passed.' };
        return this.#describeFailure(this.#withOwnPaths(shown.errors));
    }
    /** The step that failed, as Playwright prints it behind the title, and the files that show what happened. */
    #describeDetails(test, { steps, attachments }) {
        const step = stepPath(steps);
        // The output folder of a run in a work tree is named `files`, and output.ts later moves it into the folder of the run's output. So a path from its
        // parent, such as `files/trace.zip`, stays right.
        const parentOfOutput = dirname(test.parent.project()?.outputDir ?? '');
        const files = attachments.flatMap(({ name, path }) => 
        // Playwright attaches a summary for language models to each failure.
        path === undefined || name === 'error-context'
            ? []
            : `${name}: ${this.#report.pathInRepository(path) ?? relative(parentOfOutput, path)}`);
        const lines = [...(step.length === 0 ? [] : [`Step: ${step.join(' > ')}`]), ...files];
        return lines.length === 0 ? '' : `\n\n${lines.join('\n')}`;
    }
    #withOwnPaths(errors) {
        return this.#report.withOwnPaths(errors, this.#config?.rootDir ?? '');
    }
    #describeFailure(errors) {
        return this.#report.describeFailure(errors, ({ location, stack }) => {
            const frames = framesIn(stack);
            const isFrame = frames.some(({ file, line }) => file === location?.file && line === location.line);
            return location === undefined || isFrame ? frames : [location, ...frames];
        });
    }
    /**
     * Whether the error says that a file of tests could not be loaded. Such an error has a place in the repository, and no test has begun. An
     * error of the global setup looks like it, so its stack is checked.
     */
    #isOfFile({ location, stack = '' }) {
        const setups = [this.#config?.globalSetup, this.#config?.globalTeardown];
        const isOfSetup = setups.some((file) => typeof file === 'string' && stack.includes(file));
        const hasBegun = this.#tests.some(({ results }) => results.length > 0);
        return location !== undefined && this.#report.isInRepository(location) && !hasBegun && !isOfSetup;
    }
}
const FOUND_NO_TESTS = /^(?:Error: )?No tests found/;
function describeTest(test) {
    // The first three are the root, the project and the file.
    const [, project = '', , ...path] = test.titlePath();
    const file = fileOf(test);
    // A helper in another file may define the test.
    const line = test.location.file === file ? test.location.line : undefined;
    return { id: test.id, project, file, line, path };
}
const FROM_BEST_TO_WORST = ['skipped', 'expected', 'flaky', 'unexpected', 'interrupted'];
function rankOf(test) {
    // Playwright says of a test that was cut off that it was skipped.
    const isInterrupted = test.results.at(-1)?.status === 'interrupted';
    return FROM_BEST_TO_WORST.indexOf(isInterrupted ? 'interrupted' : test.outcome());
}
/**
 * Each shard runs the projects on which others depend. So a merge has their tests several times, each time with another id. Of the tests with the
 * same titles, the worst result counts. Every other test is there once.
 */
function worstOfEachTest(tests) {
    const projects = new Set(tests.map((test) => test.parent.project()));
    const namesOfRepeated = new Set([...projects].flatMap((one) => [one?.teardown, ...(one?.dependencies ?? [])]));
    const worst = new Map();
    for (const test of tests) {
        const isRepeated = namesOfRepeated.has(test.parent.project()?.name);
        const key = isRepeated ? JSON.stringify([test.titlePath(), test.repeatEachIndex]) : test.id;
        const other = worst.get(key);
        if (other === undefined || rankOf(test) > rankOf(other))
            worst.set(key, test);
    }
    return [...worst.values()];
}
function fileOf({ parent, location }) {
    let suite = parent;
    while (suite !== undefined && suite.type !== 'file')
        suite = suite.parent;
    return suite?.location?.file ?? location.file;
}
/** Playwright compares each test with its expected status. The attempt that is shown says how the test failed. */
function statusOf(test, { status }) {
    if (status === 'interrupted')
        return 'INTERRUPTED';
    switch (test.outcome()) {
        case 'expected':
            return 'PASSED';
        case 'flaky':
            return 'FLAKY';
        case 'skipped':
            return 'SKIPPED';
        case 'unexpected':
            return status === 'timedOut' ? 'TIMEDOUT' : 'FAILED';
    }
}
/** The titles of the step that failed and of the failed steps within it. Empty if several steps failed. If a step has not ended, its duration is -1. */
function stepPath(steps) {
    const [failed, ...others] = steps.filter(({ error, duration }) => error !== undefined || duration < 0);
    if (failed?.category !== 'test.step' || others.length > 0)
        return [];
    return [failed.title, ...stepPath(failed.steps)];
}
/** The gate has annotations itself, so those of Playwright's reporter for GitHub would only be noise in its log. */
function leaveOutAnnotations() {
    const { stdout } = process;
    const write = stdout.write;
    stdout.write = ((...args) => {
        const [text] = args;
        // A test may print such a line too. Only the class that writes tells them apart.
        const isAnnotation = typeof text === 'string' && text.startsWith('::') && new Error().stack?.includes('at GitHubLogger.');
        return isAnnotation || write.apply(stdout, args);
    });
}
