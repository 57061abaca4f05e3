import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'vitest'
import { folderOfTests } from '../../../test/support/temporary-folder.ts'
import { type Annotation, type ProcessResult, prepareStep } from '../step-runner/runner.ts'
import { writeAction } from './fixture.ts'

// recordings/README.md says what a case is.

interface Case {
  readonly name: string
  readonly action: {
    readonly main: string
    readonly post: string
    readonly inputs?: object
  }
  readonly with?: Readonly<Record<string, string>>
  readonly secrets?: Readonly<Record<string, string>>
  readonly debug?: boolean
  readonly runner: {
    readonly job: string
    readonly main: string
    readonly post: string
    readonly outputs: object
    readonly state: object
    readonly mainLog: readonly string[]
    readonly postLog: readonly string[]
    readonly mainAnnotations: readonly object[]
    readonly postAnnotations?: readonly object[]
    readonly summary?: string
  }
}

const CASES = readFileSync(join(import.meta.dirname, 'recordings/cases.jsonl'), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line): Case => JSON.parse(line))
/** Post writes down what it sees. An earlier step can set a variable `STATE_…` too. */
const TELL_STATE = `fs.writeFileSync(process.env.GITHUB_WORKSPACE + '/state.json', JSON.stringify(process.env));`

const root = folderOfTests()

test.concurrent.for(CASES)('$name', async (recorded, { expect }) => {
  expect(await replay(recorded)).toEqual(expected(recorded))
})

function expected({ action, runner }: Case) {
  const { mainLog, postLog, postAnnotations = [], summary = '', ...rest } = runner
  return {
    ...rest,
    mainLog: comparable(mainLog, action.main),
    postLog: comparable(postLog, action.post),
    postAnnotations,
    summary,
  }
}

async function replay({ action, ...given }: Case) {
  await using step = prepareStep({
    actionDir: writeAction(root, { ...action, post: TELL_STATE + action.post }),
    inputs: given.with,
    secrets: Object.values(given.secrets ?? {}),
    debug: given.debug,
    github: { action: 'probe' },
  })
  const end = await step.run()
  const logOf = ({ log }: ProcessResult, script = '') =>
    comparable(
      log.map((line) => line.replaceAll(step.workspace, '{workspace}').replaceAll(step.tempDir, '{temp}')),
      script,
    )
  return {
    job: STATUS[end.jobStatus],
    main: STATUS[end.main.conclusion],
    post: STATUS[end.post.conclusion],
    outputs: end.main.outputs,
    mainLog: logOf(end.main, action.main),
    postLog: logOf(end.post, action.post),
    state: stateSeen(join(step.workspace, 'state.json')),
    mainAnnotations: end.main.annotations.map(asRecorded),
    postAnnotations: end.post.annotations.map(asRecorded),
    summary: end.summary,
  }
}

const STATUS = { success: 'succeeded', failure: 'failed', cancelled: 'canceled', skipped: 'skipped' }

/** Lines that the runner itself writes, and lines that depend on the time. */
const NOT_COMPARED =
  /^(tick \d+|Post job cleanup\.|##\[warning\](Unexpected input|Input '.*' has been dep).*|##\[debug\](Evaluating|=>|Result:|Starting:|Loading|Node Action|Finishing:|Setting echo|steps\.).*)$/

/** The order of lines of two streams is not defined. So a mask in one stream may come too late for the other stream. */
function comparable(log: readonly string[], script = ''): readonly string[] {
  const lines = log.filter((line) => !NOT_COMPARED.test(line))
  return /\berr\(/.test(script) ? lines.map((line) => line.replace(/^(hunter22|sekret99)$/, '***')).sort() : lines
}

function asRecorded({ level, title, message, properties }: Annotation): object {
  const { file, line = '' } = properties
  return {
    level,
    message,
    ...(title !== '' && { title }),
    ...(file !== undefined && { file }),
    ...(Number(line) && { line: Number(line) }),
  }
}

function stateSeen(file: string): object {
  const env: object = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (name.startsWith('STATE_') ? [[name.slice(6), value]] : [])),
  )
}
