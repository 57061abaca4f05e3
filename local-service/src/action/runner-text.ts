import { randomUUID } from 'node:crypto'
import { withoutRunnerCommands } from '../text.ts'

/** The log of a step shows at most this much of the end of the service's log. */
const LOG_LIMIT_CHARS = 200_000
/** The runner truncates messages at 4,096 characters. */
const MESSAGE_LIMIT_CHARS = 3000

/** A line for the log that cannot be a command of the runner. */
export function toLogLine(line: string): string {
  return withoutRunnerCommands(line.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' '))
}

/** Returns the service's log as a folded group. In the group, the runner executes no command that tests wrote. */
export function foldedLog(log: string): string {
  const token = randomUUID()
  const lines = ['::group::Log of the local service', `::stop-commands::${token}`, shorten(log), `::${token}::`]
  return [...lines, '::endgroup::'].join('\n')
}

/** Keeps the end of a long log. Changes `##[`, because GitHub's log page folds and colours such lines. */
function shorten(log: string): string {
  const end = log.length <= LOG_LIMIT_CHARS ? log : `…${log.slice(log.indexOf('\n', log.length - LOG_LIMIT_CHARS))}`
  return withoutRunnerCommands(end.trimEnd())
}

/**
 * The message of an error or a warning. If the runner cuts a character beyond the basic plane in two, the runner crashes.
 * The job then has no result.
 */
export function toMessage(text: string): string {
  const basic = withoutRunnerCommands(text.trim().replace(/[\u{10000}-\u{10FFFF}]/gu, '\uFFFD'))
  return basic.length <= MESSAGE_LIMIT_CHARS ? basic : `${basic.slice(0, MESSAGE_LIMIT_CHARS)}…`
}
