import { describeCase, describeFile, describeResults, describeTest, keyOfTest, } from './jest-results.js';
import { ReportWriter } from './report-writer.js';
/** Jest creates the reporter when it has found the tests. What happens before is written to the same report. */
export const report = new ReportWriter();
export const run = { phase: 'before' };
export default class EventReporter {
    /** The results of tests that were tried again have only the last attempt. */
    #failedAttempts = new Map();
    /** Only the events of a file have its own project. Those of a test have any project. */
    #files = new Map();
    /** With their projects, because the result of a file that could not be loaded does not name its project. */
    #results = [];
    onRunStart() {
        run.phase = 'tests';
    }
    onTestFileStart({ path, context }) {
        const file = { testFilePath: path, displayName: context.config.displayName };
        this.#files.set(path, file);
        report.announce({ event: 'file-started', file: describeFile(file) });
    }
    onTestCaseStart(test, started) {
        report.startTest(describeTest(this.#fileOf(test), started));
    }
    /** Jest calls it for each attempt. */
    onTestCaseResult(test, result) {
        const file = this.#fileOf(test);
        const key = keyOfTest(file, result);
        if (result.status === 'failed')
            this.#failedAttempts.set(key, result);
        report.finishTest(describeTest(file, result), describeCase(result, report, this.#failedAttempts.get(key)));
    }
    onTestFileResult({ context }, result) {
        const file = { ...result, displayName: context.config.displayName };
        this.#results.push(file);
        report.announce({ event: 'file-finished', file: describeFile(file) });
    }
    /** With `--bail`, Jest exits when it has called this. */
    onRunComplete(_, results) {
        run.phase = 'after';
        report.finish(describeResults({ ...results, testResults: this.#results }, report, this.#failedAttempts));
    }
    #fileOf({ path }) {
        return this.#files.get(path) ?? { testFilePath: path };
    }
}
