import { readdirSync } from 'node:fs'
import { wordsOf } from '../machine/script.ts'
import { SHARD_ROOTS } from '../reporters/report-writer.ts'
import { type CallOptions, commandLine, type Framework, NOT_PASSED_ON, placeReporter } from './framework.ts'

/** Without `--config`, a merge reports the paths of the shard's machine. So the service names the configuration, unless the user does. */
function configurationOf({ command = [], args, folders }: CallOptions): string[] {
  const given = [...wordsOf(command).words, ...args]
  if (given.some((argument) => /^(?:-c|--config(?:=|$))/.test(argument))) return []
  const found = readdirSync(folders.folder).find((file) => /^playwright\.config\.[cm]?[jt]s$/.test(file))
  return found === undefined ? [] : [`--config=${found}`]
}

export const playwright: Framework = {
  name: 'playwright',
  title: 'Playwright Test',
  // The second and later ones are for component tests.
  packages: [
    '@playwright/test',
    ...['react', 'react17', 'solid', 'svelte', 'vue', 'vue2'].map((name) => `@playwright/experimental-ct-${name}`),
  ],
  oldestVersion: '1.45',
  noTestsArgument: '--pass-with-no-tests',
  hintWithoutReport: NOT_PASSED_ON,
  async prepareCall(options) {
    const { installed, isInPlace, outputFolder, reporterFolder, blobs } = options
    const own = blobs === undefined ? 'test' : 'merge-reports'
    // A `command` of the project has Playwright's own command in it. A second `test` would be a filter, and other tests would not run.
    const start = installed && [installed.node, installed.script, own]
    const ours =
      blobs === undefined
        ? // A forgotten `test.only` would leave all other tests out, and the run would pass. If CI is set, Vitest refuses it by itself.
          ['--forbid-only']
        : [blobs.folder, ...configurationOf(options)]
    // The work tree is removed after the run. So Playwright writes its files to a folder that is kept. A merge, which has no option for this
    // folder, is always in place.
    const outputArguments = isInPlace ? [] : ['--reporter=list', `--output=${outputFolder}`]
    return {
      argv: commandLine(start, options, [...ours, ...outputArguments]),
      title: blobs === undefined ? 'playwright' : 'playwright merge-reports',
      env: {
        // Otherwise, the HTML reporter could open the report and wait for a person.
        PLAYWRIGHT_HTML_OPEN: 'never',
        // Playwright's documentation does not name this variable. It adds a reporter to those of the project.
        PW_TEST_REPORTER: await placeReporter('playwright-reporter', reporterFolder),
        ...(blobs && { [SHARD_ROOTS]: JSON.stringify(blobs.roots) }),
      },
      replacesReporters: !isInPlace,
    }
  },
}
