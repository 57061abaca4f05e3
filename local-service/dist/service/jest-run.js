import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { loadJest, projectsOf, readConfigured } from './jest-config.js';
import { report, run } from './jest-reporter.js';
import { describeThrown } from './jest-results.js';
// Runs the command of the project's own Jest in this process, with the service's reporter beside those of the project. On the
// command line, a reporter would replace those of the project. `jest-run SCRIPT ARGUMENTS` has the path of Jest's own command.
const REPORTER = fileURLToPath(import.meta.url).replace(/jest-run(?=\.\w+$)/, 'jest-reporter');
process.argv.splice(1, 1);
const [, script = '', ...args] = process.argv;
// Jest's own command does so too.
process.env.NODE_ENV ??= 'test';
readOutput();
try {
    const jest = loadJest(script);
    const argv = await jest.buildArgv(args);
    // If Jest cannot read it, Jest says below what is wrong.
    const configured = await readConfigured(jest, argv).catch(() => undefined);
    const projectReporters = configured?.reporters ?? [['default', {}]];
    // The gate has annotations itself.
    const reporters = [[REPORTER, {}], ...projectReporters.filter(([name]) => name !== 'github-actions')];
    // It is the first, because no later reporter is called if an earlier reporter throws.
    const { results, globalConfig } = await jest.runCLI(configured === undefined ? argv : { ...argv, reporters }, projectsOf(argv));
    end(results === undefined || results.success ? 0 : globalConfig.testFailureExitCode, globalConfig);
}
catch (error) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    console.error(text);
    const failure = describeThrown(error, report);
    if (run.phase === 'before')
        finishWithout([failure]);
    else
        report.announce({ event: 'said', message: text });
    process.exit(1);
}
/** What Jest's own command does when the tests have ended. */
function end(code, { forceExit, detectOpenHandles, openHandlesTimeout = 1000 }) {
    process.on('exit', () => {
        if (code !== 0)
            process.exitCode = code;
    });
    if (forceExit)
        process.exit(code);
    if (detectOpenHandles || openHandlesTimeout === 0)
        return;
    setTimeout(() => {
        console.warn(`Jest did not exit ${openHandlesTimeout / 1000} s after the tests have ended. Something that a test has started still runs. To find it, run Jest with --detectOpenHandles.`);
    }, openHandlesTimeout).unref();
}
/** Takes what Jest says about itself before and after the tests: that there are none, and that a threshold is not met. */
function readOutput() {
    let lastLine = '';
    for (const stream of [process.stdout, process.stderr]) {
        const write = stream.write;
        stream.write = ((...parts) => {
            const text = run.phase === 'tests' ? '' : stripVTControlCharacters(String(parts[0])).trim();
            if (run.phase === 'before' && text.startsWith('No tests found, exiting with code 1'))
                finishWithout([]);
            if (run.phase === 'after' && text.startsWith('Jest: '))
                report.announce({ event: 'said', message: text });
            lastLine = /.*$/.exec(text)?.[0] || lastLine;
            return write.apply(stream, parts);
        });
    }
    // If Jest cannot use an argument, it prints its usage, and then what is wrong with the argument.
    process.once('exit', (code) => {
        if (run.phase === 'before' && code !== 0)
            finishWithout([{ message: lastLine }]);
    });
}
/** No test has begun. */
function finishWithout(errors) {
    run.phase = 'after';
    report.finish({ tests: [], files: [], errors });
}
