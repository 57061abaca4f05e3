// Text as the runner reads it. The runner is a .NET program. .NET and JavaScript differ in what white space and letters are.

/** U+0085 is white space here, and U+FEFF is not. */
export const SPACE = '[\\t-\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]'

const OUTER_SPACE = new RegExp(`^${SPACE}+|${SPACE}+$`, 'g')

export function trim(text: string): string {
  return text.replace(OUTER_SPACE, '')
}

export function splitLines(text: string): string[] {
  const lines = text.split(/\r\n|\n|\r/)
  if (lines.at(-1) === '') lines.pop()
  return lines
}
