import { commandMessage, linesOf, outputLines, render, untruncated } from '../../../src/text/safe-text.ts'
import { untrusted } from '../../../src/text/untrusted.ts'

export const TITLE_OF_LOG = 'Log of the local service'

/** A line for the log that cannot be a command of the runner. */
export function toLogLine(line: string): string {
  return render(untruncated(line))
}

/** Returns a text as a folded group of the log. Its colours stay. The runner executes no command that tests wrote. */
export function foldedGroup(title: string, text: string): string {
  const lines = text
    .trimEnd()
    .split(/\r\n|[\n\r]/)
    .map(untrusted)
  const shown = render(outputLines(lines))
  return `::group::${toLogLine(title).replaceAll('%', '%25')}\n${shown}\n::endgroup::`
}

/** The message of an error or a warning. */
export function toCommandMessage(text: string): string {
  return commandMessage(linesOf(untrusted(text.trim())))
}
