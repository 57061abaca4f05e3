import { commandMessage, linesOf, outputLines, render, untruncated } from '../../../src/text/safe-text.ts'
import { untrusted } from '../../../src/text/untrusted.ts'
import type { FileTail } from './service-folder.ts'

export const TITLE_OF_LOG = 'Log of the local service'
export const LOG_LIMIT_BYTES = 256 * 1024

/** A line for the log that cannot be a command of the runner. */
export function toLogLine(line: string): string {
  return render(untruncated(line))
}

/** Returns a text as a folded group of the log. Its colours stay. The runner executes no command that tests wrote. */
export function foldedGroup(title: string, { text, leftOutBytes }: FileTail): string {
  const lines = text.trimEnd().split(/\r\n|[\n\r]/)
  // The end of a text may begin within a line.
  const shown = leftOutBytes > 0 ? [describeLeftOut(leftOutBytes), ...lines.slice(1)] : lines
  const name = toLogLine(title).replaceAll('%', '%25')
  return `::group::${name}\n${render(
    outputLines(
      shown.map((line) => untrusted(line)),
      (line) => line,
    ),
  )}\n::endgroup::`
}

function describeLeftOut(bytes: number): string {
  return `… ${(bytes / 2 ** 20).toFixed(1)} MiB before this line are left out.`
}

/** The message of an error or a warning. */
export function toCommandMessage(text: string): string {
  return commandMessage(linesOf(untrusted(text.trim())))
}
