import { join } from 'node:path'
import { REPORTERS_FOLDER } from '../reporters/report-writer.ts'
import { commandLine, EXTENSION, type Framework, loadsReporters, PASS_WITH_NO_TESTS } from './framework.ts'
import { whyRefused } from './refused-settings.ts'

const RUNNER = join(REPORTERS_FOLDER, `jest-run${EXTENSION}`)
const PROCESSOR = join(REPORTERS_FOLDER, `jest-processor${EXTENSION}`)

export const jest: Framework = {
  name: 'jest',
  title: 'Jest',
  packages: ['jest'],
  oldestVersion: '29.0',
  noTestsArgument: PASS_WITH_NO_TESTS,
  // Also with a name of one's own, such as `jest.e2e.config.ts`.
  configFile: /^jest\b.*\bconfig\b.*\.(?:[cm]?[jt]s|json)$/,
  manifestKey: 'jest',
  refuse: (settings, folder) => whyRefused('jest', settings, folder),
  async run(options) {
    const { start, env, selection } = options
    // A list takes the words behind it. So the list of projects is behind the files, and before an option without a value.
    const projects = selection.frameworkProjects.map((name) => `--selectProjects=${name}`)
    const selected = [...selection.files, ...projects, '--ci', '--testLocationInResults']
    const call = { title: 'jest', env, replacesReporters: false }
    if (start.kind === 'installed' && loadsReporters(start.node)) {
      const started = { ...options, start: { ...start, script: RUNNER } }
      return { ...call, argv: commandLine(started, [start.script], selected) }
    }
    // The option leaves the reporters of the project in force, and the file calls what the project has configured for it.
    return {
      ...call,
      argv: commandLine(options, [`--testResultsProcessor=${PROCESSOR}`], selected),
      reportsOnlyEnd: true,
    }
  },
}
