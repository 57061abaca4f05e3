import { once } from 'node:events'
import { createInterface } from 'node:readline/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { parseCommandLine, readKeys, UsageError, usableKeys } from '../invocation.ts'
import { Driver, type Target } from './driver.ts'
import { createSend } from './exchange.ts'
import { describeLeft, isPathSegment } from './observations.ts'
import { type Format, render, shown } from './report.ts'
import { judge } from './rules.ts'
import { type Effects, LIMITS } from './session.ts'

export const CHECK_USAGE = `Usage: test-run-service check URL --project ID [options]

Checks a test run service against the interface, rule by rule. It starts runs, and cancels those that do not finish.

  --project ID               a project of the service, at best one that nobody else uses
  --other-project ID         another project of the service; the check starts nothing there
  --suite ID                 a test suite of the service; the interface has no cancel for its run
  --environment NAME         an environment of the project
  --framework-project NAME   a test-framework project of the project
  --branch NAME              a branch that is not the default branch
  --key-file FILE            a file with the API key; default: the variable LOCAL_SERVICE_KEY
  --timeout SECONDS          how long the check goes on before it cleans up; default: 600
  --yes                      start the runs without asking
  --json                     print the report as JSON
  --junit                    print the report as JUnit XML
  --help

It exits with 1 if a rule is broken, with 2 if it cannot check, and with 130 if it is stopped.`

const TEXT = { type: 'string' } as const
const FLAG = { type: 'boolean', default: false } as const
const OPTIONS = {
  ...{ project: TEXT, 'other-project': TEXT, suite: TEXT, environment: TEXT, 'framework-project': TEXT, branch: TEXT },
  ...{ 'key-file': TEXT, timeout: TEXT, yes: FLAG, json: FLAG, junit: FLAG, help: FLAG },
}
/** With npm, one Ctrl-C can arrive twice. The terminal sends the signal, and npm sends it too. */
const SECOND_SIGNAL_MS = 500
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Whatever happens, the exit code is 0 or 1 only if the service was checked. */
export async function runCheck(args: readonly string[], signal: AbortSignal): Promise<number> {
  try {
    return await check(args, signal)
  } catch (error) {
    // The check could not even write a report.
    console.error(error)
    return 2
  }
}

async function check(args: readonly string[], signal: AbortSignal): Promise<number> {
  const format: Format = args.includes('--json') ? 'json' : args.includes('--junit') ? 'junit' : 'text'
  let invocation: Invocation | undefined
  let driver: Driver | undefined
  const startedAtMs = Date.now()
  const finish = (exitCode: number, message?: string): number => {
    const { url = '', key = '', project = '' } = invocation?.target ?? {}
    const rules = driver === undefined ? [] : judge(driver.observations)
    const code = exitCode === 0 && rules.some(({ verdict }) => verdict === 'broken') ? 1 : exitCode
    const left = describeLeft(driver?.exchanges ?? [])
    const times = { startedAtMs, finishedAtMs: Date.now() }
    const report = { url: `${url}`, project, exitCode: code, message, ...times, rules, left }

    const warn = (line: string) => console.error(shown(line, key))
    for (const line of left) warn(line)
    // The usage has several lines, and no text from outside. So it is printed as it is.
    if (message !== undefined) (invocation === undefined ? console.error : warn)(message)
    if (format !== 'text' || code < 2) console.log(render(report, format, key))
    return code
  }
  const endAtOnce = (code: number, message: string) => process.exit(finish(code, message))
  process.once('uncaughtException', (error) => endAtOnce(2, `The check itself failed: ${error.stack}`))
  signal.addEventListener('abort', () => onSecondSignal(() => endAtOnce(130, 'The check was stopped at once.')))
  try {
    invocation = await readCheckInvocation(args, process.env)
    if (invocation === undefined) {
      console.log(CHECK_USAGE)
      return 0
    }
    const { target, timeoutMs, yes } = invocation
    const say = (line: string) => console.error(shown(line, target.key))
    for (const line of planOf(target)) say(line)
    if (!yes && !(await isConfirmed(signal))) return finish(2, 'Nothing was started.')
    driver = new Driver(target, effectsOf(target, say), { ...LIMITS, timeoutMs }, signal)
    await driver.run().finally(() => driver?.cleanUp())
    return signal.aborted ? finish(130, 'The check was stopped.') : finish(0)
  } catch (error) {
    if (signal.aborted) return finish(130, 'The check was stopped.')
    if (error instanceof UsageError) return finish(2, error.message)
    return finish(2, `The check itself failed: ${error instanceof Error ? error.stack : error}`)
  }
}

interface Invocation {
  readonly target: Target & { readonly url: URL }
  readonly timeoutMs: number
  readonly yes: boolean
}

/** Undefined if only the usage is asked for. Throws a UsageError if the command line cannot be understood. */
export async function readCheckInvocation(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<Invocation | undefined> {
  const { values, positionals } = parseCommandLine(args, OPTIONS, CHECK_USAGE)
  if (values.help) return undefined
  const { project, 'other-project': otherProject, suite, environment, branch, yes, json, junit } = values
  const [address, ...others] = positionals
  if (address === undefined || others.length > 0 || project === undefined) {
    throw new UsageError(`Give the URL of the service and --project.\n\n${CHECK_USAGE}`)
  }
  if (json && junit) throw new UsageError('Give --json or --junit, not both.')
  for (const [name, id] of Object.entries({ project, 'other-project': otherProject, suite })) {
    if (id !== undefined && !isPathSegment(id)) throw new UsageError(`--${name} is not an id that a path can hold.`)
  }
  if (otherProject === project) throw new UsageError('--other-project is the same as --project.')
  const { timeout = '600' } = values
  if (!/^[1-9]\d{0,5}$/.test(timeout)) throw new UsageError('--timeout must be a whole number of seconds, at least 1.')
  const url = readUrl(address)
  const key = values['key-file'] === undefined ? env.LOCAL_SERVICE_KEY : (await readKeys(values['key-file']))[0]
  if (!key) throw new UsageError('There is no API key. Give --key-file, or set the variable LOCAL_SERVICE_KEY.')
  usableKeys([key], 'the variable LOCAL_SERVICE_KEY')
  const frameworkProject = values['framework-project']
  const target = { url, key, project, otherProject, suite, environment, frameworkProject, branch }
  return { target, timeoutMs: Number(timeout) * 1000, yes }
}

function planOf({ project, suite, url }: Invocation['target']): string[] {
  return [
    `At ${url.href}, the check starts up to 10 runs of project ${JSON.stringify(project)} and cancels all but one.`,
    'If the service accepts a start that it should refuse, the check has started one more run. At its end, the check cancels what has not finished.',
    ...(suite === undefined
      ? []
      : [`It starts a run of test suite ${JSON.stringify(suite)}, which nobody can cancel.`]),
  ]
}

/** Reads the address as the action does. A refused address may hold a password, so it is not shown. */
function readUrl(address: string): URL {
  const url = URL.parse(address)
  const isLoopback = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url?.hostname ?? '')
  if (url === null || !(url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback))) {
    throw new UsageError('The URL must begin with https://, or with http:// if the service is on this machine.')
  }
  if (url.username || url.password || url.search || url.hash) {
    throw new UsageError('The URL must have no user name, password, query or fragment.')
  }
  if (!/\/v1\/*$/.test(url.pathname)) return url
  throw new UsageError('The URL ends with /v1. Leave that out: the paths of the interface begin with it.')
}

async function isConfirmed(signal: AbortSignal): Promise<boolean> {
  if (!process.stdin.isTTY) {
    throw new UsageError('The check cannot ask without a terminal. Give --yes to start the runs.')
  }
  // Without line editing, so that Ctrl-C stays a signal to the process.
  const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: false })
  try {
    const end = once(lines, 'close').then(() => '')
    return /^y(es)?$/i.test((await Promise.race([lines.question('Start the runs? [y/N] ', { signal }), end])).trim())
  } finally {
    lines.close()
  }
}

function onSecondSignal(callback: () => void): void {
  setTimeout(() => {
    for (const name of SIGNALS) process.once(name, callback)
  }, SECOND_SIGNAL_MS).unref()
}

export function effectsOf(target: Invocation['target'], say: Effects['say']): Effects {
  return {
    send: createSend(target),
    // This clock never goes back, unlike the machine's clock.
    nowMs: () => performance.timeOrigin + performance.now(),
    sleep: (ms, signal) => delay(ms, undefined, { signal }),
    say,
  }
}
