/** A command as a user writes it: a script as in `run:` of a workflow, or a program and its arguments. */
export type UserCommand = string | readonly string[]

/**
 * GitHub's runner starts a step `run:` that has `shell: bash` with these options. Without `shell`, the step has no `pipefail`, and hides
 * the failure of tests before a pipe. If there is no bash, the runner takes `sh -e`:
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
  // In START_SCRIPT, `"$@"` is the script, the word `command`, and the further arguments. So bash calls the script `command` in its messages, and in
  // the script, `"$@"` is the further arguments.
  return ['/bin/sh', '-c', START_SCRIPT, 'sh', script, 'command', ...added]
}

/** One piece of a script, of the first kind that matches. The name of a group is the kind of the piece, so exactly one group is set. */
const PIECE = new RegExp(
  [
    /(?<blank>[ \t]+)/,
    // A line that goes on in the next line.
    /(?<continuation>\\\n)/,
    /'(?<singleQuoted>[^']*)'/,
    /"(?<doubleQuoted>(?:[^"\\]|\\.)*)"/,
    /\\(?<escaped>.)/,
    // A variable or a command substitution stays as it is written.
    /(?<substitution>`[^`]*`|\$\((?:[^()]|\([^()]*\))*\)|\$\{[^}]*\})/,
    // Such as `2>&1` and `&>log`, which a simple command can have.
    /(?<redirection>\d*[<>]&|&>|>\||[<>](?!<))/,
    // Also a quote that is not closed, and a backslash at the end.
    /(?<operator>\|\|?|&&?|<<|[;()\n]|(?<=^|\s)#|['"]|\\$)/,
    /(?<character>.)/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'gs',
)

/**
 * The words of a script, as a shell reads them, up to the first operator. With an operator, the script is not one simple command, and
 * further arguments behind it would belong to something else.
 */
export function wordsOf(command: UserCommand): { readonly words: readonly string[]; readonly operator?: string } {
  if (typeof command !== 'string') return { words: command }
  const words: string[] = []
  /** Undefined between two words. The word `''` is empty. */
  let word: string | undefined
  for (const { groups = {} } of command.matchAll(PIECE)) {
    const [kind, text = ''] = Object.entries(groups).find(([, matched]) => matched !== undefined) ?? []
    switch (kind) {
      case 'operator':
        return { words, operator: text }
      case 'blank':
        if (word !== undefined) words.push(word)
        word = undefined
        break
      case 'continuation':
        break
      case 'doubleQuoted':
        // Within double quotes, a backslash is a character unless one of these stands behind it.
        word = (word ?? '') + text.replace(/\\(["\\$`])|\\\n/g, '$1')
        break
      default:
        // In the other kinds of pieces, the text stands for itself.
        word = (word ?? '') + text
    }
  }
  return { words: word === undefined ? words : [...words, word] }
}
