import { realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { report, run } from './jest-reporter.js';
import { describePrinted } from './jest-results.js';
// Runs the command of the project's own Jest in this process, with the service's reporter beside those of the project. On the
// command line, a reporter would replace those of the project. `jest-run SCRIPT ARGUMENTS` has the path of Jest's own command.
const REPORTER = fileURLToPath(import.meta.url).replace(/jest-run(?=\.\w+$)/, 'jest-reporter');
process.argv.splice(1, 1);
// It may be a link, for example with pnpm.
const script = realpathSync(`${process.argv[1]}`);
const requireOfCore = createRequire(createRequire(createRequire(script).resolve('jest-cli')).resolve('@jest/core'));
wrap('jest-config', 'readConfigs', addReporter);
wrap('@jest/core', 'runCLI', announceErrors);
readOutput();
createRequire(script)(script);
/** Jest's own files load the package from the same cache. They get it with another function in place of its own. */
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
        return { ...others, globalConfig: { ...globalConfig, reporters: [[REPORTER, {}], ...useful] } };
    };
}
/** Those from the begin of the tests on, such as one of a global teardown. Jest prints it among the output of tests. */
function announceErrors(runCLI) {
    return (...args) => runCLI(...args).catch((error) => {
        if (run.phase !== 'before')
            report.say(String(error?.stack ?? error));
        throw error;
    });
}
/** Takes what Jest says about itself before and after the tests: that there are none, and that a threshold is not met. */
function readOutput() {
    let lastText = '';
    for (const stream of [process.stdout, process.stderr]) {
        const write = stream.write;
        stream.write = ((...parts) => {
            const text = run.phase === 'tests' ? '' : stripVTControlCharacters(String(parts[0])).trim();
            if (run.phase === 'before' && text.startsWith('No tests found, exiting with code 1'))
                finishWithout();
            if (run.phase === 'after' && text.startsWith('Jest: '))
                report.say(text);
            lastText = text || lastText;
            return write.apply(stream, parts);
        });
    }
    // The last that Jest prints is why it could not begin. Before it, there may be its usage.
    process.once('exit', (code) => {
        if (run.phase === 'before' && code !== 0 && lastText !== '')
            finishWithout(lastText);
    });
}
/** No test has begun. */
function finishWithout(printed) {
    run.phase = 'after';
    report.finish({ tests: [], files: [], errors: printed === undefined ? [] : [describePrinted(printed, report)] });
}
