import { fieldsOf } from '../../../src/text/json.ts'
import { readManifest } from '../machine/files.ts'
import { wordsOf } from '../machine/script.ts'
import { quote, quoteCommand } from '../text.ts'
import type { Framework, FrameworkSettings } from './framework.ts'
import { whyRefusedForJunit } from './junit.ts'

// What the service cannot run with a framework, because it adds arguments itself and waits for the end.

type Rule = readonly [refuses: (word: string, previous?: string) => boolean, reason: string]

/** The names of the options in a word: `clearcache` for `--clear-cache` and `--clearCache=true`, and `u` and `w` for `-uw`. */
function optionNamesIn(word: string): readonly string[] {
  const [, long, letters = ''] = /^(?:--([^=.\s]+)|-([^-=\s]+))/.exec(word) ?? []
  return long === undefined ? [...letters.toLowerCase()] : [long.replaceAll('-', '').toLowerCase()]
}

const isOption = (names: string) => (word: string) =>
  optionNamesIn(word).some((name) => names.split(' ').includes(name))
/** Such as `--watch` and `--watch=true`, but not `--watch=false`. */
export const switchesOn = (names: string) => (word: string) => isOption(names)(word) && !word.endsWith('=false')

const KEEPS_RUNNING = 'The run would not end. Leave it out.'
const TESTS_NOTHING = 'No test would run. Leave it out.'
const NAMED_BY_EACH_RUN =
  'Each run names its framework projects itself. Give "framework-project" to the gate, or "frameworkProjectName" in the request.'

/** The title of a test may contain an option, so `--grep=accepts --force` is one option. */
const takesTitle = isOption('t g testnamepattern grep grepinvert')

/** Of `--workers=2 --retries=1`, Playwright would take the first option and ignore the second. */
const TWO_IN_ONE: Rule = [
  (word) => /^-.*\s--[a-z]/i.test(word) && !takesTitle(word),
  'Give each option as an argument of its own.',
]

interface Program {
  /** The packages that have the program, as a part of a regular expression. */
  readonly packages: string
  /** The commands of the program, such as `list`. In `args`, the program would take them for parts of paths. */
  readonly commands: readonly string[]
  readonly options: readonly Rule[]
  /** A further rule if the run merges reports. */
  readonly mergeRule?: Rule
}

const isFile = (word: string) => !word.startsWith('-')
const isFilterOfVitest = isOption('t testnamepattern shard changed exclude dir tagsfilter')
const isOptionOfMerge = isOption('c config reporter')

type Name = Exclude<Framework['name'], 'junit'>

const PROGRAMS: Readonly<Record<Name, Program>> = {
  vitest: {
    packages: 'vitest',
    commands: ['run', 'watch', 'dev', 'list', 'bench', 'related', 'init'],
    options: [
      [switchesOn('w watch ui open standalone inspectbrk'), KEEPS_RUNNING],
      [switchesOn('h help v version listtags clearcache mergereports'), TESTS_NOTHING],
      [switchesOn('p project'), NAMED_BY_EACH_RUN],
    ],
    // With a filter, Vitest would leave out test files and say nothing. A word without a dash is a filter, or the value of the option
    // before it. This rule cannot know which, so it refuses both.
    mergeRule: [
      (word) => isFile(word) || isFilterOfVitest(word),
      'A merge of reports runs no test, so it takes no file and no filter. Write the value of an option with "=".',
    ],
  },
  playwright: {
    packages: 'playwright|@playwright/[\\w-]+',
    commands: ['test', 'show-report', 'merge-reports', 'install'],
    options: [
      [switchesOn('ui uihost uiport debug'), KEEPS_RUNNING],
      // Playwright reads `-gh` as `-g h`.
      [(word) => /^-[hV]/.test(word) || switchesOn('help version list')(word), TESTS_NOTHING],
      [switchesOn('project'), NAMED_BY_EACH_RUN],
    ],
    mergeRule: [
      (word, previous = '') => {
        const isValue = isOptionOfMerge(previous) && !previous.includes('=')
        return !isOptionOfMerge(word) && !isValue
      },
      'A merge of reports runs no test, so it takes only --config and --reporter.',
    ],
  },
  jest: {
    packages: 'jest(?:-cli)?',
    commands: [],
    options: [
      [switchesOn('watch watchall'), KEEPS_RUNNING],
      [switchesOn('h help v version listtests showconfig init clearcache'), TESTS_NOTHING],
      [
        switchesOn('json outputfile testresultsprocessor'),
        'The service carries the results out itself. Leave it out, and let a reporter of the configuration write files.',
      ],
      [switchesOn('selectprojects'), NAMED_BY_EACH_RUN],
    ],
  },
}

/** Why the framework cannot use the settings of a project in this folder, as sentences. */
export function whyRefused(
  framework: Framework['name'],
  settings: FrameworkSettings,
  folder: string,
): string | undefined {
  if (framework === 'junit') return whyRefusedForJunit(settings)
  const { args, command, merge } = settings
  if (merge !== undefined && framework === 'jest')
    return '"merge" is for Vitest and Playwright Test. For shards of Jest, give "report", the JUnit files of all shards.'
  const { commands, options, mergeRule } = PROGRAMS[framework]
  const rules = [TWO_IN_ONE, ...options, ...(merge === undefined || mergeRule === undefined ? [] : [mergeRule])]
  const [first = ''] = args
  const refused = [framework, ...commands].includes(first)
    ? namesCommand('args', first)
    : whyWordsRefused('args', args, rules)
  if (refused !== undefined || command === undefined) return refused
  const { words, operator } = wordsOf(command)
  if (operator === '"' || operator === "'")
    return `"command" has a ${quote(operator)} that is not closed: ${quoteCommand(command)}. Close it, or leave it out.`
  if (operator !== undefined) {
    const found = operator === '\n' ? 'several lines' : quote(operator)
    return `"command" has ${found}, but it must be one simple command, because the service adds options at its end. Give everything else a step of its own.`
  }
  return whyScriptRefused(words, framework, folder) ?? whyCommandRefused(words, framework, merge !== undefined, rules)
}

const namesCommand = (setting: string, word: string) =>
  `"${setting}" has ${quote(word)}. The service names the command itself. Leave it out.`

/** Why a run cannot use the command, whose end gets the arguments of the service. */
function whyCommandRefused(
  words: readonly string[],
  framework: Name,
  isMerge: boolean,
  rules: readonly Rule[],
): string | undefined {
  const given = argumentsIn(words, framework)
  if (given === 'not named') {
    // The words of any other program, such as a script of the user, have a meaning of their own.
    return isMerge
      ? `"command" is ${quoteCommand(words)}. To merge reports, it must name ${quote(framework)} itself, because any other program could add a filter.`
      : undefined
  }
  if (given === 'ends behind dashes')
    return `"command" is ${quoteCommand(words)}. Behind "--", nothing is an option, but the service adds options at the end. Give "--" and what is behind it in "args".`
  const [first = '', ...others] = given
  switch (framework) {
    case 'vitest':
      // The option `--run`, which the service adds, means the same as `run`.
      if (first === 'run') return whyWordsRefused('command', others, rules)
      if (PROGRAMS.vitest.commands.includes(first)) return namesCommand('command', first)
      return whyWordsRefused('command', given, rules)
    case 'playwright': {
      const needed = isMerge ? 'merge-reports' : 'test'
      // In `docker compose run playwright npx playwright test`, it is not the first word behind the first `playwright`.
      const index = given.indexOf(needed)
      if (index !== -1) return whyWordsRefused('command', given.slice(index + 1), rules)
      return `"command" is ${quoteCommand(words)}. Write the command ${quote(needed)} in it, as in \`npx playwright ${needed}\`, because the service adds only arguments.`
    }
    case 'jest':
      return whyWordsRefused('command', given, rules)
  }
}

/**
 * The arguments that the framework's program gets in a command. For example, for Vitest:
 *
 *   npx vitest run a.test.ts                 run a.test.ts
 *   npm exec vitest run -- --retry=1         run --retry=1        npm takes the first `--` itself
 *   kubectl exec vitest -- npx vitest run    run                  if the program is named again behind `--`, that is the real one
 *   vitest run -- a.test.ts                  'ends behind dashes'
 *   ./test.sh                                'not named'
 */
function argumentsIn(
  words: readonly string[],
  framework: Name,
): readonly string[] | 'not named' | 'ends behind dashes' {
  const isOfNpm = words.find((word) => !/^(?:\w+=|(?:cross-)?env$)/.test(word)) === 'npm'
  const passedOn = isOfNpm ? words.filter((word, at) => word !== '--' || at !== words.indexOf('--')) : words
  const given = wordsBehind(framework, passedOn)
  if (given === undefined) return 'not named'
  const dashes = given.indexOf('--')
  if (dashes === -1) return given
  const real = argumentsIn(given.slice(dashes + 1), framework)
  return real === 'not named' ? 'ends behind dashes' : real
}

function whyWordsRefused(setting: string, words: readonly string[], rules: readonly Rule[]): string | undefined {
  for (const [index, word] of words.entries()) {
    const [, reason] = rules.find(([refuses]) => refuses(word, words[index - 1])) ?? []
    if (reason !== undefined) return `"${setting}" has ${quote(word)}. ${reason}`
  }
  return undefined
}

/** What a person types before the name of a program, to run the one that is installed in the project. */
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
 * The words of a command behind the framework's program. Undefined if the command does not name the program. These words name it:
 * 1. `vitest`, `node_modules/.bin/vitest`, `vitest.mjs`.
 * 2. A package that has the program, also with a version: `@playwright/test@1.50`. In `npx -p vitest vitest`, only the last word is the program.
 * 3. A file of such a package: `node_modules/@playwright/test/cli.js`.
 */
function wordsBehind(framework: Name, words: readonly string[]): readonly string[] | undefined {
  const { packages } = PROGRAMS[framework]
  const program = new RegExp(
    `(?:^|/)(?:${framework}(?:\\.[cm]?js)?|(?:${packages})(?:@[^/]*)?|node_modules/(?:${packages})/.*\\.[cm]?js)$`,
  )
  const index = words.findIndex((word, at) => program.test(word) && !/^(?:-p|--package)$/.test(words[at - 1] ?? ''))
  return index === -1 ? undefined : words.slice(index + 1)
}
