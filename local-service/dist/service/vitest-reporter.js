import { appendFileSync } from 'node:fs';
// Loaded by the project's own Vitest, version 3 or newer, into which it must bring nothing of its own. It writes what
// happens as it happens, one line of JSON for each event, so that a run that is killed has reported how far it was.
export const REPORT_FILE = 'LOCAL_SERVICE_REPORT_FILE';
export default class EventReporter {
    #file = process.env[REPORT_FILE];
    /** Despite its name, Vitest calls it when a worker begins with the file. */
    onTestModuleQueued(module) {
        this.#write({ event: 'file-started', file: describeFile(module) });
    }
    onTestCaseReady(test) {
        this.#write({ event: 'test-started', test: describeTest(test), atMs: Date.now() });
    }
    onTestCaseResult(test) {
        this.#write({ event: 'test-finished', test: describeTest(test) });
    }
    onTestModuleEnd(module) {
        this.#write({ event: 'file-finished', file: describeFile(module) });
    }
    /** Everything, once more: there are no events for some tests that are skipped. */
    onTestRunEnd(modules) {
        const files = modules.map((module) => ({ ...describeFile(module), hasFailed: module.state() === 'failed' }));
        const tests = modules.flatMap((module) => [...module.children.allTests()].map(describeTest));
        this.#write({ event: 'finished', files, tests });
    }
    #write(event) {
        if (this.#file !== undefined)
            appendFileSync(this.#file, `${JSON.stringify(event)}\n`);
    }
}
function describeTest(test) {
    const path = [test.name];
    for (let { parent } = test; parent.type === 'suite'; parent = parent.parent)
        path.unshift(parent.name);
    const diagnostic = test.diagnostic();
    return {
        ...describeFile(test.module),
        id: test.id,
        /** The titles of the describe blocks, then the test's own. */
        path,
        state: test.result().state,
        isFlaky: diagnostic?.flaky ?? false,
        durationMs: diagnostic?.duration ?? 0,
    };
}
/** The name of the Vitest project is empty if there is only one without a name. */
function describeFile({ project, moduleId }) {
    return { project: project.name, file: moduleId };
}
