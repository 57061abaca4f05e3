import { quote } from '../text.ts'
import type { FrameworkSettings } from './framework.ts'
import { type Program, whyCommandRefused, wordsBehindProgram } from './refused-command.ts'

/** The rule does not apply to the value behind an option of `follows`. */
type Rule = readonly [refused: RegExp, reason: string, follows?: RegExp]

const KEEPS_RUNNING = 'The run would not end. Leave it out.'
const TESTS_NOTHING = 'No test would run. Leave it out.'
const OF_THE_RUN =
  'Each run names its framework projects itself. Give "framework-project" to the gate, or "frameworkProjectName" in the request.'

const MALFORMED: readonly Rule[] = [
  // `--workers 2`
  [/^-[^\s=]*\s/, 'Write an option and its value with "=", or as two arguments.'],
  // `--workers=2 --retries=1`. But the title of a test may contain an option, as in `--grep=accepts --force`.
  [/^-(?!-?(?:t|g|test-?name-?pattern|grep(?:-?invert)?)=).*\s--[a-z]/i, 'Give each option as an argument of its own.'],
  // `--grep="a cart"`, and `--grep="a` if it was split.
  [
    /^(?:-[^=]*=)?(?:"(?:[^"]*|.*")|'(?:[^']*|.*'))$/s,
    'No shell removes the quotes. Leave them out, and give the value whole.',
  ],
]

const CARRIES_RESULTS =
  'The service carries the results out itself. Leave it out, and let a reporter of the configuration write files.'

/** Vitest reads `--clearCache` as `--clear-cache`. `--watch=false` is no reason to refuse a run. */
const option = (names: string) => new RegExp(`^(?:${names})(?:[=.](?!false$).*)?$`, 'is')

export const PROGRAMS = {
  vitest: {
    name: 'vitest',
    runs: 'run',
    options: [
      // Vitest's parser takes `-wu` for `-w -u`, and `--w` for `-w`.
      [option('-[a-z]*w[a-z]*|--(?:w|watch|ui|open|standalone|inspect-?brk)'), KEEPS_RUNNING],
      [option('-[hv]|--(?:help|version|list-?tags|clear-?cache|merge-?reports)'), TESTS_NOTHING],
      [option('-p|--project'), OF_THE_RUN],
    ],
    // With a filter, Vitest would lose test files without a word. A value on its own could be a filter.
    ofMerge: [
      [
        /^(?!-)|^-t|^--(?:test-?name-?pattern|shard|changed|exclude|dir|tags-?filter)\b/i,
        'A merge of reports runs no test, so it takes no file and no filter. Write the value of an option with "=".',
      ],
    ],
    commands: /^(?:run|watch|dev|list|bench|related|init)$/,
  },
  playwright: {
    name: 'playwright',
    runs: 'test',
    options: [
      [option('--(?:ui|ui-host|ui-port|debug)'), KEEPS_RUNNING],
      [option('-[hv]|--(?:help|version|list)'), TESTS_NOTHING],
      [option('--project'), OF_THE_RUN],
    ],
    ofMerge: [
      [
        /^(?!(?:-c|--config|--reporter)(?:=|$))/,
        'A merge of reports runs no test, so it takes only --config and --reporter.',
        /^(?:-c|--config|--reporter)$/,
      ],
    ],
    commands: /^(?:test|show-report|merge-reports|install)$/,
  },
  jest: {
    name: 'jest',
    runs: undefined,
    options: [
      [option('--(?:watch|watch-?all)'), KEEPS_RUNNING],
      [option('-[hv]|--(?:help|version|list-?tests|show-?config|init|clear-?cache)'), TESTS_NOTHING],
      [option('--(?:json|output-?file|test-?results-?processor)'), CARRIES_RESULTS],
      [option('--select-?projects'), OF_THE_RUN],
    ],
    ofMerge: [],
    // Jest has none.
    commands: /^(?!)/,
  },
} as const satisfies Readonly<Record<string, Program & { options: readonly Rule[]; ofMerge: readonly Rule[] }>>

/** Why the framework cannot use the settings of the project in this folder. */
export function whyRefused(
  framework: keyof typeof PROGRAMS,
  { args, command = [], merge }: FrameworkSettings,
  folder: string,
): string | undefined {
  const program = PROGRAMS[framework]
  const [first = ''] = args
  // The framework would read it as a part of a file's path.
  if (first === framework || program.commands.test(first))
    return `"args" begins with ${quote(first)}. The service names the command itself. Leave it out.`
  const refused = whyCommandRefused(command, program, folder)
  if (refused !== undefined) return refused
  const [subcommand = '', ...others] = wordsBehindProgram(command, program) ?? []
  const isNamed = subcommand === program.runs
  if (isNamed && merge !== undefined && framework === 'playwright')
    return `"command" has ${quote(subcommand)}, but a merge needs another command of Playwright. Leave it out.`
  if (merge !== undefined && framework === 'jest')
    return '"merge" is for Vitest and Playwright Test. For shards of Jest, give "report", the JUnit files of all shards.'
  const rules = merge === undefined ? program.options : [...program.options, ...program.ofMerge]
  const ofCommand = isNamed ? others : [subcommand, ...others].filter((word) => word !== '')
  return whyOptionRefused('args', args, [...MALFORMED, ...rules]) ?? whyOptionRefused('command', ofCommand, rules)
}

function whyOptionRefused(name: string, words: readonly string[], rules: readonly Rule[]): string | undefined {
  for (const [index, word] of words.entries()) {
    const isValue = (valueFollows?: RegExp) => valueFollows?.test(words[index - 1] ?? '')
    const [, reason] = rules.find(([refused, , follows]) => refused.test(word) && !isValue(follows)) ?? []
    if (reason !== undefined) return `"${name}" has ${quote(word)}. ${reason}`
  }
  return undefined
}
