import { fieldsOf } from '../../../src/text/json.ts'
import { readManifest } from '../machine/files.ts'
import { type UserCommand, wordsOf } from '../machine/script.ts'
import { quote, quoteCommand } from '../text.ts'
import type { FrameworkSettings } from './framework.ts'

// What the service cannot run with a framework, because it adds arguments itself and waits for the end.

type Rule = readonly [refuses: (word: string, previous?: string) => boolean, reason: string]

/** The name of an option: `clearcache` for `--clear-cache` and `--clearCache=true`, and `w` for `-w` and `-wu`. Empty for any other word. */
function nameOf(word: string): string {
  const [, long, short = ''] = /^(?:--([^=.\s]+)|-([^-]))/.exec(word) ?? []
  return (long ?? short).replaceAll('-', '').toLowerCase()
}

const isOption = (names: string) => (word: string) => names.split(' ').includes(nameOf(word))
/** Such as `--watch` and `--watch=true`, but not `--watch=false`. */
const switchesOn = (names: string) => (word: string) => isOption(names)(word) && !word.endsWith('=false')

const KEEPS_RUNNING = 'The run would not end. Leave it out.'
const TESTS_NOTHING = 'No test would run. Leave it out.'
const OF_THE_RUN =
  'Each run names its framework projects itself. Give "framework-project" to the gate, or "frameworkProjectName" in the request.'

/** The title of a test may contain an option, so `--grep=accepts --force` is one option. */
const takesTitle = isOption('t g testnamepattern grep grepinvert')

/** Of `--workers=2 --retries=1`, Playwright would take the first option and ignore the second. */
const TWO_IN_ONE: Rule = [
  (word) => /^-.*\s--[a-z]/i.test(word) && !takesTitle(word),
  'Give each option as an argument of its own.',
]

interface Program {
  /** The first one runs the tests once, so the user may write it in `command`. */
  readonly commands: readonly string[]
  readonly options: readonly Rule[]
  /** A further rule if the run merges reports. */
  readonly ofMerge?: Rule
}

const isFile = (word: string) => !word.startsWith('-')
const isFilterOfVitest = isOption('t testnamepattern shard changed exclude dir tagsfilter')
const isOptionOfMerge = isOption('c config reporter')

const PROGRAMS: Readonly<Record<'vitest' | 'playwright' | 'jest', Program>> = {
  vitest: {
    commands: ['run', 'watch', 'dev', 'list', 'bench', 'related', 'init'],
    options: [
      [switchesOn('w watch ui open standalone inspectbrk'), KEEPS_RUNNING],
      [switchesOn('h help v version listtags clearcache mergereports'), TESTS_NOTHING],
      [switchesOn('p project'), OF_THE_RUN],
    ],
    // With a filter, Vitest would lose test files without a word. A value on its own could be a filter.
    // In a command, the first word may be `run`.
    ofMerge: [
      (word, previous) => (isFile(word) && (word !== 'run' || previous !== undefined)) || isFilterOfVitest(word),
      'A merge of reports runs no test, so it takes no file and no filter. Write the value of an option with "=".',
    ],
  },
  playwright: {
    commands: ['test', 'show-report', 'merge-reports', 'install'],
    options: [
      [switchesOn('ui uihost uiport debug'), KEEPS_RUNNING],
      [switchesOn('h help v version list'), TESTS_NOTHING],
      [switchesOn('project'), OF_THE_RUN],
    ],
    ofMerge: [
      (word, previous = '') => !isOptionOfMerge(word) && (!isOptionOfMerge(previous) || previous.includes('=')),
      'A merge of reports runs no test, so it takes only --config and --reporter.',
    ],
  },
  jest: {
    commands: [],
    options: [
      [switchesOn('watch watchall'), KEEPS_RUNNING],
      [switchesOn('h help v version listtests showconfig init clearcache'), TESTS_NOTHING],
      [
        switchesOn('json outputfile testresultsprocessor'),
        'The service carries the results out itself. Leave it out, and let a reporter of the configuration write files.',
      ],
      [switchesOn('selectprojects'), OF_THE_RUN],
    ],
  },
}

type Name = keyof typeof PROGRAMS

/** Why the framework cannot use the settings of the project in this folder. */
export function whyRefused(
  framework: Name,
  { args, command, merge }: FrameworkSettings,
  folder: string,
): string | undefined {
  if (merge !== undefined && framework === 'jest')
    return '"merge" is for Vitest and Playwright Test. For shards of Jest, give "report", the JUnit files of all shards.'
  const { commands, options, ofMerge } = PROGRAMS[framework]
  const rules = [TWO_IN_ONE, ...options, ...(merge === undefined || ofMerge === undefined ? [] : [ofMerge])]
  const refused = whyWordsRefused('args', args, [framework, ...commands], rules)
  if (refused !== undefined || command === undefined) return refused
  const { words, operator } = wordsOf(command)
  if (operator === '"' || operator === "'")
    return `"command" has a ${quote(operator)} that is not closed: ${quoteCommand(command)}. Close it, or leave it out.`
  if (operator !== undefined) {
    const found = operator === '\n' ? 'several lines' : quote(operator)
    return `"command" has ${found}, but it must be one simple command, because the service adds options at its end. Give everything else a step of its own.`
  }
  return (
    whyScriptRefused(words, framework, folder) ??
    whyWordsRefused('command', wordsBehind(framework, words), commands.slice(1), rules)
  )
}

function whyWordsRefused(
  setting: string,
  words: readonly string[],
  commands: readonly string[],
  rules: readonly Rule[],
): string | undefined {
  // Behind a command, the framework would read it as a part of a file's path.
  const ofService: Rule = [
    (word, previous) => previous === undefined && commands.includes(word),
    'The service names the command itself. Leave it out.',
  ]
  for (const [index, word] of words.entries()) {
    const [, reason] = [ofService, ...rules].find(([refuses]) => refuses(word, words[index - 1])) ?? []
    if (reason !== undefined) return `"${setting}" has ${quote(word)}. ${reason}`
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
  return `"command" is ${quoteCommand(words)}, which runs the script ${quote(scripts[name])} of package.json. The service adds options at the end of the command, so write what the script runs, with ${quote(STARTS[manager])} before ${quote(framework)}. If there is a script ${quote(`pre${name}`)}, give it a step of its own.`
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
