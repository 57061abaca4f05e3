var __rewriteRelativeImportExtension = (this && this.__rewriteRelativeImportExtension) || function (path, preserveJsx) {
    if (typeof path === "string" && /^\.\.?\//.test(path)) {
        return path.replace(/\.(tsx)$|((?:\.d)?)((?:\.[^./]+?)?)\.([cm]?)ts$/i, function (m, tsx, d, ext, cm) {
            return tsx ? preserveJsx ? ".jsx" : ".js" : d && (!ext || !cm) ? m : (d + ext + "." + cm.toLowerCase() + "js");
        });
    }
    return path;
};
import { spawnSync } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { describeResults } from './jest-results.js';
import { ReportWriter } from './report-writer.js';
// Jest calls this file with the results when the tests have ended, as its option `--testResultsProcessor`. If a project has a command,
// nothing else can carry the results out and leave the project's reporters in force.
export default async function processResults(results) {
    const report = new ReportWriter();
    report.finish(describeResults(results, report));
    const path = findConfigured();
    if (path === undefined)
        return results;
    const { default: exported } = await import(__rewriteRelativeImportExtension(pathToFileURL(path).href));
    // Babel and TypeScript put a default export into the exports of CommonJS.
    return (exported.default ?? exported)(results);
}
const OPTION = 'testResultsProcessor';
/**
 * Finds the results processor of the project, because ours has replaced it. If Jest cannot load the project's own, its error names the option. Then
 * the run fails, as by hand.
 */
function findConfigured() {
    const [, script = '', ...all] = process.argv;
    const args = all.filter((arg) => !arg.startsWith(`--${OPTION}=`));
    const { status, stdout, stderr } = showConfig(script, args);
    if (status !== 0 && stderr.includes(OPTION))
        throw new Error(stderr.trim());
    // The command may be another program that starts Jest, and then its arguments mean something else.
    if (status !== 0)
        console.warn(`The service cannot find out whether the project has a ${OPTION}: ${stderr}`);
    // Before the configuration, there may be what the project's own files print.
    const [, path] = /^ {4}"testResultsProcessor": (".*")/m.exec(stdout) ?? [];
    return path && JSON.parse(path);
}
function showConfig(script, args) {
    try {
        const jest = createRequire(realpathSync(script)).resolve('jest-cli/bin/jest');
        // The option is first. Behind a `--` of the user, Jest would take it for a part of a path, and run the tests again.
        const command = [jest, '--showConfig', ...args];
        return spawnSync(process.execPath, command, { encoding: 'utf8', maxBuffer: Number.POSITIVE_INFINITY });
    }
    catch (error) {
        return { status: 1, stdout: '', stderr: error.message };
    }
}
