import { isAbsolute, relative, resolve } from 'node:path'
import { getInput, setSecret } from '@actions/core'
import type { StepRequest } from '../action/run-action.ts'
import type { StartParameters, Target } from '../outcome/run.ts'
import { type LogLine, logLine, render } from '../report/safe-text.ts'
import { isUsableRunId } from '../service/test-service.ts'
import { parseEnvOverrides } from './env-overrides.ts'
import { type EventPayload, forkBranch, whyNoSecrets } from './event.ts'

/** What holds where an input is empty: an unset `${{ vars.X }}` is, and beats the default in action.yml. */
export const DEFAULTS = {
  wait: 'true',
  'timeout-minutes': '60',
  'pass-with-no-tests': 'false',
  summary: 'always',
  annotations: 'true',
  comment: 'never',
} as const

/** Everything that the user told the step, once, in the types that the rest of the action works with. */
export interface Inputs {
  readonly baseUrl: URL
  readonly apiKey: string
  readonly request: StepRequest
  /** Absolute; absent: the default, which has the run's id in its name. */
  readonly reportDir?: string
  readonly comment: CommentSettings
  /** Inputs that were given and have no effect here. */
  readonly ignored: readonly string[]
}

export interface CommentSettings {
  readonly when: 'never' | 'on-failure' | 'always'
  readonly key: string
  /** JSON of the job's matrix context, as given. */
  readonly matrix: string
  readonly token: string
}

type Environment = Readonly<Record<string, string | undefined>>

/** All that is wrong with the inputs, one sentence each. */
export class InvalidInputsError extends Error {
  override readonly name = 'InvalidInputsError'
  readonly messages: readonly LogLine[]

  constructor(messages: readonly LogLine[]) {
    super(messages.map(render).join(' '))
    this.messages = messages
  }
}

/** What post needs to know: where the service is and how to ask it. */
export type ServiceInputs = Pick<Inputs, 'baseUrl'> & { readonly apiKey: string; readonly target: Target }

/**
 * Reads and checks all inputs. Masks the secrets before anything else.
 *
 * @throws InvalidInputsError with every wrong input, not only the first
 */
export function readInputs(env: Environment, event: EventPayload): Inputs {
  const { read, wrong } = reader()
  const service = readService(read, wrong, env, event)
  const token = getInput('github-token')
  if (token !== '') setSecret(token)

  const runId = read('run-id')
  if (runId !== '' && !isUsableRunId(runId)) {
    wrong(
      logLine`Input run-id: "${runId}" cannot be a run's id. Give 1 to 256 letters, digits and . _ ~ : = + / @ -, as the output run-id of the step that started the run has it.`,
    )
  }
  const parameters = readOrder(read, wrong, service?.target)
  if (runId === '') refuseForkBranch(parameters.branch, env, event, wrong)
  const wait = readBoolean('wait', read, wrong) ?? true
  if (!wait && runId !== '') wrong(logLine`Input wait: "false" does not go with run-id. Leave one of them empty.`)
  const cancelOnAbort = readBoolean('cancel-on-abort', read, wrong)
  const minutes = readNumber('timeout-minutes', { above: 0, most: 35_000 }, read, wrong)
  const intervalSeconds = readNumber('poll-interval-seconds', { least: 0.05, most: 3_600 }, read, wrong)
  const passWithNoTests = readBoolean('pass-with-no-tests', read, wrong) ?? false
  const annotations = readBoolean('annotations', read, wrong) ?? true
  const summary = readChoice('summary', ['always', 'on-failure', 'never'], read, wrong)
  const when = readChoice('comment', ['never', 'on-failure', 'always'], read, wrong)
  const reportDir = readReportDir(read, wrong, env)

  wrong.throwIfAny()
  if (service === undefined || minutes === undefined || summary === undefined || when === undefined) {
    throw new Error('an input is wrong and no sentence says so')
  }
  return {
    baseUrl: service.baseUrl,
    apiKey: service.apiKey,
    request: {
      target: service.target,
      parameters,
      ...(runId === '' ? {} : { runId }),
      wait,
      waitLimitMs: minutes * 60_000,
      ...(intervalSeconds === undefined ? {} : { pollIntervalMs: intervalSeconds * 1_000 }),
      cancelOnAbort: cancelOnAbort ?? runId === '',
      passWithNoTests,
      reports: { summary, annotations },
      variant: [read('comment-key')].filter((text) => text !== ''),
    },
    ...(reportDir === undefined ? {} : { reportDir }),
    comment: { when, key: read('comment-key'), matrix: read('matrix'), token },
    ignored: runId === '' ? [] : ORDER_INPUTS.filter((name) => name !== 'branch' && read(name) !== ''),
  }
}

/** The inputs that post needs. Throws InvalidInputsError like `readInputs`. */
export function readServiceInputs(env: Environment, event: EventPayload): ServiceInputs {
  const { read, wrong } = reader()
  const service = readService(read, wrong, env, event)
  wrong.throwIfAny()
  if (service === undefined) throw new Error('an input is wrong and no sentence says so')
  return service
}

type Read = (name: string) => string
type Wrong = ((sentence: LogLine) => undefined) & { throwIfAny(): void }

function reader(): { read: Read; wrong: Wrong } {
  const sentences: LogLine[] = []
  const throwIfAny = () => {
    if (sentences.length > 0) throw new InvalidInputsError(sentences)
  }
  const wrong = (sentence: LogLine) => {
    sentences.push(sentence)
    return undefined
  }
  return { read: (name) => getInput(name), wrong: Object.assign(wrong, { throwIfAny }) }
}

function readService(read: Read, wrong: Wrong, env: Environment, event: EventPayload): ServiceInputs | undefined {
  const apiKey = readApiKey(wrong, env, event)
  const baseUrl = readBaseUrl(read, wrong)
  const target = readTarget(read, wrong)
  return apiKey === undefined || baseUrl === undefined || target === undefined ? undefined : { apiKey, baseUrl, target }
}

function readApiKey(wrong: Wrong, env: Environment, event: EventPayload): string | undefined {
  const given = getInput('api-key', { trimWhitespace: false })
  const key = given.trim()
  if (key !== '') {
    setSecret(key)
    if (/^[\x21-\x7e]+$/.test(key)) return key
    return wrong(
      logLine`Input api-key: the value has a blank, a line break or a character outside ASCII in it, so it cannot be sent as a Bearer token. Copy the key again, in one line.`,
    )
  }
  switch (whyNoSecrets(env, event)) {
    case 'fork':
      return wrong(
        logLine`Input api-key is empty: this workflow runs for a pull request from a fork, and GitHub gives such workflows no secrets. Skip this step for forks, for example with if: github.event.pull_request.head.repo.full_name == github.repository, or have a maintainer push the branch to this repository.`,
      )
    case 'dependabot':
      return wrong(
        logLine`Input api-key is empty: this workflow runs for Dependabot, and GitHub gives such workflows no Actions secrets. Add the key under the same name to the repository's Dependabot secrets, or skip this step with if: github.event.pull_request.user.login != 'dependabot[bot]'.`,
      )
    case undefined:
      return wrong(
        logLine`Input api-key is empty. Create a key in the team API keys setting of your organisation at the service, store it as a secret of this repository, and pass it on: api-key: \${{ secrets.NAME }}.`,
      )
  }
}

function readBaseUrl(read: Read, wrong: Wrong): URL | undefined {
  const given = read('base-url')
  const accepted = 'Give the address of the service, such as https://tests.example.com.'
  if (given === '') return wrong(logLine`Input base-url is empty. ${accepted}`)
  // Credentials, and tokens in a query, must not be shown.
  const shown = given.replace(/^(https?:\/*)?.*@/is, '$1***@').replace(/([?#]).*$/s, '$1***')
  const url = URL.canParse(given) && !/[\s\p{Cc}\\]/u.test(given) ? new URL(given) : undefined
  if (url === undefined) return wrong(logLine`Input base-url: "${shown}" is not an absolute address. ${accepted}`)
  // An empty user name shows in the text alone, one without slashes before it in the parsed address alone.
  if (/\/\/[^/?#]*@/.test(given) || url.username !== '' || url.password !== '') {
    return wrong(logLine`Input base-url: "${shown}" has credentials in it. Remove them; the key goes into api-key.`)
  }
  if (/[?#]/.test(given)) {
    return wrong(logLine`Input base-url: "${shown}" has a query or a fragment. Give the address without it.`)
  }
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback(url.hostname))) {
    return wrong(
      logLine`Input base-url: "${shown}" is not accepted. The key may travel over https: only (http: only to this machine, such as http://127.0.0.1:8080).`,
    )
  }
  return url
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname)
}

function readTarget(read: Read, wrong: Wrong): Target | undefined {
  const projectId = read('project')
  const testSuiteId = read('test-suite')
  if (projectId !== '' && testSuiteId !== '') {
    return wrong(
      logLine`Inputs project ("${projectId}") and test-suite ("${testSuiteId}") are both given. Give exactly one of them.`,
    )
  }
  if (projectId === '' && testSuiteId === '') {
    return wrong(
      logLine`Inputs project and test-suite are both empty. Give exactly one of them: project is the id of the project whose tests to run.`,
    )
  }
  const [name, id] = projectId === '' ? ['test-suite', testSuiteId] : ['project', projectId]
  if (id === '.' || id === '..' || !id.isWellFormed()) {
    return wrong(
      logLine`Input ${name}: "${id}" cannot be an id, since it would change the address of the request. Give the id as the service shows it.`,
    )
  }
  return projectId === '' ? { kind: 'test-suite', testSuiteId } : { kind: 'project', projectId }
}

const ORDER_INPUTS = ['branch', 'environment', 'framework-project', 'run-group', 'env-overrides', 'autofix'] as const

function readOrder(read: Read, wrong: Wrong, target: Target | undefined): StartParameters {
  const [branch, environment, , runGroup] = ORDER_INPUTS.map(read) as [string, string, string, string]
  const frameworkProject = readAsWritten('framework-project')
  const autofix = readBoolean('autofix', read, wrong)
  const envOverrides = parseEnvOverrides(read('env-overrides'), wrong)
  const branchCharacters = [...branch].length
  if (branchCharacters > 255) {
    wrong(logLine`Input branch: "${branch}" has ${branchCharacters} characters. The service takes 1 to 255.`)
  }
  if (target?.kind === 'test-suite') {
    for (const name of ['framework-project', 'run-group', 'autofix']) {
      if (read(name) !== '') {
        wrong(
          logLine`Input ${name}: "${read(name)}" does not go with test-suite, whose workflow has no such setting. Leave it empty, or give project instead of test-suite.`,
        )
      }
    }
  }
  return {
    ...(branch === '' ? {} : { branch }),
    ...(environment === '' ? {} : { environment }),
    ...(frameworkProject === '' ? {} : { frameworkProject }),
    ...(runGroup === '' ? {} : { runGroup }),
    ...(envOverrides === undefined ? {} : { envOverrides }),
    ...(autofix === undefined ? {} : { autofix }),
  }
}

function refuseForkBranch(branch: string | undefined, env: Environment, event: EventPayload, wrong: Wrong): void {
  if (branch === undefined || branch.replace(/^refs\/heads\//, '') !== forkBranch(env, event)) return
  wrong(
    logLine`Input branch: "${branch}" is a branch of a fork. The service would look for a branch of that name in its own repository and test the wrong code. Skip this step for forks, or give another branch.`,
  )
}

function readBoolean(name: string, read: Read, wrong: Wrong): boolean | undefined {
  const given = read(name) || DEFAULTS[name as keyof typeof DEFAULTS] || ''
  if (given === '') return undefined
  if (/^true$/i.test(given)) return true
  if (/^false$/i.test(given)) return false
  return wrong(logLine`Input ${name}: "${given}" is neither true nor false.`)
}

/** Blanks included, which may mean something to the test framework; the line break that ends a YAML block does not. */
function readAsWritten(name: string): string {
  const given = getInput(name, { trimWhitespace: false }).replace(/[\r\n]+$/, '')
  return given.trim() === '' ? '' : given
}

interface Range {
  readonly above?: number
  readonly least?: number
  readonly most: number
}

function readNumber(name: string, range: Range, read: Read, wrong: Wrong): number | undefined {
  const given = read(name) || DEFAULTS[name as keyof typeof DEFAULTS] || ''
  if (given === '') return undefined
  const value = /^(\d+\.?\d*|\.\d+)$/.test(given) ? Number(given) : Number.NaN
  if (value > (range.above ?? -1) && value >= (range.least ?? 0) && value <= range.most) return value
  const from = range.least === undefined ? `above ${range.above ?? 0}` : `from ${range.least}`
  return wrong(
    logLine`Input ${name}: "${given}" is not accepted. Give a number ${from} up to ${range.most}, such as 1 or 0.5.`,
  )
}

function readChoice<const Choice extends string>(
  name: string,
  choices: readonly Choice[],
  read: Read,
  wrong: Wrong,
): Choice | undefined {
  const given = read(name) || DEFAULTS[name as keyof typeof DEFAULTS]
  const choice = choices.find((one) => one === given)
  return choice ?? wrong(logLine`Input ${name}: "${given}" is not accepted. Give one of ${choices.join(', ')}.`)
}

function readReportDir(read: Read, wrong: Wrong, env: Environment): string | undefined {
  const given = read('report-dir')
  if (given === '') return undefined
  const workspace = resolve(env.GITHUB_WORKSPACE || '.')
  const folder = resolve(workspace, given)
  const allowed = [workspace, ...(env.RUNNER_TEMP ? [resolve(env.RUNNER_TEMP)] : [])]
  if (allowed.some((root) => isInside(root, folder))) return folder
  return wrong(
    logLine`Input report-dir: "${given}" is outside the workspace and the runner's temporary folder. Give a folder inside one of them, such as test-reports.`,
  )
}

/** Whether `path` is `root` or below it, by their names; links are looked at when the files are written. */
export function isInside(root: string, path: string): boolean {
  const way = relative(root, path)
  return way === '' || (!/^\.\.([/\\]|$)/.test(way) && !isAbsolute(way))
}
