import { type Untrusted, untrusted } from '../outcome/untrusted.ts'

/** A quick look that most text passes, and that saves the slow search for what is invisible. */
export const PLAINLY_VISIBLE =
  /^[ -~\u00A1-\u00AC\u00AE-\u034E\u0370-\u05FF\u0900-\u10FF\u2010-\u2027\u2030-\u205E\u2070-\u3130\u3165-\uD7FF]*$/
// Controls, bidi and zero-width characters, line separators, lone surrogates, and what Unicode reserves. The two
// variation selectors that choose between text and emoji stay.
export const INVISIBLE = /[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{DI}\p{NChar}]--[\uFE0E\uFE0F]]/gv
/** A terminal's colours, cursor movements, titles and links: CSI and OSC sequences, whole. */
const TERMINAL_SEQUENCE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for
  /(?:\u001B\[|\u009B)[0-?]*[ -\/]*[@-~]|\u001B\][^\u0007\u001B]*(?:\u0007|\u001B\\)/gv
const INVISIBLE_RUN = new RegExp(`(?:${TERMINAL_SEQUENCE.source}|${INVISIBLE.source})+`, 'gv')

/** Cut to at most `limitChars` UTF-16 units, never inside a character; an ellipsis tells of the cut. */
export function truncate(value: string | Untrusted, limitChars: number): Untrusted {
  const text = value as string
  if (text.length <= limitChars) return untrusted(text)
  const splitsPair = /[\uD800-\uDBFF]/.test(text.charAt(limitChars - 2))
  return untrusted(`${text.slice(0, splitsPair ? limitChars - 2 : limitChars - 1)}…`)
}

/** A test's title; one of which nothing would be seen is named as such. */
export function shownTitle(title: Untrusted): Untrusted {
  return visible(title) || untrusted('(untitled)')
}

/** On one line, in visible characters, still to be escaped. What is invisible leaves a space behind, never nothing. */
export function visible(value: string | Untrusted): Untrusted {
  const text = value as string
  return untrusted((PLAINLY_VISIBLE.test(text) ? text : text.replace(INVISIBLE_RUN, ' ')).trim())
}
