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

/** The parts of a simple command. `2>&1` and `&>log` are redirections of it. The first group that matches says what a part is. */
const PART =
  /(?<blank>[ \t]+)|(?<joined>\\\n)|'(?<single>[^']*)'|"(?<double>(?:[^"\\]|\\.)*)"|\\(?<escaped>.)|(?<whole>`[^`]*`|\$\((?:[^()]|\([^()]*\))*\)|\$\{[^}]*\}|\d*[<>]&|&>|>\||[<>](?!<)|[^\s'"\\`;&|()<>])|(?<found>\|\|?|&&?|<<|[;()\n])/sy

/**
 * The words of a script that is one simple command, as a shell reads them. A variable or a command substitution stays as it is
 * written.
 */
export function wordsOf(command: UserCommand): Words {
  if (typeof command !== 'string') return { kind: 'words', words: command }
  const words: string[] = []
  let word: string | undefined
  for (let at = 0; at < command.length; ) {
    PART.lastIndex = at
    const part = PART.exec(command)
    if (part?.groups === undefined) return { kind: 'unclosed', quote: command[at] ?? '' }
    const { blank, joined, single, double, escaped, whole, found } = part.groups
    if (found !== undefined) return { kind: 'not-simple', found }
    // In the middle of a word, this sign begins no comment.
    if (whole === '#' && word === undefined) return { kind: 'not-simple', found: whole }
    if (blank !== undefined && word !== undefined) words.push(word)
    const text = single ?? double?.replace(/\\(["\\$`])|\\\n/g, '$1') ?? escaped ?? whole ?? ''
    if (joined === undefined) word = blank === undefined ? `${word ?? ''}${text}` : undefined
    at = PART.lastIndex
  }
  return { kind: 'words', words: word === undefined ? words : [...words, word] }
}
