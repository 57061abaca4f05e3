import { quote } from '../text.ts'
import type { FrameworkSettings } from './framework.ts'

// The arguments that a project must not give to its framework, because a run with them would not end or would test nothing.

interface Refusal {
  /** The names of options, without dashes. A short option has one letter. */
  readonly names: readonly string[]
  readonly reason: string
}

interface Rules {
  readonly options: readonly Refusal[]
  /** Several short options can share one dash. In Playwright, a value can follow a short option directly. */
  readonly shortOptions: RegExp
  /** As the first argument, such a word is meant as a command. The framework would read it as a part of a file's path. */
  readonly commands: readonly string[]
}

const KEEPS_RUNNING = 'The run would not end. Leave it out.'
const TESTS_NOTHING = 'No test would run. Leave it out.'
const OF_THE_RUN =
  'Each run names its framework projects itself. Give "framework-project" to the gate, or "frameworkProjectName" in the request.'

type OwnFramework = 'vitest' | 'playwright'

const RULES: Readonly<Record<OwnFramework, Rules>> = {
  vitest: {
    options: [
      { names: ['watch', 'w', 'ui', 'open', 'standalone', 'inspectBrk'], reason: KEEPS_RUNNING },
      { names: ['help', 'h', 'version', 'v', 'listTags', 'clearCache', 'mergeReports'], reason: TESTS_NOTHING },
      { names: ['project', 'p'], reason: OF_THE_RUN },
    ],
    shortOptions: /^-(\w+)/,
    commands: ['run', 'watch', 'dev', 'list', 'bench', 'related', 'init', 'vitest'],
  },
  playwright: {
    options: [
      { names: ['ui', 'ui-host', 'ui-port', 'debug'], reason: KEEPS_RUNNING },
      { names: ['help', 'h', 'version', 'V', 'list'], reason: TESTS_NOTHING },
      { names: ['project'], reason: OF_THE_RUN },
    ],
    shortOptions: /^-(x*\w)/,
    commands: ['test', 'show-report', 'merge-reports', 'install', 'playwright'],
  },
}

/** Vitest's own way to switch an option off. */
const SWITCHED_OFF = /^--(?:watch|ui|open|standalone)=false$/
const OF_SEVERAL_OPTIONS = /^-.*\s--[a-zA-Z]/
/** The value begins with a quote, and ends with this quote or is split before it. */
const IN_QUOTES = /^(?:-[^=]*=)?(?:"(?:[^"]*|.*")|'(?:[^']*|.*'))$/s

/** The rest of a sentence that begins with the project. Undefined if the framework can use the settings. */
export function whyRefused(framework: OwnFramework, { args, report }: FrameworkSettings): string | undefined {
  const refusal = whyArgumentsRefused(framework, args)
  if (refusal !== undefined) return `cannot be served: "args" ${refusal}`
  if (report === undefined) return undefined
  return `cannot be served: "report" is only for the framework "junit", and this one is "${framework}".`
}

/** The rest of a sentence that begins with the name of the setting. */
function whyArgumentsRefused(framework: OwnFramework, args: readonly string[]): string | undefined {
  const { options, commands } = RULES[framework]
  const [first = ''] = args
  if (commands.includes(first))
    return `begins with ${quote(first)}. The service names the command itself. Leave it out.`
  for (const argument of args) {
    const has = `has ${quote(argument)}.`
    if (/^-[^\s=]*\s/.test(argument)) return `${has} Write an option and its value with "=", or as two arguments.`
    if (OF_SEVERAL_OPTIONS.test(argument)) return `${has} Give each option as an argument of its own.`
    if (IN_QUOTES.test(argument)) return `${has} No shell removes the quotes. Leave them out, and give the value whole.`
    const given = optionsIn(framework, argument)
    const refusal = options.find(({ names }) => names.some((name) => given.includes(name)))
    if (refusal !== undefined) return `${has} ${refusal.reason}`
  }
  return undefined
}

function optionsIn(framework: OwnFramework, argument: string): string[] {
  if (framework === 'vitest' && SWITCHED_OFF.test(argument)) return []
  const [, letters] = RULES[framework].shortOptions.exec(argument) ?? []
  if (letters !== undefined) return letters.split('')
  const [, name = ''] = /^--([^=.]+)/.exec(argument) ?? []
  // Vitest reads `--clear-cache` as `--clearCache`.
  return [framework === 'vitest' ? name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase()) : name]
}
