var __rewriteRelativeImportExtension = (this && this.__rewriteRelativeImportExtension) || function (path, preserveJsx) {
    if (typeof path === "string" && /^\.\.?\//.test(path)) {
        return path.replace(/\.(tsx)$|((?:\.d)?)((?:\.[^./]+?)?)\.([cm]?)ts$/i, function (m, tsx, d, ext, cm) {
            return tsx ? preserveJsx ? ".jsx" : ".js" : d && (!ext || !cm) ? m : (d + ext + "." + cm.toLowerCase() + "js");
        });
    }
    return path;
};
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import EventReporter, { reportersOf } from './vitest-reporter.js';
// Runs the command of the project's own Vitest in this process, with the service's reporter beside those of the project. Vitest has
// no option for that. Its reporter for GitHub goes, because the gate has annotations itself.
const api = createRequire(resolve('package.json')).resolve('vitest/node');
const command = join(dirname(api), '../vitest.mjs');
const { createVitest } = await import(__rewriteRelativeImportExtension(pathToFileURL(api).href));
const prototype = await findPrototype();
const { start, mergeReports } = prototype;
prototype.start = function (...filters) {
    addReporter(this, ['GithubActionsReporter']);
    return start.apply(this, filters);
};
prototype.mergeReports = function (...folder) {
    // Vitest refuses to merge if the project also writes a blob report.
    addReporter(this, ['GithubActionsReporter', 'BlobReporter']);
    return mergeReports.apply(this, folder);
};
process.argv[1] = command;
await import(__rewriteRelativeImportExtension(pathToFileURL(command).href));
/** Vitest does not export its class. So this creates an instance without a project, and returns its prototype. */
async function findPrototype() {
    const env = { ...process.env };
    const instance = await createVitest('test', { config: false, root: tmpdir(), run: true, watch: false });
    await instance.close();
    // Vite and Vitest have set variables, such as NODE_ENV.
    for (const name of Object.keys(process.env))
        if (!Object.hasOwn(env, name))
            delete process.env[name];
    Object.assign(process.env, env);
    return Object.getPrototypeOf(instance);
}
function addReporter(vitest, notWanted) {
    const reporters = reportersOf(vitest);
    const useful = reporters.filter((one) => !notWanted.includes(one.constructor.name));
    const ours = new EventReporter();
    ours.onInit(vitest);
    // It is the first, because no later reporter is called if an earlier reporter throws.
    reporters.splice(0, reporters.length, ours, ...useful);
}
