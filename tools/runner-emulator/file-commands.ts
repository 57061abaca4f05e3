import { splitLines } from './line-splitter.ts'
import type { SecretMasks } from './masks.ts'

/** GitHub drops a summary that is larger. */
export const SUMMARY_LIMIT_BYTES = 1_048_576

export interface KeyValueFile {
  /** Entries before the problem count. */
  readonly entries: ReadonlyMap<string, string>
  /** Why the rest of the file was not read; it fails the step. */
  readonly problem?: string | undefined
}

/** The file of GITHUB_OUTPUT, GITHUB_STATE or GITHUB_ENV: `name=value` lines and `name<<delimiter` blocks. */
export function parseKeyValueFile(file: string, platform: NodeJS.Platform = process.platform): KeyValueFile {
  const text = withoutByteOrderMark(file)
  const lines = linesOf(text, platform)
  const entries = new Map<string, string>()
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index]?.text ?? ''
    if (line === '') continue
    const equals = line.indexOf('=')
    const heredoc = line.indexOf('<<')
    if (equals !== -1 && (heredoc === -1 || equals < heredoc)) {
      const name = line.slice(0, equals)
      if (name === '') return { entries, problem: `Invalid format '${line}'. Name must not be empty` }
      entries.set(name, line.slice(equals + 1))
      continue
    }
    if (heredoc === -1) return { entries, problem: `Invalid format '${line}'` }
    const name = line.slice(0, heredoc)
    const delimiter = line.slice(heredoc + 2)
    if (name === '' || delimiter === '') {
      return { entries, problem: `Invalid format '${line}'. Name must not be empty and delimiter must not be empty` }
    }
    const end = lines.findIndex((candidate, at) => at > index && candidate.text === delimiter)
    if (end === -1) return { entries, problem: `Invalid value. Matching delimiter not found '${delimiter}'` }
    // The value keeps the line ends that it was written with.
    entries.set(name, end === index + 1 ? '' : text.slice(lines[index + 1]?.start, lines[end - 1]?.end))
    index = end
  }
  return { entries }
}

interface Line {
  readonly text: string
  readonly start: number
  /** Where its line end begins. */
  readonly end: number
}

/** The lines of a key-value file. Unlike in the log, a lone `\r` ends none, and outside Windows `\r\n` leaves a `\r`. */
function linesOf(text: string, platform: NodeJS.Platform): readonly Line[] {
  const lines: Line[] = []
  for (const match of text.matchAll(platform === 'win32' ? /(.*?)(?:\r?\n|$)/gs : /(.*?)(?:\n|$)/gs)) {
    const line = match[1] ?? ''
    if (match[0] !== '') lines.push({ text: line, start: match.index, end: match.index + line.length })
  }
  return lines
}

function withoutByteOrderMark(text: string): string {
  return text.replace(/^\uFEFF/, '')
}

/** The file of GITHUB_PATH: one folder a line, the last one first. */
export function parsePathFile(text: string): readonly string[] {
  const folders = splitLines(text).filter((line) => line !== '')
  return folders.filter((folder, index) => folders.lastIndexOf(folder) === index)
}

export type JobSummary =
  | { readonly kind: 'shown'; readonly text: string }
  /** Nothing was written, or GitHub loses it silently. */
  | { readonly kind: 'none' }
  | { readonly kind: 'too-large'; readonly bytes: number }

/** What GitHub shows of the file of GITHUB_STEP_SUMMARY. */
export function readSummary(
  file: Buffer,
  masks: SecretMasks,
  platform: NodeJS.Platform = process.platform,
): JobSummary {
  if (file.length === 0) return { kind: 'none' }
  if (file.length > SUMMARY_LIMIT_BYTES) return { kind: 'too-large', bytes: file.length }
  const lineEnd = platform === 'win32' ? '\r\n' : '\n'
  const text = splitLines(withoutByteOrderMark(file.toString()))
    .map((line) => masks.apply(line) + lineEnd)
    .join('')
  // The masked copy ends in a line end, so it can be larger than what was measured; the upload then fails silently.
  return Buffer.byteLength(text) > SUMMARY_LIMIT_BYTES ? { kind: 'none' } : { kind: 'shown', text }
}
