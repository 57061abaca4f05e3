import { join } from 'node:path'
import { REPORTERS_FOLDER } from '../reporters/report-writer.ts'
import { commandLine, EXTENSION, type Framework, loadsReporters, PASS_WITH_NO_TESTS, type Start } from './framework.ts'
import { mergeVitest } from './merge.ts'
import { PROGRAMS, whyRefused } from './refused-arguments.ts'
import { wordsBehindProgram } from './refused-command.ts'

const REPORTER = join(REPORTERS_FOLDER, `vitest-reporter${EXTENSION}`)
/** Adds the reporter without Vite. From 6.4.2 on, Vite 6 loads no reporter for Vitest 3 from outside the project. */
const RUNNER = join(REPORTERS_FOLDER, `vitest-run${EXTENSION}`)

/** `vitest --coverage run` would take `run` as the value of the option, so the option `--run` says the same behind other options. */
function runOnce(start: Start): readonly string[] {
  const [first] = (start.kind === 'command' && wordsBehindProgram(start.command, PROGRAMS.vitest)) || []
  if (first === undefined) return ['run']
  return first === 'run' ? [] : ['--run']
}

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
      argv: commandLine(started, [...runOnce(start), ...ours, ...reporters]),
      replacesReporters: !(usesRunner && isInPlace),
    }
  },
}
