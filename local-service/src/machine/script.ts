/** A command as a user writes it: a script as in `run:` of a workflow, or a program and its arguments. */
export type UserCommand = string | readonly string[]

/**
 * GitHub's runner starts a step `run:` with these options of bash, or with `sh -e` if there is no bash:
 * https://docs.github.com/actions/reference/workflows-and-actions/workflow-syntax#exit-codes-and-error-action-preference
 * The process itself looks for bash, because the tests may run in an image.
 */
const START_SCRIPT = `if command -v bash >/dev/null 2>&1; then
  exec bash --noprofile --norc -eo pipefail -c "$@"
fi
exec /bin/sh -e -c "$@"`

/** What starts the command, with further arguments at its end. If there are any, a script must be one simple command. */
export function argvOf(command: UserCommand, added: readonly string[] = []): readonly string[] {
  if (typeof command !== 'string') return [...command, ...added]
  const script = added.length === 0 ? command : `${command} "$@"`
  // The shell calls the script `command` in its own messages.
  return ['/bin/sh', '-c', START_SCRIPT, 'sh', script, 'command', ...added]
}

type Words =
  | { readonly kind: 'words'; readonly words: readonly string[] }
  /** Behind the script, further arguments would belong to something else. `found` is what makes it so. */
  | { readonly kind: 'not-simple'; readonly found: string }
  | { readonly kind: 'unclosed'; readonly quote: string }

/** What can stand at a place of a script. The first pattern that matches counts. Its group is the text for the word. */
const PARTS = [
  ['blank', /([ \t]+)/y],
  ['continued', /\\\n/y],
  ['quoted', /'([^']*)'/y],
  ['double-quoted', /"((?:[^"\\]|\\.)*)"/sy],
  ['quoted', /\\(.)/sy],
  ['substituted', /(`[^`]*`|\$\((?:[^()]|\([^()]*\))*\)|\$\{[^}]*\})/y],
  // Such as `2>&1` and `&>log`, which a simple command can have.
  ['redirected', /(\d*[<>]&|&>|>\||[<>](?!<))/y],
  ['plain', /([^\s'"\\`;&|()<>])/y],
  ['operator', /(\|\|?|&&?|<<|[;()\n])/y],
] as const

function partAt(script: string, at: number) {
  for (const [part, pattern] of PARTS) {
    pattern.lastIndex = at
    const match = pattern.exec(script)
    if (match !== null) return { part, text: match[1] ?? '', end: pattern.lastIndex }
  }
  return undefined
}

/**
 * The words of a script that is one simple command, as a shell reads them. A variable or a command substitution stays as it is
 * written.
 */
export function wordsOf(command: UserCommand): Words {
  if (typeof command !== 'string') return { kind: 'words', words: command }
  const words: string[] = []
  let word: string | undefined
  for (let at = 0; at < command.length; ) {
    const found = partAt(command, at)
    if (found === undefined) return { kind: 'unclosed', quote: command[at] ?? '' }
    const { part, text, end } = found
    const isComment = part === 'plain' && text === '#' && word === undefined
    if (part === 'operator' || isComment) return { kind: 'not-simple', found: text }
    if (part === 'blank') {
      if (word !== undefined) words.push(word)
      word = undefined
    } else if (part !== 'continued') {
      const read = part === 'double-quoted' ? text.replace(/\\(["\\$`])|\\\n/g, '$1') : text
      word = `${word ?? ''}${read}`
    }
    at = end
  }
  return { kind: 'words', words: word === undefined ? words : [...words, word] }
}
