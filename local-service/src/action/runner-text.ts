import { randomUUID } from 'node:crypto'

/** What the log of a step shows at most of the service's own log: its end. */
const LOG_LIMIT_CHARS = 200_000
/** The runner truncates messages at 4,096. */
const MESSAGE_LIMIT_CHARS = 3000

/** A line for the log that cannot be a command of the runner. */
export function inert(line: string): string {
  return line.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').replaceAll('##[', '## [')
}

/** The service's log as a folded group. In it, the runner takes nothing that tests wrote for a command. */
export function foldedLog(log: string): string {
  const token = randomUUID()
  const lines = ['::group::Log of the local service', `::stop-commands::${token}`, shorten(log), `::${token}::`]
  return [...lines, '::endgroup::'].join('\n')
}

/** The page of the log folds and colours lines with `##[`, whatever the runner does. */
function shorten(log: string): string {
  const end = log.length <= LOG_LIMIT_CHARS ? log : `…${log.slice(log.indexOf('\n', log.length - LOG_LIMIT_CHARS))}`
  return end.trimEnd().replaceAll('##[', '## [')
}

/**
 * The message of an error or a warning. If the runner cuts a character beyond the basic plane in two, it crashes, and the job
 * has no result.
 */
export function toMessage(text: string): string {
  const basic = text
    .trim()
    .replace(/[\u{10000}-\u{10FFFF}]/gu, '\uFFFD')
    .replaceAll('##[', '## [')
  return basic.length <= MESSAGE_LIMIT_CHARS ? basic : `${basic.slice(0, MESSAGE_LIMIT_CHARS)}…`
}
