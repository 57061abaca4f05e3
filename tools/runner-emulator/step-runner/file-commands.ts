import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { EOL } from 'node:os'
import { join } from 'node:path'
import type { SecretMasks } from './masks.ts'
import { splitLines } from './text.ts'
import type { StepLog } from './workflow-commands.ts'

/** The files through which a process talks to the runner, by the name of their variable without `GITHUB_`. */
const FILES = { ENV: 'set_env', STEP_SUMMARY: 'step_summary', STATE: 'save_state', OUTPUT: 'set_output' } as const

type FileCommand = keyof typeof FILES

const SUMMARY_LIMIT_BYTES = 1_048_576

export interface FileCommandResults {
  readonly outputs: Readonly<Record<string, string>>
  readonly state: Readonly<Record<string, string>>
  readonly env: Readonly<Record<string, string>>
  /** The part of the job summary that GitHub shows: masked, and empty if GitHub drops it. */
  readonly summary: string
  /** Their contents, before any masking. */
  readonly files: Readonly<Record<FileCommand, string>>
}

export class FileCommandFiles {
  readonly paths: Readonly<Record<FileCommand, string>>

  constructor(tempDir: string) {
    const folder = join(tempDir, '_runner_file_commands')
    mkdirSync(folder, { recursive: true })
    const suffix = randomUUID()
    this.paths = mapFiles((name) => join(folder, `${FILES[name]}_${suffix}`))
    for (const path of Object.values(this.paths)) writeFileSync(path, '')
  }

  /** Reports to the log what GitHub cannot use. The runner reads the files in this order. */
  read(log: StepLog, masks: SecretMasks): FileCommandResults {
    const files = mapFiles((name) => readIfThere(this.paths[name]))
    const env = keyValues('env', files.ENV, log)
    const summary = shownSummary(files.STEP_SUMMARY, log, masks)
    const state = keyValues('state', files.STATE, log)
    const outputs = keyValues('output', files.OUTPUT, log)
    return { outputs, state, env, summary, files: mapFiles((name) => files[name].toString()) }
  }
}

function mapFiles<T>(of: (name: FileCommand) => T): Record<FileCommand, T> {
  return { ENV: of('ENV'), STEP_SUMMARY: of('STEP_SUMMARY'), STATE: of('STATE'), OUTPUT: of('OUTPUT') }
}

/** A file that the process removed counts as empty. */
function readIfThere(path: string): Buffer {
  return existsSync(path) ? readFileSync(path) : Buffer.alloc(0)
}

function keyValues(command: string, file: Buffer, log: StepLog): Record<string, string> {
  const { entries, problem } = parseKeyValueFile(file.toString())
  if (problem !== undefined) {
    log.reportError(`Unable to process file command '${command}' successfully.`)
    log.reportError(problem)
    log.commandFailed = true
  }
  return Object.fromEntries(entries)
}

export interface KeyValueFile {
  /** In their order. Entries before the problem count. */
  readonly entries: readonly (readonly [name: string, value: string])[]
  /** Why the rest of the file was not read; it fails the step. */
  readonly problem?: string | undefined
}

/** The file of GITHUB_OUTPUT, GITHUB_STATE or GITHUB_ENV: `name=value` lines and `name<<delimiter` blocks. */
export function parseKeyValueFile(text: string): KeyValueFile {
  // Unlike in the log, a lone `\r` does not end a line. Outside Windows, `\r\n` leaves a `\r` at the end of the line.
  const lines = text.split(EOL === '\n' ? '\n' : /\r?\n/)
  const entries: [string, string][] = []
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index] ?? ''
    if (line === '') continue
    const equals = line.indexOf('=')
    const heredoc = line.indexOf('<<')
    if (equals !== -1 && (heredoc === -1 || equals < heredoc)) {
      const name = line.slice(0, equals)
      if (name === '') return { entries, problem: "Value cannot be null. (Parameter 'name')" }
      entries.push([name, line.slice(equals + 1)])
      continue
    }
    if (heredoc === -1) return { entries, problem: `Invalid format '${line}'` }
    const name = line.slice(0, heredoc)
    const delimiter = line.slice(heredoc + 2)
    if (name === '' || delimiter === '') {
      return { entries, problem: `Invalid format '${line}'. Name must not be empty and delimiter must not be empty` }
    }
    const end = lines.indexOf(delimiter, index + 1)
    if (end === -1) {
      const isCut = !text.endsWith('\n')
      return {
        entries,
        problem: isCut
          ? 'Invalid value. EOF marker missing new line.'
          : `Invalid value. Matching delimiter not found '${delimiter}'`,
      }
    }
    entries.push([name, lines.slice(index + 1, end).join(EOL)])
    index = end
  }
  return { entries }
}

function shownSummary(file: Buffer, log: StepLog, masks: SecretMasks): string {
  if (file.length > SUMMARY_LIMIT_BYTES) {
    const got = Math.floor(file.length / 1024)
    log.reportError(
      `$GITHUB_STEP_SUMMARY upload aborted, supports content up to a size of 1024k, got ${got}k. For more information see: https://docs.github.com/actions/using-workflows/workflow-commands-for-github-actions#adding-a-markdown-summary`,
    )
    return ''
  }
  const text = splitLines(file.toString())
    .map((line) => `${masks.apply(line)}\n`)
    .join('')
  // The masked copy ends with a line break, so it can be larger than the limit. The upload then fails without a message.
  return Buffer.byteLength(text) > SUMMARY_LIMIT_BYTES ? '' : text
}
