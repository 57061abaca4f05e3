import { realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { describeCase, describeFile, describePrinted, describeResults, describeTest, keyOfTest, } from './jest-results.js';
import { ReportWriter } from './report-writer.js';
// Runs the command of the project's own Jest in this process, with the service's reporter beside those of the project. On the
// command line, a reporter would replace those of the project. `jest-run SCRIPT ARGUMENTS` has the path of Jest's own command.
/** Jest creates the reporter when it has found the tests. What happens before is written to the same report. */
const report = new ReportWriter();
/** Before and after the tests, only Jest itself writes to the output. */
let phase = 'before';
process.argv.splice(1, 1);
// It may be a link, for example with pnpm.
const script = realpathSync(`${process.argv[1]}`);
// With pnpm, a package finds only those on which it depends itself. So each of these packages is found from the one before it.
const requireOfJest = createRequire(script);
const requireOfCli = createRequire(requireOfJest.resolve('jest-cli'));
const requireOfCore = createRequire(requireOfCli.resolve('@jest/core'));
wrap('jest-config', 'readConfigs', addReporter);
wrap('@jest/core', 'runCLI', announceErrors);
readOutput();
requireOfJest(script);
/**
 * Replaces a function of a package. Jest's own files load the package from the same cache, so they call the new function. The exports of the package
 * cannot be changed, so an object with the new function stands before them.
 */
function wrap(name, method, around) {
    const loaded = requireOfCore(name);
    const cached = requireOfCore.cache[requireOfCore.resolve(name)];
    if (cached !== undefined)
        cached.exports = Object.create(loaded, { [method]: { value: around(loaded[method]) } });
}
function addReporter(readConfigs) {
    return async (...args) => {
        const { globalConfig, ...others } = await readConfigs(...args);
        const { reporters = [['default', {}]] } = globalConfig;
        // The gate has annotations itself.
        const useful = reporters.filter(([name]) => name !== 'github-actions');
        // Ours is the first, because no later reporter is called if an earlier reporter throws.
        return {
            ...others,
            globalConfig: { ...globalConfig, reporters: [[fileURLToPath(import.meta.url), {}], ...useful] },
        };
    };
}
/** From the beginning of the tests on, Jest prints an error among the output of tests, for example the error of a global teardown. */
function announceErrors(runCLI) {
    return (...args) => runCLI(...args).catch((error) => {
        if (phase !== 'before')
            report.say(String(error?.stack ?? error));
        throw error;
    });
}
/** Takes what Jest says about itself: before the tests, that there are none, and after them, that a threshold is not met. */
function readOutput() {
    let lastText = '';
    for (const stream of [process.stdout, process.stderr]) {
        const write = stream.write;
        stream.write = ((...parts) => {
            const text = phase === 'tests' ? '' : stripVTControlCharacters(String(parts[0])).trim();
            if (phase === 'before' && text.startsWith('No tests found, exiting with code 1'))
                finishWithoutTests();
            if (phase === 'after' && text.startsWith('Jest: '))
                report.say(text);
            lastText = text || lastText;
            return write.apply(stream, parts);
        });
    }
    // The last text that Jest prints says why it could not begin. Before it, Jest may have printed its usage.
    process.once('exit', (code) => {
        if (phase === 'before' && code !== 0 && lastText !== '')
            finishWithoutTests(describePrinted(lastText, report));
    });
}
/** No test has begun. */
function finishWithoutTests(failure) {
    // So that the exit does not finish the report again.
    phase = 'after';
    report.finish({ tests: [], files: [], errors: failure === undefined ? [] : [failure] });
}
/**
 * Jest imports this file as a reporter too, in the same process. It gets this same module, so the code above does not run again, and both share
 * `report` and `phase`.
 */
export default class EventReporter {
    /** The results of tests that were tried again have only the last attempt. */
    #failedAttempts = new Map();
    /** The events of a file name the project of the file. The events of a test may name another project. */
    #files = new Map();
    /** With their projects, because the result of a file that could not be loaded does not name its project. */
    #results = [];
    onRunStart() {
        phase = 'tests';
    }
    onTestFileStart({ path, context }) {
        const file = { testFilePath: path, displayName: context.config.displayName };
        this.#files.set(path, file);
        report.announceFile('file-started', describeFile(file));
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
        report.announceFile('file-finished', describeFile(file));
    }
    /** With `--bail`, Jest exits when it has called this. */
    onRunComplete(_, results) {
        phase = 'after';
        report.finish(describeResults({ ...results, testResults: this.#results }, report, this.#failedAttempts));
    }
    #fileOf({ path }) {
        return this.#files.get(path) ?? { testFilePath: path };
    }
}
