import { appendFileSync } from 'node:fs';
// The project's own Vitest, version 3 or newer, loads this file. So the file must bring no packages of its own. It writes each
// event at once, as a line of JSON. If a run is killed, the lines show how far it came.
export const REPORT_FILE = 'LOCAL_SERVICE_REPORT_FILE';
export default class EventReporter {
    #file = process.env[REPORT_FILE];
    /** The ids of the tests that have started, and of the tests that have finished. */
    #started = new Set();
    #finished = new Set();
    /** Despite the method's name, Vitest calls it when a worker begins with the file. */
    onTestModuleQueued(module) {
        this.#write({ event: 'file-started', file: describeFile(module) });
    }
    onTestCaseReady(test) {
        this.#started.add(test.id);
        this.#write({ event: 'test-started', test: describeTest(test), atMs: Date.now() });
    }
    onTestCaseResult(test) {
        this.#finished.add(test.id);
        const about = this.#started.has(test.id) ? { id: test.id } : describeTest(test);
        this.#write({ event: 'test-finished', test: { ...about, ...describeResult(test) } });
    }
    onTestModuleEnd(module) {
        this.#write({ event: 'file-finished', file: describeFile(module) });
    }
    /** There are no events for some skipped tests, and for tests of a worker that died. */
    onTestRunEnd(modules, errors) {
        const files = modules.map((module) => ({ ...describeFile(module), hasFailed: module.state() === 'failed' }));
        const tests = modules
            .flatMap((module) => [...module.children.allTests()])
            .filter(({ id }) => !this.#finished.has(id))
            .map((test) => ({ ...describeTest(test), ...describeResult(test) }));
        this.#write({
            event: 'finished',
            files,
            tests,
            workerEnd: errors.map(findWorkerEnd).find((end) => end !== undefined),
        });
    }
    #write(event) {
        if (this.#file !== undefined)
            appendFileSync(this.#file, `${JSON.stringify(event)}\n`);
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
    /** The path has the titles of the describe blocks, then the test's own. */
    return { ...describeFile(test.module), id: test.id, path };
}
function describeResult(test) {
    const diagnostic = test.diagnostic();
    const [isFlaky, durationMs] = [diagnostic?.flaky ?? false, diagnostic?.duration ?? 0];
    return { state: test.result().state, isFlaky, durationMs };
}
/** The name of the Vitest project is empty if there is only one without a name. */
function describeFile({ project, moduleId }) {
    return { project: project.name, file: moduleId };
}
