import { join } from 'node:path'
import { REPORTERS_FOLDER } from '../reporters/report-writer.ts'
import { commandLine, EXTENSION, type Framework, loadsReporters, PASS_WITH_NO_TESTS } from './framework.ts'
import { mergeVitest } from './merge.ts'
import { whyRefused } from './refused-settings.ts'

const REPORTER = join(REPORTERS_FOLDER, `vitest-reporter${EXTENSION}`)
/** Adds the reporter without Vite. From 6.4.2 on, Vite 6 loads no reporter for Vitest 3 from outside the project. */
const RUNNER = join(REPORTERS_FOLDER, `vitest-run${EXTENSION}`)

export const vitest: Framework = {
  name: 'vitest',
  title: 'Vitest',
  packages: ['vitest'],
  oldestVersion: '3.0',
  noTestsArgument: PASS_WITH_NO_TESTS,
  // Also with a name of one's own, such as `vitest.e2e.config.ts`.
  configFile: /^vitest\b.*\b(?:config|workspace)\b.*\.(?:[cm]?[jt]s|json)$/,
  sharedConfigFile: /^vite\.config\.[cm]?[jt]s$/,
  refuse: (settings, folder) => whyRefused('vitest', settings, folder),
  async run(options) {
    const { start, isInPlace, env, merge } = options
    const begun = merge === undefined ? { ours: [], title: 'vitest', env } : await mergeVitest(merge, options)
    if ('kind' in begun) return begun
    const { ours, ...call } = begun
    const usesRunner = start.kind === 'installed' && loadsReporters(start.node)
    const reporter = usesRunner ? [] : [`--reporter=${REPORTER}`]
    const reporters = usesRunner && isInPlace ? [] : ['--reporter=default', ...reporter]
    const started = usesRunner ? { ...options, start: { ...start, script: RUNNER } } : options
    return {
      ...call,
      // It means the same as the command `run`, which the user may have written.
      argv: commandLine(started, ['--run', ...ours, ...reporters]),
      replacesReporters: !(usesRunner && isInPlace),
    }
  },
}
