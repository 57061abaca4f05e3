import { createInterface } from 'node:readline/promises'
import { parseArgs } from 'node:util'
import { readKeys, UsageError } from '../invocation.ts'
import { quote } from '../text.ts'
import { CannotCheck, checkService, countRuns, type Target } from './check.ts'
import { render, shown } from './report.ts'

export const CHECK_USAGE = `Usage: test-run-service check URL --project ID [options]

Checks a test run service against the interface, rule by rule. It starts runs, and cancels those that do not finish.

  --project ID               a project of the service
  --suite ID                 a test suite of the service; the interface has no cancel for its run
  --environment NAME         an environment of the project
  --framework-project NAME   a test-framework project of the project
  --key-file FILE            a file with the API key; default: the variable LOCAL_SERVICE_KEY
  --timeout-minutes NUMBER   how long to wait for a run to finish; default: 10
  --yes                      start the runs without asking
  --json                     print the report as JSON
  --junit                    print the report as JUnit XML
  --help

It exits with 1 if a rule is broken, and with 2 if it cannot check.`

/** Returns the exit code. */
export async function runCheck(args: readonly string[], signal: AbortSignal): Promise<number> {
  // Certificates are always checked.
  delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
  try {
    const { values, positionals } = parseArguments(args)
    if (values.help) {
      console.log(CHECK_USAGE)
      return 0
    }
    if (values.json && values.junit) throw new UsageError('Give --json or --junit, not both.')
    const target = await readTarget(values, positionals)
    const limits = { finishMs: readMinutes(values['timeout-minutes']) * 60_000, cancelMs: 60_000, pollMs: 1000 }
    const warn = (line: string) => console.error(shown(line, target.key))
    for (const line of planOf(target)) warn(line)
    if (!values.yes && !(await isConfirmed(signal))) return 2
    const report = await checkService(target, limits, signal, warn)
    console.log(render(report, values.json ? 'json' : values.junit ? 'junit' : 'text', target.key))
    return report.rules.some(({ verdict }) => verdict === 'broken') ? 1 : 0
  } catch (error) {
    if (signal.aborted) {
      console.error('The check was stopped.')
      return 130
    }
    if (!(error instanceof UsageError || error instanceof CannotCheck)) throw error
    console.error(error.message)
    return 2
  }
}

function planOf(target: Target): string[] {
  const { project, suite, url } = target
  return [
    `At ${url.href}, the check starts ${countRuns(target)} runs of project ${quote(project)} and cancels all but one, which it`,
    'cancels too if it does not finish in time. Each start that the service should refuse, but accepts, is one more.',
    ...(suite === undefined ? [] : [`It starts one run of test suite ${quote(suite)}, which nobody can cancel.`]),
  ]
}

function parseArguments(args: readonly string[]) {
  const text = { type: 'string' } as const
  const flag = { type: 'boolean', default: false } as const
  const target = { project: text, suite: text, environment: text, 'framework-project': text, 'key-file': text }
  const options = { ...target, 'timeout-minutes': text, yes: flag, json: flag, junit: flag, help: flag }
  try {
    return parseArgs({ args: [...args], allowPositionals: true, options })
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\n\n${CHECK_USAGE}`)
  }
}

async function readTarget(
  values: ReturnType<typeof parseArguments>['values'],
  [address, ...others]: readonly string[],
): Promise<Target> {
  const { project, suite, environment, 'framework-project': frameworkProject, 'key-file': keyFile } = values
  if (address === undefined || others.length > 0 || !project) {
    throw new UsageError(`Give one URL and a --project.\n\n${CHECK_USAGE}`)
  }
  const key = keyFile === undefined ? process.env.LOCAL_SERVICE_KEY : (await readKeys(keyFile))[0]
  if (!key) throw new UsageError('There is no API key. Give --key-file, or set the variable LOCAL_SERVICE_KEY.')
  if (!/^[\x21-\x7e]+$/.test(key)) throw new UsageError('The API key has a character that no header can have.')
  return { url: readUrl(address), key, project, suite, environment, frameworkProject }
}

/** As the action has it. What is refused may hold a password, and is not shown. */
function readUrl(address: string): URL {
  const url = URL.parse(address)
  const isLoopback = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url?.hostname ?? '')
  if (url === null || !(url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback))) {
    throw new UsageError('The URL must begin with https://, or with http:// if the service is on this machine.')
  }
  if (!url.username && !url.password && !url.search && !url.hash) return url
  throw new UsageError('The URL must have no user name, password, query or fragment.')
}

function readMinutes(text = '10'): number {
  const minutes = Number(text)
  if (minutes > 0 && minutes <= 35_000) return minutes
  throw new UsageError(`--timeout-minutes must be a number up to 35,000, got ${quote(text)}.`)
}

async function isConfirmed(signal: AbortSignal): Promise<boolean> {
  if (!process.stdin.isTTY) throw new UsageError('Nobody can be asked without a terminal. Give --yes to start them.')
  // Without line editing, so that Ctrl-C stays a signal to the process.
  const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: false })
  const answer = await lines.question('Start them? [y/N] ', { signal }).finally(() => lines.close())
  return /^y(es)?$/i.test(answer.trim())
}
