import { fieldsOf } from '../../../src/text/json.ts'
import { readManifest } from '../machine/files.ts'
import { type UserCommand, wordsOf } from '../machine/script.ts'
import { quote, quoteCommand } from '../text.ts'

/** How a framework is started, as a person types it. */
export interface Program {
  readonly name: string
  /** The command of the framework that runs the tests once. The service adds it if the user has not written it. */
  readonly runs?: string | undefined
  /** All commands of the framework. */
  readonly commands: RegExp
}

/** Such as `node_modules/.bin/vitest`, `vitest.mjs` and `vitest@3`. In `npx -p vitest vitest`, only the last word is the program. */
function indexOfProgram(words: readonly string[], name: string): number {
  const program = new RegExp(`(?:^|/)${name}(?:\\.[cm]?js|@.*)?$`)
  return words.findIndex((word, index) => program.test(word) && !/^(?:-p|--package)$/.test(words[index - 1] ?? ''))
}

/** The words of a command that are the framework's. Undefined if the command does not name the framework's program. */
export function wordsBehindProgram(command: UserCommand, { name }: Program): readonly string[] | undefined {
  const read = wordsOf(command)
  const words = read.kind === 'words' ? read.words : []
  const index = indexOfProgram(words, name)
  return index === -1 ? undefined : words.slice(index + 1)
}

/** Why the framework cannot be started by this command, as sentences. The service adds options at the end of the command. */
export function whyCommandRefused(command: UserCommand, program: Program, folder: string): string | undefined {
  const read = wordsOf(command)
  if (read.kind === 'unclosed')
    return `"command" has a ${quote(read.quote)} that is not closed: ${quoteCommand(command)}. Close it, or leave it out.`
  if (read.kind === 'not-simple') {
    const found = read.found === '\n' ? 'several lines' : quote(read.found)
    return `"command" has ${found}, but it must be one simple command, because the service adds options at its end. Give everything else a step of its own.`
  }
  const script = scriptOf(read.words, folder)
  if (script !== undefined) return describeScript(read.words, script, program)
  const [first] = wordsBehindProgram(read.words, program) ?? []
  if (first === undefined || first === program.runs || !program.commands.test(first)) return undefined
  const instead = program.runs === undefined ? '' : `Write ${quote(program.runs)}, or leave`
  return `"command" has ${quote(first)}, which does not run the tests once. ${instead || 'Leave'} it out.`
}

/** How each package manager starts a program of the project. */
const STARTS: Readonly<Record<string, string>> = { npm: 'npx', pnpm: 'pnpm exec', yarn: 'yarn', bun: 'bunx' }

interface PackageScript {
  readonly manager: string
  readonly name: string
  readonly text: string
  /** Whether the package manager runs another script before it. */
  readonly hasFirst: boolean
}

/** The script of package.json that a package manager would run. */
function scriptOf(words: readonly string[], folder: string): PackageScript | undefined {
  const [manager = '', first = '', second = ''] = words.filter((word) => !/^(?:-|\w+=)/.test(word))
  if (!Object.hasOwn(STARTS, manager)) return undefined
  const name = /^run(?:-script)?$/.test(first) ? second : first === 't' ? 'test' : first
  const scripts = fieldsOf(readManifest(folder).scripts)
  if (!Object.hasOwn(scripts, name)) return undefined
  return { manager, name, text: String(scripts[name]), hasFirst: Object.hasOwn(scripts, `pre${name}`) }
}

function describeScript(
  words: readonly string[],
  { manager, name, text, hasFirst }: PackageScript,
  program: Program,
): string {
  const before = hasFirst ? ` Its script ${quote(`pre${name}`)} does not run then, so give it a step of its own.` : ''
  return `"command" is ${quoteCommand(words)}, which runs the script ${quote(text)} of package.json. The service adds options at the end of the command, so write the command itself: ${quote(commandOf(text, STARTS[manager] ?? '', program))}.${before}`
}

/** What a person types in place of the script. */
function commandOf(text: string, start: string, program: Program): string {
  const read = wordsOf(text)
  const word = read.kind === 'words' ? read.words[indexOfProgram(read.words, program.name)] : undefined
  if (word === undefined) return [start, program.name, program.runs ?? []].flat().join(' ')
  const isStarted = /(?:^|\s)(?:npx|node|exec|yarn|bunx)\s/.test(text)
  return isStarted ? text : text.replace(word, `${start} ${word}`)
}
