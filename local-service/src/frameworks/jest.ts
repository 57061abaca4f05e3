import { join } from 'node:path'
import { REPORTERS_FOLDER } from '../reporters/report-writer.ts'
import { commandLine, EXTENSION, type Framework, NOT_PASSED_ON, PASS_WITH_NO_TESTS } from './framework.ts'
import { whyRefused } from './refused-settings.ts'

const RUNNER = join(REPORTERS_FOLDER, `jest-run${EXTENSION}`)
const PROCESSOR = join(REPORTERS_FOLDER, `jest-processor${EXTENSION}`)

export const jest: Framework = {
  name: 'jest',
  title: 'Jest',
  packages: ['jest'],
  oldestVersion: '29.0',
  noTestsArgument: PASS_WITH_NO_TESTS,
  refuse: (settings, folder) => whyRefused('jest', settings, folder),
  async run(options) {
    const { installed, selection } = options
    const start = installed && [installed.node, RUNNER, installed.script]
    // The option leaves the reporters of the project in force, and the file calls what the project has configured for it.
    const ours = installed === undefined ? [`--testResultsProcessor=${PROCESSOR}`] : []
    // A list takes the words behind it. So the list of projects is behind the files, and before an option without a value.
    const projects = selection.frameworkProjects.map((name) => `--selectProjects=${name}`)
    const selected = [...selection.files, ...projects, '--ci', '--testLocationInResults']
    return {
      argv: commandLine(start, options, ours, selected),
      title: 'jest',
      replacesReporters: false,
      // Jest calls the processor of results at the end of the tests. An old version cannot load it.
      withoutReport:
        installed === undefined
          ? `${NOT_PASSED_ON} And no test is reported if --bail stops the run, or if Jest is older than 29.0.`
          : undefined,
    }
  },
}
