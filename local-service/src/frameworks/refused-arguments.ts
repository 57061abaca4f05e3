import { quote } from '../text.ts'
import type { FrameworkSettings } from './framework.ts'

type Rule = readonly [refused: RegExp, reason: string]

const KEEPS_RUNNING = 'The run would not end. Leave it out.'
const TESTS_NOTHING = 'No test would run. Leave it out.'
const OF_THE_RUN =
  'Each run names its framework projects itself. Give "framework-project" to the gate, or "frameworkProjectName" in the request.'

const MALFORMED: readonly Rule[] = [
  [/^-[^\s=]*\s/, 'Write an option and its value with "=", or as two arguments.'],
  [/^-.*\s--[a-zA-Z]/, 'Give each option as an argument of its own.'],
  // The value begins with a quote, and ends with this quote or is split before it.
  [
    /^(?:-[^=]*=)?(?:"(?:[^"]*|.*")|'(?:[^']*|.*'))$/s,
    'No shell removes the quotes. Leave them out, and give the value whole.',
  ],
]

/** Vitest reads `--clearCache` as `--clear-cache`. `--watch=false` is no reason to refuse a run. */
const option = (names: string) => new RegExp(`^(?:${names})(?:[=.](?!false$).*)?$`, 'is')

/** Of a merge. */
const VALUE_FOLLOWS = /^(?:-c|--config|--reporter)$/

const RULES = {
  vitest: {
    options: [
      [option('-w|--(?:watch|ui|open|standalone|inspect-?brk)'), KEEPS_RUNNING],
      [option('-[hv]|--(?:help|version|list-?tags|clear-?cache|merge-?reports)'), TESTS_NOTHING],
      [option('-p|--project'), OF_THE_RUN],
    ],
    // With a filter, Vitest would lose test files without a word. A value on its own could be a filter.
    ofMerge: [
      /^(?!-)|^-t|^--(?:test-?name-?pattern|shard|changed|exclude|dir|tags-?filter)\b/i,
      'A merge of reports runs no test, so it takes no file and no filter. Write the value of an option with "=".',
    ],
    commands: /^(?:run|watch|dev|list|bench|related|init)$/,
  },
  playwright: {
    options: [
      [option('--(?:ui|ui-host|ui-port|debug)'), KEEPS_RUNNING],
      [option('-[hv]|--(?:help|version|list)'), TESTS_NOTHING],
      [option('--project'), OF_THE_RUN],
    ],
    ofMerge: [
      /^(?!(?:-c|--config|--reporter)(?:=|$))/,
      'A merge of reports runs no test, so it takes only --config and --reporter.',
    ],
    commands: /^(?:test|show-report|merge-reports|install)$/,
  },
} as const satisfies Readonly<Record<string, { options: readonly Rule[]; ofMerge: Rule; commands: RegExp }>>

/** Why the framework cannot use the settings. */
export function whyRefused(
  framework: keyof typeof RULES,
  { args, command = [], report, merge }: FrameworkSettings,
): string | undefined {
  const { options, ofMerge, commands } = RULES[framework]
  const [first = ''] = args
  // The framework would read it as a part of a file's path.
  if (first === framework || commands.test(first))
    return `"args" begins with ${quote(first)}. The service names the command itself. Leave it out.`
  for (const [index, argument] of args.entries()) {
    const isValue = framework === 'playwright' && VALUE_FOLLOWS.test(args[index - 1] ?? '')
    const rules: readonly Rule[] = [...MALFORMED, ...options, ...(merge === undefined || isValue ? [] : [ofMerge])]
    const [, reason] = rules.find(([refused]) => refused.test(argument)) ?? []
    if (reason !== undefined) return `"args" has ${quote(argument)}. ${reason}`
  }
  // The `run` of `npx vitest run`. In `npx -p vitest vitest`, the second word is the program.
  const program = new RegExp(`(?:^|/)${framework}(?:\\.mjs|@.*)?$`)
  const word = command.find((one, index) => commands.test(one) && program.test(command[index - 1] ?? ''))
  if (word !== undefined)
    return `"command" has ${quote(word)}. The service names this command itself. Leave it out, and give options in "args".`
  return report && `"report" is only for the framework "junit", and this one is "${framework}".`
}
