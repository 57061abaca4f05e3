import {
  commandMessage,
  html,
  linesOf,
  outputLines,
  quote as quoteInPage,
  render,
  untruncated,
} from '../../src/text/safe-text.ts'
import { untrusted } from '../../src/text/untrusted.ts'
import { truncate } from '../../src/text/visible-text.ts'

const QUOTED_LIMIT_CHARS = 100

/** Writes a value for a sentence. It is JSON, so that it stays on one line, and it is truncated. */
export function quote(value: unknown): string {
  return truncate(JSON.stringify(value) ?? String(value), QUOTED_LIMIT_CHARS)
}

/** Some errors of Node and of the tools end with a full stop. */
export function toSentence(text: string): string {
  return text.endsWith('.') ? text : `${text}.`
}

const LISTED_NAMES = 10

export function quoteAll(names: readonly string[]): string {
  const more = names.length > LISTED_NAMES ? ['…'] : []
  return [...names.slice(0, LISTED_NAMES).map(quote), ...more].join(', ') || 'none'
}

export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}

/** The command is a script, or a program and its arguments. */
export function quoteCommand(command: string | readonly string[]): string {
  const text = typeof command === 'string' ? command : command.join(' ')
  return `\`${truncate(text.replace(/\s+/g, ' '), QUOTED_LIMIT_CHARS)}\``
}

/** Makes any text safe for the log. If a step prints the log, GitHub's runner executes no command that tests wrote. */
export function toLogText(text: string): string {
  return render(linesOf(untrusted(text))).replaceAll('\n', '\n    | ')
}

/** Makes a line for the log of a step that cannot be a command of the runner. */
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

/** A command with which the runner makes an annotation. The runner unescapes `%`, CR and LF in it. */
export function toCommand(level: 'error' | 'warning', text: string): string {
  const message = commandMessage(linesOf(untrusted(text.trim())))
  return `::${level}::${message.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')}`
}

/** The job summary of a step that could not start the service. An earlier writer may have left an HTML block open, which an empty line closes. */
export function notStartedSummary(reason: string): string {
  const lines = reason.trim().split('\n')
  return render(
    html`\n\n## ❌ Local service not started\n${lines.map((line) => html`<p>${quoteInPage(untrusted(line), 1_000)}</p>\n`)}`,
  )
}
