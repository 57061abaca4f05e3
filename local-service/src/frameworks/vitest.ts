import { join } from 'node:path'
import { REPORTERS_FOLDER } from '../reporters/report-writer.ts'
import {
  commandLine,
  EXTENSION,
  type Framework,
  NOT_PASSED_ON,
  PASS_WITH_NO_TESTS,
  placeReporter,
} from './framework.ts'

const RUNNER = join(REPORTERS_FOLDER, `vitest-run${EXTENSION}`)

export const vitest: Framework = {
  name: 'vitest',
  title: 'Vitest',
  packages: ['vitest'],
  oldestVersion: '3.0',
  noTestsArgument: PASS_WITH_NO_TESTS,
  hintWithoutReport: NOT_PASSED_ON,
  async prepareCall(options) {
    const { installed, isInPlace, reporterFolder, blobs } = options
    // What runs                    the service's reporter is added by    the reporters of the project
    // the runner, in place         the runner                            run
    // the runner, in a work tree   the runner                            do not run
    // a command of the project     the argument --reporter               do not run, because this argument replaces them
    //
    // The runner finds the project's Vitest itself, from the folder in which it runs.
    const start = installed && [installed.node, RUNNER]
    const isProjectCommand = installed === undefined
    const merge = blobs === undefined ? [] : [`--mergeReports=${blobs.folder}`]
    const reporter = isProjectCommand ? [`--reporter=${await placeReporter('vitest-reporter', reporterFolder)}`] : []
    const replacesReporters = isProjectCommand || !isInPlace
    const reporters = replacesReporters ? ['--reporter=default', ...reporter] : []
    return {
      // `--run` means the same as the command `run`, which the user may have written.
      argv: commandLine(start, options, ['--run', ...merge, ...reporters]),
      title: blobs === undefined ? 'vitest' : 'vitest --mergeReports',
      replacesReporters,
    }
  },
}
