import { isAbsolute, relative, resolve } from 'node:path'
import { setSecret } from '@actions/core'
import type { StepRequest } from '../action/run-action.ts'
import type { StartParameters, Target } from '../outcome/run.ts'
import { isUsableRunId } from '../service/test-service.ts'
import { isSecure, type LogLine, logLine } from '../text/safe-text.ts'
import { BRANCH_OF_EVENT, type BranchInput, readBranch } from './branch.ts'
import { readEnvOverrides } from './env-overrides.ts'
import { type Environment, jobUrl, type WorkflowEvent, whyNoSecrets } from './event.ts'
import { InputReader } from './input-reader.ts'

/** Everything that the user gave the step, once, in the types that the rest of the action works with. */
export interface Inputs {
  readonly baseUrl: URL
  readonly apiKey: string
  /** All of it but the branch. */
  readonly request: StepRequest
  readonly branch: BranchInput
  /** Absolute; absent: the default, which has the run's id in its name. */
  readonly reportDir?: string | undefined
  readonly comment: CommentSettings
  readonly githubToken: string
  /** To be warned of: inputs that were given and have no effect here. */
  readonly notes: readonly LogLine[]
}

export type When = 'always' | 'on-failure' | 'never'

export interface CommentSettings {
  readonly when: When
  readonly key: string
  /** JSON of the job's matrix context, as given. */
  readonly matrix: string
}

/** What post needs to know: where the service is and how to ask it. */
export type ServiceInputs = Pick<Inputs, 'baseUrl' | 'apiKey'> & { readonly target: Target }

const WHEN: Readonly<Record<string, When>> = {
  always: 'always',
  'on-failure': 'on-failure',
  never: 'never',
  true: 'always',
  false: 'never',
}
const ANNOTATIONS = { true: true, false: false, always: true, never: false }
const MINUTES = { above: 0, most: 35_000 }
const SECONDS = { least: 0.05, most: 3_600 }

/**
 * Reads and checks all inputs. Masks the secrets before anything else.
 *
 * @throws InvalidInputsError with every problem, not only the first
 */
export function readInputs(env: Environment, event: WorkflowEvent): Inputs {
  const inputs = new InputReader(env)
  const service = readService(inputs, event)
  const githubToken = inputs.text('github-token')
  if (githubToken !== '') setSecret(githubToken)

  const runId = readRunId(inputs)
  const ownsRun = runId === undefined
  const parameters = readStartParameters(inputs, service?.target)
  const branch: BranchInput =
    ownsRun && !isForkWithoutSecrets(inputs, event) ? readBranch(inputs, event) : { kind: 'known' }
  const wait = inputs.boolean('wait', true)
  if (!wait && !ownsRun) {
    inputs.problem(
      logLine`Inputs wait ("false") and run-id ("${runId}") cannot be combined. Remove wait to wait for this run, or run-id to start another.`,
    )
  }
  const timeoutMinutes = inputs.number('timeout-minutes', MINUTES, 60)
  const queueMinutes = inputs.number('queue-timeout-minutes', MINUTES, undefined)
  const intervalSeconds = inputs.number('poll-interval-seconds', SECONDS, undefined)
  const cancelOnAbort = inputs.boolean('cancel-on-abort', ownsRun)
  const passWithNoTests = inputs.boolean('pass-with-no-tests', false)
  const summary = inputs.choice('summary', WHEN, 'always')
  const annotations = inputs.choice('annotations', ANNOTATIONS, true)
  const runUrl = readRunUrl(inputs, service?.target)
  const comment = {
    when: inputs.choice('comment', WHEN, 'never'),
    key: inputs.text('comment-key'),
    matrix: inputs.text('matrix'),
  }
  const reportDir = readReportDir(inputs, env)
  const url = jobUrl(env)

  const { baseUrl, apiKey, target } = inputs.orThrow(service)
  return {
    baseUrl,
    apiKey,
    request: {
      target,
      parameters,
      runId,
      wait,
      waitLimitMs: timeoutMinutes * 60_000,
      queueLimitMs: queueMinutes === undefined ? undefined : queueMinutes * 60_000,
      pollIntervalMs: intervalSeconds === undefined ? undefined : intervalSeconds * 1_000,
      cancelOnAbort,
      passWithNoTests,
      runUrl,
      variant: [comment.key, matrixValues(comment.matrix)].filter((part) => part !== ''),
      job: url === undefined ? undefined : { name: env.GITHUB_JOB ?? '', url },
      reports: { summary, annotations },
    },
    branch,
    reportDir,
    comment,
    githubToken,
    notes: ownsRun ? [] : startInputsWithoutEffect(inputs),
  }
}

/** The inputs that post needs. Throws InvalidInputsError like `readInputs`. */
export function readServiceInputs(env: Environment, event: WorkflowEvent): ServiceInputs {
  const inputs = new InputReader(env)
  return inputs.orThrow(readService(inputs, event))
}

/** Whether invalid inputs are reported in the summary too. They fail the step, so `on-failure` says yes. */
export function wantsSummaryOfProblems(env: Environment): boolean {
  return new InputReader(env).choice('summary', WHEN, 'always') !== 'never'
}

function readService(inputs: InputReader, event: WorkflowEvent): ServiceInputs | undefined {
  const apiKey = readApiKey(inputs, event)
  // A fork gets no variables either: what is empty for that reason is no problem of its own.
  const isExcused = isForkWithoutSecrets(inputs, event)
  const baseUrl = readBaseUrl(inputs, isExcused)
  const target = readTarget(inputs, isExcused)
  return apiKey === undefined || baseUrl === undefined || target === undefined ? undefined : { apiKey, baseUrl, target }
}

function isForkWithoutSecrets(inputs: InputReader, event: WorkflowEvent): boolean {
  return inputs.text('api-key') === '' && whyNoSecrets(event) === 'fork'
}

const SKIPPED_PASSES = logLine`A skipped job counts as passed, so a required check then passes although nothing was tested.`

function readApiKey(inputs: InputReader, event: WorkflowEvent): string | undefined {
  const key = inputs.text('api-key')
  if (key !== '') {
    setSecret(key)
    if (/^[\x21-\x7e]+$/.test(key)) return key
    return inputs.problem(
      logLine`Input api-key contains whitespace or non-ASCII characters, so it cannot be sent as a Bearer token (it is not shown). Copy the key again, in one line.`,
    )
  }
  // The author of a pull request: a re-run changes the actor.
  const author = event.payload.pull_request === undefined ? 'github.actor' : 'github.event.pull_request.user.login'
  switch (whyNoSecrets(event)) {
    case 'fork':
      return inputs.problem(
        logLine`Input api-key is empty: this workflow runs for a pull request from a fork, and GitHub gives such workflows no secrets and no variables. Have a maintainer push the branch to this repository, or skip the step with if: github.event_name != '${event.name}' || github.event.pull_request.head.repo.full_name == github.repository. ${SKIPPED_PASSES}`,
      )
    case 'dependabot':
      return inputs.problem(
        logLine`Input api-key is empty: this workflow runs for Dependabot, and GitHub gives such workflows no Actions secrets. Add the key under the same name to the repository's Dependabot secrets, or skip the step with if: github.event_name != '${event.name}' || ${author} != 'dependabot[bot]'. ${SKIPPED_PASSES}`,
      )
    case undefined:
      return inputs.problem(
        logLine`Input api-key is empty. Create a key in the team API keys setting of your organisation at the service, store it as a secret of this repository, and pass it on: api-key: \${{ secrets.NAME }}.`,
      )
  }
}

function readBaseUrl(inputs: InputReader, mayBeEmpty: boolean): URL | undefined {
  const given = inputs.text('base-url')
  const accepted = logLine`Give the address of the service, such as https://tests.example.com.`
  if (given === '') return mayBeEmpty ? undefined : inputs.problem(logLine`Input base-url is empty. ${accepted}`)
  const shown = withoutSecrets(given)
  const url = parseUrl(given)
  if (url === undefined) {
    return inputs.problem(logLine`Input base-url: "${shown}" is not an absolute address. ${accepted}`)
  }
  if (hasCredentials(given, url)) {
    return inputs.problem(
      logLine`Input base-url: "${shown}" has credentials in it. Remove them; the key goes into api-key.`,
    )
  }
  if (/[?#]/.test(given)) {
    return inputs.problem(logLine`Input base-url: "${shown}" has a query or a fragment. Give the address without it.`)
  }
  if (isSecure(url)) return url
  return inputs.problem(
    logLine`Input base-url: "${shown}" is not accepted. The key may travel over https: only (http: only to this machine, such as http://127.0.0.1:8080).`,
  )
}

/** An address for a message: credentials, and tokens in a query, must not be shown. */
function withoutSecrets(address: string): string {
  const at = address.lastIndexOf('@')
  const scheme = /^https?:\/*/i.exec(address.slice(0, at))?.[0] ?? ''
  const shown = at === -1 ? address : `${scheme}***${address.slice(at)}`
  const query = shown.search(/[?#]/)
  return query === -1 ? shown : `${shown.slice(0, query + 1)}***`
}

function parseUrl(given: string): URL | undefined {
  return /[\s\p{Cc}\\]/u.test(given) ? undefined : (URL.parse(given) ?? undefined)
}

/** An empty user name shows in the text alone, one without slashes before it in the parsed address alone. */
function hasCredentials(given: string, { username, password }: URL): boolean {
  return /\/\/[^/?#]*@/.test(given) || username !== '' || password !== ''
}

function readTarget(inputs: InputReader, mayBeEmpty: boolean): Target | undefined {
  const projectId = inputs.text('project')
  const testSuiteId = inputs.text('test-suite')
  if (projectId !== '' && testSuiteId !== '') {
    return inputs.problem(
      logLine`Inputs project ("${projectId}") and test-suite ("${testSuiteId}") are both given. Give exactly one of them.`,
    )
  }
  if (projectId === '' && testSuiteId === '') {
    return mayBeEmpty
      ? undefined
      : inputs.problem(
          logLine`Inputs project and test-suite are both empty. Give exactly one of them: project is the id of the project whose tests to run.`,
        )
  }
  const [name, id] = projectId === '' ? ['test-suite', testSuiteId] : ['project', projectId]
  if (id === '.' || id === '..' || !id.isWellFormed()) {
    return inputs.problem(
      logLine`Input ${name}: "${id}" cannot be an id, because it would change the address of the request. Give the id as the service shows it.`,
    )
  }
  return projectId === '' ? { kind: 'test-suite', testSuiteId } : { kind: 'project', projectId }
}

function readRunId(inputs: InputReader): string | undefined {
  const given = inputs.text('run-id')
  if (given !== '' && !isUsableRunId(given)) {
    inputs.problem(
      logLine`Input run-id: "${given}" cannot be a run's id. Give 1 to 256 letters, digits and . _ ~ : = + / @ -, as the output run-id of the step that started the run has it.`,
    )
  }
  return given || undefined
}

const START_INPUTS = ['branch', 'environment', 'framework-project', 'run-group', 'env-overrides', 'autofix']
const NOT_FOR_TEST_SUITES = ['framework-project', 'run-group', 'autofix']

/** All that a start sends but the branch. */
function readStartParameters(inputs: InputReader, target: Target | undefined): StartParameters {
  for (const name of target?.kind === 'test-suite' ? NOT_FOR_TEST_SUITES : []) {
    const given = inputs.text(name)
    if (given === '') continue
    inputs.problem(
      logLine`Input ${name}: "${given}" cannot be combined with test-suite, whose workflow has no such setting. Leave it empty, or give project instead of test-suite.`,
    )
  }
  return {
    environment: inputs.text('environment') || undefined,
    frameworkProject: readFrameworkProject(inputs),
    runGroup: inputs.text('run-group') || undefined,
    envOverrides: readEnvOverrides(inputs),
    autofix: inputs.boolean('autofix', undefined),
  }
}

/** White space included, which may mean something to the test framework; the line break that ends a YAML block does not. */
function readFrameworkProject(inputs: InputReader): string | undefined {
  const name = 'framework-project'
  if (inputs.text(name) === '') return undefined
  let given = inputs.textAsWritten(name)
  while (given.endsWith('\n') || given.endsWith('\r')) given = given.slice(0, -1)
  return given
}

function startInputsWithoutEffect(inputs: InputReader): LogLine[] {
  return START_INPUTS.filter((name) => !['', BRANCH_OF_EVENT].includes(inputs.text(name))).map(
    (name) => logLine`Input ${name} has no effect with run-id, because this step does not start the run.`,
  )
}

const RUN_URL_EXAMPLE = logLine`Give one such as https://app.example.com/p/{project}/runs/{run-id}.`

/** The address of a run's page, made of the template that the user gives. */
function readRunUrl(inputs: InputReader, target: Target | undefined): ((runId: string) => string) | undefined {
  const template = inputs.text('run-url')
  if (template === '') return undefined
  const problem = (what: LogLine) =>
    inputs.problem(logLine`Input run-url: "${withoutSecrets(template)}" ${what} ${RUN_URL_EXAMPLE}`)

  const values = new Map([
    ['project', target?.kind === 'project' ? target.projectId : undefined],
    ['test-suite', target?.kind === 'test-suite' ? target.testSuiteId : undefined],
  ])
  const names = [...template.matchAll(/\{([^{}]*)\}/g)].map(([, name = '']) => name)
  const unknown = names.find((name) => name !== 'run-id' && !values.has(name))
  if (unknown !== undefined) {
    return problem(logLine`has the unknown placeholder {${unknown}}. Known are {project}, {test-suite} and {run-id}.`)
  }
  const missing = names.find((name) => values.has(name) && values.get(name) === undefined)
  if (missing !== undefined && target !== undefined) {
    return problem(logLine`has the placeholder {${missing}}, but the input ${missing} is empty.`)
  }
  const fill = (runId: string) =>
    template.replace(/\{([^{}]*)\}/g, (_, name) => encodeURIComponent(values.get(name) ?? runId))
  const url = parseUrl(fill('x'))
  if (url === undefined || !/^[a-z]+:\/\/[^/?#{}]+(?:[/?#]|$)/i.test(template) || /[{}]/.test(fill('x'))) {
    return problem(logLine`is not an absolute address with placeholders in its path or after it.`)
  }
  if (hasCredentials(template, url)) return problem(logLine`has credentials in it. Remove them.`)
  if (isSecure(url)) return fill
  return problem(logLine`is not accepted: the address must begin with https: (http: only for this machine).`)
}

/** What tells the jobs of a matrix apart, as GitHub names them: `ubuntu-latest, 20`. */
function matrixValues(matrix: string): string {
  try {
    return scalarsIn(JSON.parse(matrix)).join(', ')
  } catch {
    return ''
  }
}

function scalarsIn(value: unknown): readonly string[] {
  if (value === undefined || value === null) return []
  return typeof value === 'object' ? Object.values(value).flatMap(scalarsIn) : [String(value)]
}

function readReportDir(inputs: InputReader, env: Environment): string | undefined {
  const given = inputs.text('report-dir')
  if (given === '') return undefined
  const workspace = resolve(env.GITHUB_WORKSPACE || '.')
  const folder = resolve(workspace, given)
  const allowed = [workspace, ...(env.RUNNER_TEMP ? [resolve(env.RUNNER_TEMP)] : [])]
  if (allowed.some((root) => isInside(root, folder))) return folder
  return inputs.problem(
    logLine`Input report-dir: "${given}" is outside the workspace and the runner's temporary folder. Give a folder inside one of them, such as test-reports.`,
  )
}

/** Whether `path` is `root` or below it, by their names; links are looked at when the files are written. */
export function isInside(root: string, path: string): boolean {
  const way = relative(root, path)
  return way === '' || (!/^\.\.([/\\]|$)/.test(way) && !isAbsolute(way))
}
