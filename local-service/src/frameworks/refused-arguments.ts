import { quote } from '../text.ts'
import type { FrameworkSettings } from './framework.ts'

type OwnFramework = 'vitest' | 'playwright'

const KEEPS_RUNNING = 'The run would not end. Leave it out.'
const TESTS_NOTHING = 'No test would run. Leave it out.'
const OF_THE_RUN =
  'Each run names its framework projects itself. Give "framework-project" to the gate, or "frameworkProjectName" in the request.'

const REFUSED: Readonly<Record<OwnFramework, readonly (readonly [options: string, reason: string])[]>> = {
  vitest: [
    ['--watch -w --ui --open --standalone --inspect-brk', KEEPS_RUNNING],
    ['--help -h --version -v --list-tags --clear-cache --merge-reports', TESTS_NOTHING],
    ['--project -p', OF_THE_RUN],
  ],
  playwright: [
    ['--ui --ui-host --ui-port --debug', KEEPS_RUNNING],
    ['--help -h --version -V --list', TESTS_NOTHING],
    ['--project', OF_THE_RUN],
  ],
}

/** As the first argument, such a word is meant as a command. The framework would read it as a part of a file's path. */
const COMMANDS: Readonly<Record<OwnFramework, string>> = {
  vitest: 'run watch dev list bench related init vitest',
  playwright: 'test show-report merge-reports install playwright',
}

const MALFORMED: readonly (readonly [RegExp, string])[] = [
  [/^-[^\s=]*\s/, 'Write an option and its value with "=", or as two arguments.'],
  [/^-.*\s--[a-zA-Z]/, 'Give each option as an argument of its own.'],
  // The value begins with a quote, and ends with this quote or is split before it.
  [
    /^(?:-[^=]*=)?(?:"(?:[^"]*|.*")|'(?:[^']*|.*'))$/s,
    'No shell removes the quotes. Leave them out, and give the value whole.',
  ],
]

type Allows = (argument: string, before: string) => boolean

/** The arguments of a merge. With a filter, Vitest would lose test files without a word. A value on its own could be a filter. */
const OF_MERGE: Readonly<Record<OwnFramework, readonly [Allows, string]>> = {
  vitest: [
    (argument) => /^-(?!t|-(?:testNamePattern|shard|changed|exclude|dir|tagsFilter)\b)/.test(argument),
    'takes no file and no filter. Write the value of an option with "="',
  ],
  playwright: [
    (argument, before) =>
      [argument.replace(/=.*/s, ''), before].some((one) => /^(?:-c|--config|--reporter)$/.test(one)),
    'takes only --config and --reporter',
  ],
}

/** Why the framework cannot use the settings. */
export function whyRefused(framework: OwnFramework, settings: FrameworkSettings): string | undefined {
  const { args, command = [], report, merge } = settings
  const refusal =
    whyArgumentsRefused(framework, args) ?? (merge === undefined ? undefined : whyNotMerged(framework, args))
  if (refusal !== undefined) return `"args" ${refusal}`
  const word = commandBehindProgram(framework, command)
  if (word !== undefined) {
    return `"command" has ${quote(word)}. The service names this command itself. Leave it out, and give options in "args".`
  }
  return report && `"report" is only for the framework "junit", and this one is "${framework}".`
}

/** The `run` of `npx vitest run`. The service adds its own, so Vitest would run only the files with "run" in their paths. */
function commandBehindProgram(framework: OwnFramework, command: readonly string[]): string | undefined {
  const program = new RegExp(`(?:^|/)${framework}(?:\\.mjs|@.*)?$`)
  // In `npx -p vitest vitest`, the second word is the program.
  return command.find(
    (word, index) => word !== framework && isCommand(framework, word) && program.test(command[index - 1] ?? ''),
  )
}

function isCommand(framework: OwnFramework, word: string): boolean {
  return COMMANDS[framework].split(' ').includes(word)
}

function whyArgumentsRefused(framework: OwnFramework, args: readonly string[]): string | undefined {
  const [first = ''] = args
  if (isCommand(framework, first))
    return `begins with ${quote(first)}. The service names the command itself. Leave it out.`
  for (const argument of args) {
    const malformed = MALFORMED.find(([pattern]) => pattern.test(argument))
    const refused = REFUSED[framework].find(([options]) => options.split(' ').includes(optionIn(argument)))
    const [, reason] = malformed ?? refused ?? []
    if (reason !== undefined) return `has ${quote(argument)}. ${reason}`
  }
  return undefined
}

/** Vitest reads `--clearCache` as `--clear-cache`, and `--watch=false` is no reason to refuse a run. */
function optionIn(argument: string): string {
  const [option = ''] = argument.endsWith('=false') ? [] : argument.split(/[=.]/, 1)
  return option.replace(/(?<=[a-z])[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

function whyNotMerged(framework: OwnFramework, args: readonly string[]): string | undefined {
  const [allows, sentence] = OF_MERGE[framework]
  const refused = args.find((argument, index) => !allows(argument, args[index - 1] ?? ''))
  return refused === undefined
    ? undefined
    : `has ${quote(refused)}. A merge of reports runs no test, so it ${sentence}.`
}
