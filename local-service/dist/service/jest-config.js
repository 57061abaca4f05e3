import { realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
/** `script` is Jest's own command. It may be a link, for example with pnpm. */
export function loadJest(script) {
    const pathOfCli = createRequire(realpathSync(script)).resolve('jest-cli');
    const requireOfCli = createRequire(pathOfCli);
    const cli = requireOfCli('jest-cli');
    return {
        // Jest 29 exports it only from a file of its own.
        buildArgv: cli.buildArgv ?? requireOfCli(join(dirname(pathOfCli), 'run.js')).buildArgv,
        readConfigs: requireOfCli('jest-config').readConfigs,
        runCLI: requireOfCli('@jest/core').runCLI,
    };
}
/** The folders or configurations that the command names, else the current folder. Jest's own command does the same. */
export function projectsOf({ projects = [] }) {
    return projects.length === 0 ? [process.cwd()] : projects;
}
/** What the project has configured. Jest reads it too, so its warnings are left out here. */
export async function readConfigured(jest, argv) {
    const { warn, error } = console;
    console.warn = console.error = () => undefined;
    try {
        return (await jest.readConfigs(argv, projectsOf(argv))).globalConfig;
    }
    finally {
        Object.assign(console, { warn, error });
    }
}
