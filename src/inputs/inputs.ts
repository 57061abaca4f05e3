import { resolve } from 'node:path'
import { setSecret } from '@actions/core'
import type { StepSettings } from '../action/step.ts'
import type { CommentSettings } from '../github/comment.ts'
import type { WorkflowEvent } from '../github/event.ts'
import { sourceUrl } from '../github/job.ts'
import { isCommitUnknown } from '../input-variable.ts'
import type { Job, StepSubject } from '../model/outcome.ts'
import { isCommit, isUsableRunId, RUN_ID_RULE, type StartParameters } from '../model/run.ts'
import type { ServiceAddress } from '../service/client.ts'
import { parseJson } from '../text/json.ts'
import { fragment } from '../text/safe-text.ts'
import { readBranch } from './branch.ts'
import { readEnvOverrides } from './env-overrides.ts'
import { InputReader } from './input-reader.ts'
import { readRunUrl } from './run-url.ts'
import { readServiceAddress } from './service-address.ts'

const WHEN = ['always', 'on-failure', 'never'] as const

export interface Inputs {
  readonly address: ServiceAddress
  readonly settings: Omit<StepSettings, 'subject'>
  readonly subject: StepSubject
  readonly comment: CommentSettings
  /** An absolute path. Undefined if the input is empty. */
  readonly reportDir: string | undefined
  /** An absolute path. Undefined if the input is empty. */
  readonly baselinePath: string | undefined
}

/** Reads and checks all inputs, and masks the GitHub token in the log. Throws an InvalidInputsError with all problems. */
export function readInputs(env: NodeJS.ProcessEnv, event: WorkflowEvent, job?: Job): Inputs {
  const inputs = new InputReader(env)
  inputs.refuseKeyElsewhere()
  const address = readServiceAddress(inputs, env)
  // `address.target` would say it too, but the address is undefined if any part of it is invalid.
  const isTestSuite = inputs.text('test-suite') !== ''
  const runId = readRunId(inputs)
  const parameters = readStartParameters(inputs, isTestSuite)
  const branch = runId === undefined ? readBranch(inputs, event, isTestSuite) : undefined
  const commit = testedCommit(inputs, env, event, runId)
  const settings = readSettings(inputs, runId)
  const comment = readComment(inputs)
  const reportDir = readPath(inputs, env, 'report-dir')
  const baselinePath = readPath(inputs, env, 'baseline')
  const matrix = inputs.text('matrix')

  // From here on, every value is valid.
  const validAddress = inputs.orThrow(address)
  const { target } = validAddress
  const subject: StepSubject = {
    target,
    ownsRun: runId === undefined,
    parameters: runId === undefined ? { ...parameters, branch } : {},
    job,
    sourceUrl: commit && sourceUrl(env, commit),
    matrix: scalarsIn(parseJson(matrix)).join(', '),
  }
  const belongsTo = [matrix, target.kind, target.id, parameters.environment, parameters.frameworkProject]
  return {
    address: validAddress,
    settings,
    subject,
    comment: { ...comment, belongsTo },
    reportDir,
    baselinePath,
  }
}

export function wantsSummaryOfProblems(env: NodeJS.ProcessEnv): boolean {
  return new InputReader(env).choice('summary', WHEN, 'always') !== 'never'
}

function readRunId(inputs: InputReader): string | undefined {
  const given = inputs.text('run-id')
  if (given !== '' && !isUsableRunId(given)) {
    inputs.refuse(
      'run-id',
      fragment`cannot be a run's id. Give the output run-id of the step that started the run. An id has ${RUN_ID_RULE}.`,
    )
  }
  return given || undefined
}

/**
 * The commit to which the places in reports link. Undefined if nobody knows it.
 *
 *   the branch, given or announced   the commit
 *   a hash                           this hash
 *   a name                           nobody knows it
 *   none                             that of the event, unless the announced service says that nobody knows it
 */
function testedCommit(
  inputs: InputReader,
  env: NodeJS.ProcessEnv,
  event: WorkflowEvent,
  runId: string | undefined,
): string | undefined {
  // A run that the input `run-id` names may be of any commit, so only a branch that the user gives counts.
  if (runId !== undefined && !inputs.isGiven('branch')) return undefined
  const branch = inputs.text('branch')
  if (branch !== '') return isCommit(branch) ? branch : undefined
  return isCommitUnknown(env) || !isCommit(event.commit) ? undefined : event.commit
}

const NOT_FOR_TEST_SUITES = ['framework-project', 'autofix']

function readStartParameters(inputs: InputReader, isTestSuite: boolean): StartParameters {
  for (const name of isTestSuite ? NOT_FOR_TEST_SUITES : []) {
    if (inputs.text(name) === '') continue
    inputs.refuse(
      name,
      fragment`cannot be combined with test-suite, because a test suite has no such setting. Leave the input ${name} empty, or give project instead of test-suite.`,
    )
  }
  return {
    environment: inputs.text('environment') || undefined,
    frameworkProject: inputs.text('framework-project') === '' ? undefined : inputs.textAsWritten('framework-project'),
    envOverrides: readEnvOverrides(inputs),
    autofix: inputs.boolean('autofix', undefined),
  }
}

function readSettings(inputs: InputReader, runId: string | undefined): Omit<StepSettings, 'subject'> {
  const wait = inputs.boolean('wait', true)
  if (!wait && runId !== undefined) {
    inputs.problem(
      fragment`Inputs wait ("false") and run-id ("${runId}") cannot be combined. To wait for this run, remove wait. To start another run, remove run-id.`,
    )
  }
  const pollSeconds = inputs.number('poll-interval-seconds', 0.05, 3_600, undefined)
  return {
    runId,
    wait,
    waitLimitMs: inputs.number('timeout-minutes', 0, 35_000, 60) * 60_000,
    pollIntervalMs: pollSeconds === undefined ? undefined : pollSeconds * 1_000,
    mayCancel: inputs.boolean('cancel-on-abort', runId === undefined),
    passWithNoTests: inputs.boolean('pass-with-no-tests', false),
    strict: inputs.boolean('strict', false),
    showOutput: inputs.boolean('show-output', true),
    runUrlOf: readRunUrl(inputs),
    reports: {
      summary: inputs.choice('summary', WHEN, 'always'),
      annotations: inputs.boolean('annotations', true),
    },
  }
}

function readComment(inputs: InputReader): Omit<CommentSettings, 'belongsTo'> {
  const when = inputs.choice('comment', WHEN, 'never')
  const token = inputs.text('github-token')
  if (token !== '') setSecret(token)
  else if (when !== 'never') {
    inputs.problem(
      fragment`Input github-token is empty, but comment ("${when}") needs a token. Add \`github-token: \${{ github.token }}\` to the inputs of this step, and \`pull-requests: write\` to the permissions of the job. If you want no comment, remove the input comment.`,
    )
  }
  return { when, token }
}

/** The values of a matrix, as GitHub shows them in a job's name, for example `ubuntu-latest, 20`. */
function scalarsIn(value: unknown): readonly string[] {
  if (value === undefined || value === null) return []
  return typeof value === 'object' ? Object.values(value).flatMap(scalarsIn) : [String(value)]
}

/** A relative path is relative to the workspace. */
function readPath(inputs: InputReader, env: NodeJS.ProcessEnv, name: string): string | undefined {
  const given = inputs.text(name)
  return given === '' ? undefined : resolve(env.GITHUB_WORKSPACE || '.', given)
}
