import { randomUUID } from 'node:crypto'
import { withoutRunnerCommands } from '../text.ts'
import type { EndOfFile } from './service-folder.ts'

export const TITLE_OF_LOG = 'Log of the local service'
export const LOG_LIMIT_BYTES = 256 * 1024
/** The runner truncates messages at 4,096 characters. */
const MESSAGE_LIMIT_CHARS = 3000

/** A line for the log that cannot be a command of the runner. */
export function toLogLine(line: string): string {
  return withoutRunnerCommands(line.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' '))
}

/** Returns a text as a folded group of the log. In the group, the runner executes no command that tests wrote. */
export function foldedGroup(title: string, { text, leftOutBytes }: EndOfFile): string {
  const token = randomUUID()
  const [shown, leftOut] = leftOutBytes > 0 ? [withoutFirstLine(text), [describeLeftOut(leftOutBytes)]] : [text, []]
  const name = toLogLine(title).replaceAll('%', '%25')
  // GitHub's log page folds and colours lines with `##[`.
  const lines = [...leftOut, `::stop-commands::${token}`, withoutRunnerCommands(shown.trimEnd()), `::${token}::`]
  return [`::group::${name}`, ...lines, '::endgroup::'].join('\n')
}

/** The text may begin within a line. */
function withoutFirstLine(text: string): string {
  return text.slice(text.indexOf('\n') + 1)
}

function describeLeftOut(bytes: number): string {
  return `… ${(bytes / 2 ** 20).toFixed(1)} MiB before this line are left out.`
}

/**
 * The message of an error or a warning. If the runner cuts a character beyond the basic plane in two, the runner crashes.
 * The job then has no result.
 */
export function toMessage(text: string): string {
  const basic = withoutRunnerCommands(text.trim().replace(/[\u{10000}-\u{10FFFF}]/gu, '\uFFFD'))
  return basic.length <= MESSAGE_LIMIT_CHARS ? basic : `${basic.slice(0, MESSAGE_LIMIT_CHARS)}…`
}
