var __rewriteRelativeImportExtension = (this && this.__rewriteRelativeImportExtension) || function (path, preserveJsx) {
    if (typeof path === "string" && /^\.\.?\//.test(path)) {
        return path.replace(/\.(tsx)$|((?:\.d)?)((?:\.[^./]+?)?)\.([cm]?)ts$/i, function (m, tsx, d, ext, cm) {
            return tsx ? preserveJsx ? ".jsx" : ".js" : d && (!ext || !cm) ? m : (d + ext + "." + cm.toLowerCase() + "js");
        });
    }
    return path;
};
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
// Runs the project's own Vitest as its command does, and adds the service's reporter to the reporters of the project or of the
// arguments. Vitest's command has no option that adds a reporter. The arguments are those of that command. The current folder
// is that of the project.
const args = process.argv.slice(2);
try {
    await run(await loadApi());
}
catch (error) {
    // As Vitest's command does.
    console.error('\n⎯⎯⎯⎯⎯⎯⎯ Startup Error ⎯⎯⎯⎯⎯⎯⎯⎯');
    console.error(error);
    console.error('\n\n');
    process.exit(process.exitCode ?? 1);
}
async function loadApi() {
    const file = createRequire(resolve('package.json')).resolve('vitest/node');
    process.argv[1] = join(dirname(file), '../vitest.mjs');
    return import(__rewriteRelativeImportExtension(pathToFileURL(file).href));
}
async function run(api) {
    const { createVitest, parseCLI } = api;
    const { default: EventReporter } = await import('./vitest-reporter.js');
    refuseUnknownOptions(api);
    const { filter, options } = parseCLI(['vitest', ...args]);
    const { exclude, ...others } = options;
    // Vitest's command does this after it has parsed its arguments.
    const cliOptions = {
        ...others,
        ...(exclude === undefined ? {} : { cliExclude: [exclude].flat() }),
        ...(filter.some((name) => name.includes(':')) ? { includeTaskLocation: true } : {}),
    };
    Object.assign(process.env, { TEST: 'true', VITEST: 'true', NODE_ENV: process.env.NODE_ENV ?? 'test' });
    const vitest = await createVitest('test', { ...cliOptions, run: true, watch: false });
    // All versions from 3.0 on have this field, but version 5.1 does not declare it.
    const { reporters } = vitest;
    // In a job, Vitest adds this reporter. Its commands would only be noise in the log of the gate, which has annotations itself.
    const useful = reporters.filter((one) => one.constructor.name !== 'GithubActionsReporter');
    const reporter = new EventReporter();
    reporter.onInit(vitest);
    reporters.splice(0, reporters.length, ...useful, reporter);
    try {
        await vitest.start(filter);
    }
    catch (error) {
        // If there are no tests, Vitest has said so and has set the exit code.
        if (codeOf(error) !== 'VITEST_FILES_NOT_FOUND') {
            process.exitCode = 1;
            vitest.logger.printError(error, { fullStack: true, type: 'Unhandled Error' });
        }
    }
    await vitest.exit();
}
/** Vitest's command refuses an unknown option, but `parseCLI` does not. Only from version 5 on, Vitest gives its command. */
function refuseUnknownOptions({ createCLI }) {
    const commandLine = createCLI?.();
    commandLine?.parse(['node', 'vitest', ...args], { run: false });
    commandLine?.matchedCommand?.checkUnknownOptions();
}
function codeOf(error) {
    return error instanceof Error && 'code' in error ? error.code : undefined;
}
