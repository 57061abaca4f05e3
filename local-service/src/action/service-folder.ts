import { existsSync, lstatSync, mkdirSync, mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { readPartOfFile } from '../machine/files.ts'

export const SERVICE = join(import.meta.dirname, '../service/index.js')

const LOG_LIMIT_BYTES = 256 * 1024

/**
 * The folder of the service in the runner's temporary folder. Tests run as the user of the job. So what is read here after they
 * have begun is checked.
 */
export class ServiceFolder {
  readonly path: string
  /** The service keeps its runs here. They show what a killed service left. */
  readonly dataFolder: string
  /** The service writes the output of each run here, into a folder with the id of the run. Post leaves it to the runner. */
  readonly outputFolder: string
  /** Everything but the output of the runs. Post removes it. */
  readonly privateFolder: string
  /** The service and its commands write here, because the runner would wait for pipes. */
  readonly log: string

  constructor(path: string) {
    this.path = path
    this.privateFolder = join(path, 'service')
    this.dataFolder = join(this.privateFolder, 'data')
    this.log = join(this.privateFolder, 'log')
    this.outputFolder = join(path, 'output')
  }

  static create(temporaryFolder: string): ServiceFolder {
    const folder = new ServiceFolder(mkdtempSync(join(temporaryFolder, 'test-run-service-')))
    for (const path of [folder.privateFolder, folder.outputFolder]) mkdirSync(path)
    return folder
  }

  /** Whether the log is still there. The runner removes it at the end of the job, and only main creates it. */
  exists(): boolean {
    return existsSync(this.log)
  }

  readLog(): string {
    return readEnd(this.log, LOG_LIMIT_BYTES)
  }

  /** The end of a file of a run. What is before `fromByte` does not count. The text is empty if there is no such file. */
  readOutput(runId: string, name: string, limitBytes: number, fromByte = 0): string {
    return readEnd(join(this.outputFolder, runId, name), limitBytes, fromByte)
  }
}

/** If the text is too long, its first line says how much is left out. */
function readEnd(file: string, limitBytes: number, fromByte = 0): string {
  const size = lstatSync(file, { throwIfNoEntry: false })?.size ?? 0
  const from = Math.max(fromByte, size - limitBytes)
  const text = readPartOfFile(file, from, limitBytes, Number.POSITIVE_INFINITY).toString()
  if (from === fromByte) return text
  const leftOut = `… ${((from - fromByte) / 2 ** 20).toFixed(1)} MiB before this line are left out.`
  // The rest of the line that the limit divides is left out too.
  return `${leftOut}\n${text.slice(text.indexOf('\n') + 1)}`
}
