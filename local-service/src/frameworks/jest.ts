import { join } from 'node:path'
import { REPORTERS_FOLDER } from '../reporters/report-writer.ts'
import { commandLine, EXTENSION, type Framework, NOT_PASSED_ON, PASS_WITH_NO_TESTS } from './framework.ts'

const RUNNER = join(REPORTERS_FOLDER, `jest-run${EXTENSION}`)
const PROCESSOR = join(REPORTERS_FOLDER, `jest-processor${EXTENSION}`)

export const jest: Framework = {
  name: 'jest',
  title: 'Jest',
  packages: ['jest'],
  oldestVersion: '29.0',
  noTestsArgument: PASS_WITH_NO_TESTS,
  // Jest calls the service's processor only at the end of the tests. An old version cannot load it.
  hintWithoutReport: `${NOT_PASSED_ON} And no test is reported if --bail stops the run, or if Jest is older than 29.0.`,
  async prepareCall(options) {
    const { installed, selection } = options
    const start = installed && [installed.node, RUNNER, installed.script]
    // Unlike `--reporters`, this option leaves the reporters of the project in force. If the project has configured a processor too,
    // the service's processor calls it.
    const ours = installed === undefined ? [`--testResultsProcessor=${PROCESSOR}`] : []
    // Jest takes the words behind `--selectProjects=api` for further projects, up to the next option. So the files are before it, and
    // `--ci` is behind it.
    const projects = selection.frameworkProjects.map((name) => `--selectProjects=${name}`)
    const selected = [...selection.files, ...projects, '--ci', '--testLocationInResults']
    return {
      argv: commandLine(start, options, ours, selected),
      title: 'jest',
      replacesReporters: false,
    }
  },
}
