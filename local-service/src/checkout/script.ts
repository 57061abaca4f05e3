import { basename } from 'node:path'
import { fieldsOf } from '../../../src/text/json.ts'
import type { Framework } from '../frameworks/framework.ts'
import { readManifest } from '../machine/files.ts'
import { quote } from '../text.ts'

/**
 * People often run the tests by a script of package.json. A run of the service does not, so it says which arguments of the script it
 * does not have. Undefined if there are none, or if no script calls the framework.
 */
export function whyScriptDiffers(
  framework: Framework['name'],
  folder: string,
  args: readonly string[],
): string | undefined {
  const found = findScript(framework, fieldsOf(readManifest(folder).scripts))
  const given = new Set(args.flatMap(partsOf))
  const missing = found?.args.filter((argument) => !partsOf(argument).every((part) => given.has(part))) ?? []
  if (found === undefined || missing.length === 0) return undefined
  const what = `the script ${quote(found.name)} of package.json gives ${framework} arguments that this run does not have`
  return `${what}: ${missing.join(' ')}. If the tests need them, set "args"`
}

/** The script `test`, else the only script that calls the framework. */
function findScript(framework: Framework['name'], scripts: Partial<Record<string, unknown>>) {
  const found = Object.entries(scripts).flatMap(([name, script]) => {
    const args = typeof script === 'string' ? argumentsIn(script, framework) : undefined
    return args === undefined ? [] : [{ name, args }]
  })
  return found.find(({ name }) => name === 'test') ?? (found.length === 1 ? found[0] : undefined)
}

type Words = Readonly<Partial<Record<Framework['name'], RegExp>>>

const RUNS_TESTS: Words = { vitest: /^(?:run|watch|dev)$/, playwright: /^test$/ }
const DOES_ANOTHER_THING: Words = { vitest: /^(?:list|bench|init|related)$/, playwright: /^(?!test$)/ }

/** What a shell would give to the framework. Undefined if the script does not run tests with it. */
function argumentsIn(script: string, framework: Framework['name']): string[] | undefined {
  for (const call of script.split(/&&|\|\|?|;|\s\d*[<>]/)) {
    const words = call.match(/(?:[^\s"']|"[^"]*"|'[^']*')+/g)?.map((word) => word.replace(/["']/g, '')) ?? []
    const program = words.findIndex((word) => basename(word) === framework)
    const [first = '', ...others] = words.slice(program + 1)
    if (program === -1 || DOES_ANOTHER_THING[framework]?.test(first)) continue
    const args = RUNS_TESTS[framework]?.test(first) ? others : [first, ...others]
    // A run of the service has `--run` anyway.
    return args.filter((word) => word !== '' && word !== '--run')
  }
  return undefined
}

/** An option and its value may be one argument or two. */
function partsOf(argument: string): string[] {
  const [, option = argument, ...value] = /^(--?[^=]+)=(.*)$/s.exec(argument) ?? []
  return [option, ...value]
}
