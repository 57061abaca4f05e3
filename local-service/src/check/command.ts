import { once } from 'node:events'
import { createInterface } from 'node:readline/promises'
import { parseCommandLine, readKeys, UsageError } from '../invocation.ts'
import { quote } from '../text.ts'
import { checkService, countRuns } from './check.ts'
import { type Format, render, shown } from './report.ts'
import type { Target } from './session.ts'

export const CHECK_USAGE = `Usage: test-run-service check URL --project ID [options]

Checks a test run service against the interface, rule by rule. It starts runs, and cancels those that do not finish.

  --project ID               a project of the service
  --suite ID                 a test suite of the service; the interface has no cancel for its run
  --environment NAME         an environment of the project
  --framework-project NAME   a test-framework project of the project
  --key-file FILE            a file with the API key; default: the variable LOCAL_SERVICE_KEY
  --yes                      start the runs without asking
  --json                     print the report as JSON
  --junit                    print the report as JUnit XML
  --help

It exits with 1 if a rule is broken, and with 2 if it cannot check.`

const TEXT = { type: 'string' } as const
const FLAG = { type: 'boolean', default: false } as const
const OPTIONS = {
  ...{ project: TEXT, suite: TEXT, environment: TEXT, 'framework-project': TEXT, 'key-file': TEXT },
  ...{ yes: FLAG, json: FLAG, junit: FLAG, help: FLAG },
}
const LIMITS = { finishMs: 600_000, cancelMs: 60_000, pollMs: 1000 }

export async function runCheck(args: readonly string[], signal: AbortSignal): Promise<number> {
  // Certificates are always checked.
  delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
  try {
    const invocation = await readCheckInvocation(args, process.env)
    if (invocation === 'help') {
      console.log(CHECK_USAGE)
      return 0
    }
    const { target, format, yes } = invocation
    const warn = (line: string) => console.error(shown(line, target.key))
    for (const line of planOf(target)) warn(line)
    if (!yes && !(await isConfirmed(signal))) return 2
    const report = await checkService(target, LIMITS, signal, warn)
    console.log(render(report, format, target.key))
    return report.rules.some(({ verdict }) => verdict === 'broken') ? 1 : 0
  } catch (error) {
    if (signal.aborted) console.error('The check was stopped.')
    else if (error instanceof UsageError) console.error(error.message)
    else throw error
    return signal.aborted ? 130 : 2
  }
}

/** Throws a UsageError if the command line is not to be understood. */
export async function readCheckInvocation(args: readonly string[], env: NodeJS.ProcessEnv) {
  const { values, positionals } = parseCommandLine(args, OPTIONS, CHECK_USAGE)
  if (values.help) return 'help'
  const { project, suite, environment, 'framework-project': frameworkProject, yes, json, junit } = values
  const [address, ...others] = positionals
  if (address === undefined || others.length > 0 || !project) {
    throw new UsageError(`Give one URL and a --project.\n\n${CHECK_USAGE}`)
  }
  if (json && junit) throw new UsageError('Give --json or --junit, not both.')
  const url = readUrl(address)
  const key = values['key-file'] === undefined ? env.LOCAL_SERVICE_KEY : (await readKeys(values['key-file']))[0]
  if (!key) throw new UsageError('There is no API key. Give --key-file, or set the variable LOCAL_SERVICE_KEY.')
  if (!/^[\x21-\x7e]+$/.test(key)) throw new UsageError('The API key has a character that no header can have.')
  const target = { url, key, project, suite, environment, frameworkProject }
  const format: Format = json ? 'json' : junit ? 'junit' : 'text'
  return { target, format, yes }
}

function planOf(target: Target): string[] {
  const { project, suite, url } = target
  return [
    `At ${url.href}, the check starts ${countRuns(target)} runs of project ${quote(project)} and cancels all but one, which it`,
    'cancels too if it does not finish in time. Each start that the service should refuse, but accepts, is one more.',
    ...(suite === undefined ? [] : [`It starts one run of test suite ${quote(suite)}, which nobody can cancel.`]),
  ]
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

async function isConfirmed(signal: AbortSignal): Promise<boolean> {
  if (!process.stdin.isTTY) throw new UsageError('Nobody can be asked without a terminal. Give --yes to start them.')
  // Without line editing, so that Ctrl-C stays a signal to the process.
  const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: false })
  try {
    const end = once(lines, 'close').then(() => '')
    return /^y(es)?$/i.test((await Promise.race([lines.question('Start them? [y/N] ', { signal }), end])).trim())
  } finally {
    lines.close()
  }
}
