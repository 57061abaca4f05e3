import { existsSync, lstatSync } from 'node:fs'
import { join } from 'node:path'
import { readPartOfFile } from '../machine/files.ts'

/** In the bundle, which is built from service-process.ts. The action never runs from source. */
export const SERVICE = join(import.meta.dirname, '../service/index.js')

const LOG_LIMIT_BYTES = 256 * 1024

/** Tests run as the user of the job. So what is read from this folder after they have begun is checked. */
export type ServiceFolder = ReturnType<typeof serviceFolder>

export function serviceFolder(path: string) {
  const privateFolder = join(path, 'service')
  return {
    path,
    /** Everything but the output of the runs. Post removes it. */
    privateFolder,
    /** The service keeps its runs here. They show what a killed service left. */
    dataFolder: join(privateFolder, 'data'),
    /**
     * Main passes the inputs of the action to the service in this file. As an argument, they could be too long, and other users could see
     * them. The service removes the file before tests begin.
     */
    inputs: join(privateFolder, 'inputs.json'),
    /** The service writes here at its end what post shows of its runs. */
    runsAtEnd: join(privateFolder, 'runs-at-end.json'),
    /**
     * Main creates it, and nobody creates it again. So if it is gone, somebody has removed this folder. The service writes its log to a file,
     * because the runner would wait for the end of a pipe.
     */
    log: join(privateFolder, 'log'),
    /** The service writes the output of each run here, into a folder with the id of the run. Post leaves it to the runner. */
    outputFolder: join(path, 'output'),
  }
}

/**
 * Whether no client has asked this service for a run. The first request creates the folder of the runs, which stays until post. If somebody has
 * removed the log, the folder of the runs may have been removed too. So the service then counts as used.
 */
export function wasNeverUsed({ log, dataFolder }: ServiceFolder): boolean {
  return existsSync(log) && !existsSync(join(dataFolder, 'runs'))
}

/**
 * The inputs of a step, the runner's tokens (`ACTIONS_`), and the variables with which a step has announced a service. The tests must not get
 * them.
 */
const HIDDEN_FROM_SERVICE =
  /^(INPUT_(WORKING-DIRECTORY|FRAMEWORK|ARGS|COMMAND|REPORT|MERGE|CONFIG|RUN-LIMIT-MINUTES)|STATE_(folder|process|is-up)|ACTIONS_.*|TEST_RUN_SERVICE_.*)$/

/**
 * The runner reads these files when a step ends. By hand, tests can write to them and read them again. So the service gives its tests empty files of
 * its own, which the runner never reads.
 */
export const FILES_OF_STEP = ['GITHUB_OUTPUT', 'GITHUB_STATE', 'GITHUB_ENV', 'GITHUB_PATH', 'GITHUB_STEP_SUMMARY']

/** The environment of the service and of the process that cleans up. That process reads what tests wrote, so it gets no secrets either. */
export function environmentOfService({ privateFolder }: ServiceFolder): NodeJS.ProcessEnv {
  const entries = Object.entries(process.env).filter(([name]) => !HIDDEN_FROM_SERVICE.test(name))
  return Object.fromEntries(
    entries.map(([name, value]) => [name, FILES_OF_STEP.includes(name) ? join(privateFolder, name) : value]),
  )
}

export const TITLE_OF_LOG = 'Log of the local service'

/**
 * Reads the end of the log, or of the output of a run. What is before `fromByte` does not count. If the text is too long, its first line
 * says how much is left out. If there is no file, the text is empty.
 */
export function readEnd(file: string, limitBytes = LOG_LIMIT_BYTES, fromByte = 0): string {
  const size = lstatSync(file, { throwIfNoEntry: false })?.size ?? 0
  const from = Math.max(fromByte, size - limitBytes)
  const text = readPartOfFile(file, from, limitBytes).toString()
  if (from === fromByte) return text
  const leftOut = `… ${((from - fromByte) / 2 ** 20).toFixed(1)} MiB before this line are left out.`
  // The rest of the line that the limit divides is left out too.
  return `${leftOut}\n${text.slice(text.indexOf('\n') + 1)}`
}
