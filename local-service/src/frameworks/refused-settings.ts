import { fieldsOf } from '../../../src/text/json.ts'
import { readManifest } from '../machine/files.ts'
import { type UserCommand, wordsOf } from '../machine/script.ts'
import { quote, quoteCommand } from '../text.ts'
import type { FrameworkSettings } from './framework.ts'

// What the service cannot run with a framework, because it adds arguments itself and waits for the end.

/** The rule does not apply to the value behind an option of `follows`. */
type Rule = readonly [refused: RegExp, reason: string, follows?: RegExp]

const KEEPS_RUNNING = 'The run would not end. Leave it out.'
const TESTS_NOTHING = 'No test would run. Leave it out.'
const OF_THE_RUN =
  'Each run names its framework projects itself. Give "framework-project" to the gate, or "frameworkProjectName" in the request.'

const MALFORMED: readonly Rule[] = [
  // Refused: `--workers 2`, `-t adds`. Accepted: `--workers=2`, `--grep=a b`.
  [/^-[^\s=]*\s/, 'Write an option and its value with "=", or as two arguments.'],
  // Refused: `--workers=2 --retries=1`, `--config=a.ts --ui`.
  // Accepted: `--grep=accepts --force`, `-t=accepts --force`, because the title of a test may contain an option.
  [/^-(?!-?(?:t|g|test-?name-?pattern|grep(?:-?invert)?)=).*\s--[a-z]/i, 'Give each option as an argument of its own.'],
  // Refused: `--grep="a cart"`, and `--grep="a`, which is left if somebody split it. Accepted: `-t="a" is b`, `-t=it's`.
  [
    /^(?:-[^=]*=)?(?:"(?:[^"]*|.*")|'(?:[^']*|.*'))$/s,
    'No shell removes the quotes. Leave them out, and give the value whole.',
  ],
]

const CARRIES_RESULTS =
  'The service carries the results out itself. Leave it out, and let a reporter of the configuration write files.'

/**
 * Options of these names, with a value or without one. For `--(?:watch|ui)`: `--watch` and `--ui=true` are refused, `--watch=false` and
 * `--watcher` are accepted. Vitest reads `--clearCache` as `--clear-cache`.
 */
const option = (names: string) => new RegExp(`^(?:${names})(?:[=.](?!false$).*)?$`, 'is')

interface Program {
  /** The command of the framework that runs the tests once, if it has one. The user may write it. */
  readonly runs?: string
  /** All commands of the framework. */
  readonly commands: readonly string[]
  readonly options: readonly Rule[]
  /** Further rules if the run merges reports. */
  readonly ofMerge: readonly Rule[]
}

const PROGRAMS = {
  vitest: {
    runs: 'run',
    commands: ['run', 'watch', 'dev', 'list', 'bench', 'related', 'init'],
    options: [
      // Vitest's parser takes `-wu` for `-w -u`, and `--w` for `-w`.
      [option('-[a-z]*w[a-z]*|--(?:w|watch|ui|open|standalone|inspect-?brk)'), KEEPS_RUNNING],
      [option('-[hv]|--(?:help|version|list-?tags|clear-?cache|merge-?reports)'), TESTS_NOTHING],
      [option('-p|--project'), OF_THE_RUN],
    ],
    // With a filter, Vitest would lose test files without a word. A value on its own could be a filter.
    // Refused: `src/cart`, `--shard=1/2`. Accepted: `--coverage`, `--reporter=junit`.
    ofMerge: [
      [
        /^(?!-)|^-t|^--(?:test-?name-?pattern|shard|changed|exclude|dir|tags-?filter)\b/i,
        'A merge of reports runs no test, so it takes no file and no filter. Write the value of an option with "=".',
      ],
    ],
  },
  playwright: {
    runs: 'test',
    commands: ['test', 'show-report', 'merge-reports', 'install'],
    options: [
      [option('--(?:ui|ui-host|ui-port|debug)'), KEEPS_RUNNING],
      [option('-[hv]|--(?:help|version|list)'), TESTS_NOTHING],
      [option('--project'), OF_THE_RUN],
    ],
    // Refused: `--workers=2`, `e2e`. Accepted: `--reporter=html`, and both words of `-c a.ts`.
    ofMerge: [
      [
        /^(?!(?:-c|--config|--reporter)(?:=|$))/,
        'A merge of reports runs no test, so it takes only --config and --reporter.',
        /^(?:-c|--config|--reporter)$/,
      ],
    ],
  },
  jest: {
    commands: [],
    options: [
      [option('--(?:watch|watch-?all)'), KEEPS_RUNNING],
      [option('-[hv]|--(?:help|version|list-?tests|show-?config|init|clear-?cache)'), TESTS_NOTHING],
      [option('--(?:json|output-?file|test-?results-?processor)'), CARRIES_RESULTS],
      [option('--select-?projects'), OF_THE_RUN],
    ],
    ofMerge: [],
  },
} satisfies Readonly<Record<string, Program>>

type Name = keyof typeof PROGRAMS

/** Why the framework cannot use the settings of the project in this folder. */
export function whyRefused(
  framework: Name,
  { args, command, merge }: FrameworkSettings,
  folder: string,
): string | undefined {
  if (merge !== undefined && framework === 'jest')
    return '"merge" is for Vitest and Playwright Test. For shards of Jest, give "report", the JUnit files of all shards.'
  const { commands, options, ofMerge }: Program = PROGRAMS[framework]
  const [first = ''] = args
  // The framework would read it as a part of a file's path.
  if (first === framework || commands.includes(first))
    return `"args" begins with ${quote(first)}. The service names the command itself. Leave it out.`
  const rules = merge === undefined ? options : [...options, ...ofMerge]
  const refused = whyOptionRefused('args', args, [...MALFORMED, ...rules])
  if (refused !== undefined || command === undefined) return refused
  const { words, operator } = wordsOf(command)
  if (operator === '"' || operator === "'")
    return `"command" has a ${quote(operator)} that is not closed: ${quoteCommand(command)}. Close it, or leave it out.`
  if (operator !== undefined) {
    const found = operator === '\n' ? 'several lines' : quote(operator)
    return `"command" has ${found}, but it must be one simple command, because the service adds options at its end. Give everything else a step of its own.`
  }
  return whyScriptRefused(words, framework, folder) ?? whyWordsRefused(words, framework, rules, merge !== undefined)
}

function whyOptionRefused(name: string, words: readonly string[], rules: readonly Rule[]): string | undefined {
  for (const [index, word] of words.entries()) {
    const isValue = (valueFollows?: RegExp) => valueFollows?.test(words[index - 1] ?? '')
    const [, reason] = rules.find(([refused, , follows]) => refused.test(word) && !isValue(follows)) ?? []
    if (reason !== undefined) return `"${name}" has ${quote(word)}. ${reason}`
  }
  return undefined
}

/** What a person types before the program to run the project's own. */
const STARTS: Readonly<Record<string, string>> = { npm: 'npx', pnpm: 'pnpm exec', yarn: 'yarn', bun: 'bunx' }

/** Whether a package manager would run a script of package.json, whose last command need not be the framework's. */
function whyScriptRefused(words: readonly string[], framework: Name, folder: string): string | undefined {
  const [manager = '', first = '', second = ''] = words.filter((word) => !/^(?:-|\w+=)/.test(word))
  const name = /^run(?:-script)?$/.test(first) ? second : first === 't' ? 'test' : first
  const scripts = fieldsOf(readManifest(folder).scripts)
  if (!Object.hasOwn(STARTS, manager) || !Object.hasOwn(scripts, name)) return undefined
  const pre = `pre${name}`
  const before = Object.hasOwn(scripts, pre)
    ? ` Its script ${quote(pre)} does not run then, so give it a step of its own.`
    : ''
  return `"command" is ${quoteCommand(words)}, which runs the script ${quote(scripts[name])} of package.json. The service adds options at the end of the command, so write what the script runs, with ${quote(STARTS[manager])} before ${quote(framework)}.${before}`
}

function whyWordsRefused(
  words: readonly string[],
  framework: Name,
  rules: readonly Rule[],
  isMerge: boolean,
): string | undefined {
  const { runs, commands }: Program = PROGRAMS[framework]
  const behind = wordsBehind(framework, words)
  const [first = ''] = behind
  if (first !== runs && commands.includes(first))
    return `"command" has ${quote(first)}, which does not run the tests once. Leave it out.`
  if (isMerge && first === 'test' && framework === 'playwright')
    return `"command" has "test", but a merge needs another command of Playwright. Leave it out.`
  return whyOptionRefused('command', first === runs ? behind.slice(1) : behind, rules)
}

/**
 * The words of a command behind the framework's program, such as `node_modules/.bin/vitest`, `vitest.mjs` and `vitest@3`. In
 * `npx -p vitest vitest`, only the last word is the program. Empty if the command does not name it.
 */
export function wordsBehind(framework: Name, command: UserCommand): readonly string[] {
  const { words } = wordsOf(command)
  const program = new RegExp(`(?:^|/)${framework}(?:\\.[cm]?js|@.*)?$`)
  const index = words.findIndex((word, at) => program.test(word) && !/^(?:-p|--package)$/.test(words[at - 1] ?? ''))
  return index === -1 ? [] : words.slice(index + 1)
}
