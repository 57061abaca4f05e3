var __rewriteRelativeImportExtension = (this && this.__rewriteRelativeImportExtension) || function (path, preserveJsx) {
    if (typeof path === "string" && /^\.\.?\//.test(path)) {
        return path.replace(/\.(tsx)$|((?:\.d)?)((?:\.[^./]+?)?)\.([cm]?)ts$/i, function (m, tsx, d, ext, cm) {
            return tsx ? preserveJsx ? ".jsx" : ".js" : d && (!ext || !cm) ? m : (d + ext + "." + cm.toLowerCase() + "js");
        });
    }
    return path;
};
import { pathToFileURL } from 'node:url';
import { loadJest, readConfigured } from './jest-config.js';
import { describeResults } from './jest-results.js';
import { ReportWriter } from './report-writer.js';
// Jest calls this file with the results when the tests have ended, as its option `--testResultsProcessor`. If a project has a command,
// nothing else can carry the results out and leave the project's reporters in force.
export default async function processResults(results) {
    const report = new ReportWriter();
    report.finish(describeResults(results, report));
    const configured = await findConfigured();
    return configured === undefined ? results : configured(results);
}
/** The option has replaced the one that the project has configured. If that one cannot be loaded, Jest fails, as it does by hand. */
async function findConfigured() {
    const path = await findPath().catch((error) => {
        if (error.message.includes(OPTION))
            throw error;
        // The command may be another program that starts Jest, and then its arguments mean something else.
        console.warn(`The service cannot find out whether the project has a ${OPTION}: ${error.message}`);
    });
    if (typeof path !== 'string')
        return undefined;
    const { default: exported } = await import(__rewriteRelativeImportExtension(pathToFileURL(path).href));
    // Babel and TypeScript put a default export into the exports of CommonJS.
    return exported.default ?? exported;
}
const OPTION = 'testResultsProcessor';
async function findPath() {
    const [, script = '', ...args] = process.argv;
    const jest = loadJest(script);
    const argv = await jest.buildArgv(args);
    return (await readConfigured(jest, { ...argv, [OPTION]: undefined }))[OPTION];
}
