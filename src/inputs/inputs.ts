import { resolve } from 'node:path'
import { setSecret } from '@actions/core'
import type { StepSettings } from '../action/step.ts'
import type { CommentSettings } from '../github/comment.ts'
import type { WorkflowEvent } from '../github/event.ts'
import { isInAllowedFolder } from '../github/report-files.ts'
import type { Job, StepSubject, When } from '../model/outcome.ts'
import { isUsableRunId, RUN_ID_RULE, type StartParameters, type Target } from '../model/run.ts'
import { parseJson } from '../text/json.ts'
import { isInside } from '../text/path.ts'
import { type Fragment, fragment } from '../text/safe-text.ts'
import { resultsFile } from './baseline.ts'
import { readBranch } from './branch.ts'
import { readEnvOverrides } from './env-overrides.ts'
import { InputReader } from './input-reader.ts'
import { readRunUrl } from './run-url.ts'
import { isForkWithoutSecrets, readServiceAddress } from './service-address.ts'

export type Inputs = ReturnType<typeof readInputs>

const WHEN: Readonly<Record<string, When>> = {
  always: 'always',
  'on-failure': 'on-failure',
  never: 'never',
  true: 'always',
  false: 'never',
}
const ANNOTATIONS = { true: true, false: false, always: true, never: false }
const MINUTES = { most: 35_000, unitMs: 60_000 }
const SECONDS = { least: 0.05, most: 3_600, unitMs: 1_000 }

/** Reads and checks all inputs but the baseline's file, and masks the GitHub token in the log. Throws an InvalidInputsError with all problems. */
export function readInputs(env: NodeJS.ProcessEnv, event: WorkflowEvent, job?: Job) {
  const inputs = new InputReader(env)
  const service = readServiceAddress(inputs, env, event)
  const runId = readRunId(inputs)
  const ownsRun = runId === undefined
  const parameters = readStartParameters(inputs, service?.target)
  // With run-id, the run's branch is not known. A fork without secrets has its own message, which is enough.
  const branch = ownsRun && !isForkWithoutSecrets(inputs, event) ? readBranch(inputs, event) : {}
  const wait = inputs.boolean('wait', true)
  if (!wait && !ownsRun) {
    inputs.problem(
      fragment`Inputs wait ("false") and run-id ("${runId}") cannot be combined. To wait for this run, remove wait. To start another run, remove run-id.`,
    )
  }
  const comment: CommentSettings = {
    when: inputs.choice('comment', WHEN, 'never'),
    key: inputs.text('comment-key'),
    matrix: inputs.text('matrix'),
  }
  const githubToken = readGithubToken(inputs, comment)
  const settings: Omit<StepSettings, 'subject'> = {
    runId,
    wait,
    waitLimitMs: inputs.durationMs('timeout-minutes', MINUTES, 3_600_000),
    pollIntervalMs: inputs.durationMs('poll-interval-seconds', SECONDS, undefined),
    cancelOnAbort: inputs.boolean('cancel-on-abort', ownsRun),
    passWithNoTests: inputs.boolean('pass-with-no-tests', false),
    strict: inputs.boolean('strict', false),
    showOutput: inputs.boolean('show-output', true),
    runUrlOf: readRunUrl(inputs, service?.target),
    reports: {
      summary: inputs.choice('summary', WHEN, 'always'),
      annotations: inputs.choice('annotations', ANNOTATIONS, true),
    },
  }
  const reportDir = readReportDir(inputs, env)
  const baselinePath = readBaselinePath(inputs, env)
  // With run-id, the inputs of the start have no effect, and other warnings about them would not help.
  const warnings = ownsRun ? inputs.warnings : warningsOfStartInputs(inputs)
  const address = inputs.orThrow(service)
  const subject: StepSubject = {
    target: address.target,
    ownsRun,
    parameters: ownsRun ? { ...parameters, branch: branch.name } : {},
    job,
    labels: [comment.key, matrixValues(comment.matrix)].filter((part) => part !== ''),
  }
  return {
    address,
    settings,
    subject,
    branchInfo: branch.info,
    reportDir,
    baselinePath,
    comment,
    githubToken,
    warnings,
  }
}

function readGithubToken(inputs: InputReader, { when }: CommentSettings): string {
  const token = inputs.text('github-token')
  if (token !== '') setSecret(token)
  else if (when !== 'never') {
    inputs.problem(
      fragment`Input github-token is empty, but comment ("${inputs.text('comment')}") needs a token. Add \`github-token: \${{ github.token }}\` to the inputs of this step, and \`pull-requests: write\` to the permissions of the job. If you want no comment, remove the input comment.`,
    )
  }
  return token
}

export function wantsSummaryOfProblems(env: NodeJS.ProcessEnv): boolean {
  return new InputReader(env).choice('summary', WHEN, 'always') !== 'never'
}

function readRunId(inputs: InputReader): string | undefined {
  const given = inputs.text('run-id')
  if (given !== '' && !isUsableRunId(given)) {
    inputs.problem(
      fragment`Input run-id: "${given}" cannot be a run's id. Give the output run-id of the step that started the run. An id has ${RUN_ID_RULE}.`,
    )
  }
  return given || undefined
}

const START_INPUTS = ['branch', 'environment', 'framework-project', 'env-overrides', 'autofix']
const NOT_FOR_TEST_SUITES = ['framework-project', 'autofix']

function readStartParameters(inputs: InputReader, target: Target | undefined): StartParameters {
  for (const name of target?.kind === 'test-suite' ? NOT_FOR_TEST_SUITES : []) {
    const given = inputs.text(name)
    if (given === '') continue
    inputs.problem(
      fragment`Input ${name}: "${given}" cannot be combined with test-suite, because a test suite has no such setting. Leave the input ${name} empty, or give project instead of test-suite.`,
    )
  }
  return {
    environment: inputs.text('environment') || undefined,
    frameworkProject: readFrameworkProject(inputs),
    envOverrides: readEnvOverrides(inputs),
    autofix: inputs.boolean('autofix', undefined),
  }
}

/**
 * White space may mean something to the test framework, so it stays. The line break at the end of a YAML block goes.
 */
function readFrameworkProject(inputs: InputReader): string | undefined {
  const given = inputs.textAsWritten('framework-project').replace(/\r?\n$/, '')
  return given.trim() === '' ? undefined : given
}

function warningsOfStartInputs(inputs: InputReader): Fragment[] {
  return START_INPUTS.filter((name) => inputs.text(name) !== '').map(
    (name) => fragment`Input ${name} has no effect with run-id, because this step does not start the run.`,
  )
}

/** The values of the matrix, as GitHub shows them in a job's name, for example `ubuntu-latest, 20`. */
function matrixValues(matrix: string): string {
  return scalarsIn(parseJson(matrix)).join(', ')
}

function scalarsIn(value: unknown): readonly string[] {
  if (value === undefined || value === null) return []
  return typeof value === 'object' ? Object.values(value).flatMap(scalarsIn) : [String(value)]
}

function readReportDir(inputs: InputReader, env: NodeJS.ProcessEnv): string | undefined {
  return readPath(inputs, env, 'report-dir', fragment`test-reports`)
}

/** A link out of the allowed folders is a problem here, because the file is read before any run is started. */
function readBaselinePath(inputs: InputReader, env: NodeJS.ProcessEnv): string | undefined {
  const path = readPath(inputs, env, 'baseline', fragment`baseline/results.json`)
  if (path === undefined) return undefined
  const file = resultsFile(path)
  if (isInAllowedFolder(file, env)) return file
  return inputs.problem(
    fragment`Input baseline: "${inputs.text('baseline')}" leads through a link out of the workspace and the runner's temporary folder. Give a path without this link.`,
  )
}

function readPath(inputs: InputReader, env: NodeJS.ProcessEnv, name: string, example: Fragment): string | undefined {
  const given = inputs.text(name)
  if (given === '') return undefined
  const [workspace, temp] = [resolve(env.GITHUB_WORKSPACE || '.'), resolve(env.RUNNER_TEMP || '.')]
  const path = resolve(workspace, given)
  if (isInside(path, workspace) || isInside(path, temp)) return path
  return inputs.problem(
    fragment`Input ${name}: "${given}" is outside the workspace and the runner's temporary folder. Give a path relative to the workspace, such as ${example}. In a job with a container, the expressions github.workspace and runner.temp are paths of the host.`,
  )
}
