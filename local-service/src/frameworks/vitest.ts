import { realpathSync } from 'node:fs'
import { extname, join } from 'node:path'
import { type Framework, objectsIn, REPORTERS_FOLDER, stringOf } from './framework.ts'
import { REPORT_FILE } from './report-writer.ts'

/** The files are TypeScript here and JavaScript in the package. Vitest loads both. */
const EXTENSION = extname(import.meta.filename)
const REPORTER = join(REPORTERS_FOLDER, `vitest-reporter${EXTENSION}`)
/** Adds the reporter to those of the project. */
const RUNNER = join(REPORTERS_FOLDER, `vitest-run${EXTENSION}`)

/** The first argument of a program that waits. */
const WAIT = '--wait'

/** TypeScript needs a new Node. The only Node that is known to be new is the one that runs the service. */
function canRun(node: string): boolean {
  return EXTENSION === '.js' || realPathOf(node) === process.execPath
}

function realPathOf(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch {
    return undefined
  }
}

export const vitest: Framework = {
  name: 'vitest',
  packageName: 'vitest',
  oldestVersion: '3.0',
  configFile: /^vitest\.(config|workspace)\.\w+$/,
  titleOption: '--testNamePattern',
  skipsOtherTitles: true,
  run({ argv, script }, { isInPlace, reportFile }) {
    const env = { [REPORT_FILE]: reportFile }
    const [node = ''] = argv
    if (isInPlace && script !== undefined && canRun(node)) {
      return { argv: [node, RUNNER, script, 'run'], waitingArgv: [node, RUNNER, WAIT, script, 'run'], env }
    }
    return { argv: [...argv, 'run', '--reporter=default', `--reporter=${REPORTER}`], env }
  },
  list: ({ argv }, { reportFile }) => ({ argv: [...argv, 'list', '--filesOnly', `--json=${reportFile}`], env: {} }),
  readList(list) {
    if (!Array.isArray(list)) return undefined
    return [...new Set(objectsIn(list).map(({ projectName }) => stringOf(projectName)))].filter((name) => name !== '')
  },
}
