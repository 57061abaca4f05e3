import { execFileSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { basename, matchesGlob } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { ROOT, read, readDocument } from './documents.ts'

// docs/review.md says what stops a stolen account. These tests compare the page with our workflows and rulesets.

interface Job {
  readonly name: string
  readonly environment?: string
  readonly permissions?: unknown
  readonly strategy?: { readonly matrix: { readonly language?: readonly string[] } }
  readonly steps: readonly Step[]
}

interface Step {
  readonly name?: string
  readonly run?: string
  readonly uses?: string
  readonly with?: Readonly<Record<string, string>>
}

interface Ruleset {
  readonly enforcement: string
  readonly bypass_actors?: readonly { readonly actor_type: string }[]
  readonly conditions: {
    readonly ref_name: { readonly include: readonly string[]; readonly exclude: readonly string[] }
  }
  // biome-ignore lint/suspicious/noExplicitAny: each kind of rule has parameters of its own
  readonly rules: readonly { readonly type: string; readonly parameters?: any }[]
}

const PAGE = 'docs/review.md'
const RELEASE = '.github/workflows/release.yml'
const WORKFLOWS = globSync('.github/workflows/*.yml', { cwd: ROOT })
const RULESETS = globSync('.github/rulesets/*.json', { cwd: ROOT })

const { on, jobs }: { on: unknown; jobs: Readonly<Record<'build' | 'test' | 'publish', Job>> } = parse(read(RELEASE))
const commandsOf = ({ steps }: Job) => steps.map(({ run = '' }) => run).join('\n')
const actionsOf = ({ steps }: Job) => steps.flatMap(({ uses }) => uses?.split('@')[0] ?? [])
const ruleset = (name: string): Ruleset => JSON.parse(read(`.github/rulesets/${name}.json`))

describe('the workflow Release', () => {
  test('is only started by hand, because the workflow of a pushed tag would be that of an unreviewed commit', () => {
    expect(on).toEqual({ workflow_dispatch: null })
  })

  test('has the one job that uses the environment, and no other job or workflow gets the key', () => {
    const using = WORKFLOWS.flatMap((file) =>
      Object.entries(parse(read(file)).jobs as Record<string, Job>).flatMap(([name, { environment }]) =>
        environment === undefined ? [] : [[basename(file), name, environment]],
      ),
    )
    expect(using).toEqual([['release.yml', 'publish', 'release']])
    const secrets = WORKFLOWS.flatMap((file) => read(file).match(/\bsecrets\b.*/g) ?? [])
    expect(secrets).toEqual(['secrets.RELEASE_KEY }}'])
    const holders = jobs.publish.steps.filter((step) => JSON.stringify(step).includes('secrets.'))
    expect(holders).toEqual([expect.objectContaining({ uses: expect.stringMatching(/^actions\/checkout@/) })])
  })

  test('installs packages only in jobs that may not write', () => {
    for (const job of [jobs.build, jobs.test]) expect(job.permissions).toEqual({ contents: 'read' })
    expect(commandsOf(jobs.build)).toMatch(/^npm ci --ignore-scripts$/m)
    expect(commandsOf(jobs.publish)).not.toMatch(/\bnpm (?!sbom --package-lock-only)|\bnpx\b/)
  })

  test('publishes what was built in a job that runs no tests', () => {
    expect(commandsOf(jobs.build)).not.toMatch(/\bnpm (cit|test|run (?!owner))/)
    expect(actionsOf(jobs.test)).not.toContain('actions/upload-artifact')
    const [download] = jobs.publish.steps.filter(({ uses }) => uses?.includes('download-artifact'))
    expect(download?.with?.['artifact-ids']).toBe(`\${{ needs.build.outputs.artifact }}`)
  })

  test('attests every file that runs, and the page verifies the same files', () => {
    const attest = jobs.publish.steps.find(({ name }) => name === 'Attest where the files were built')
    const subjects = attest?.with?.['subject-path']?.trim().split('\n') ?? []
    // A branch with the name of the tag would come before the tag.
    expect(read(PAGE).match(/^ *git (clone|checkout) .*$/gm)).toEqual(
      expect.arrayContaining([expect.stringMatching(/git checkout --detach refs\/tags\/v1\.2\.3/)]),
    )
    expect(read(PAGE)).not.toMatch(/git clone --branch/)
    const [, list = ''] = /^ *for file in (.*); do$/m.exec(read(PAGE)) ?? []
    const verified = execFileSync('bash', ['-c', `printf '%s\\n' ${list}`], { cwd: ROOT, encoding: 'utf8' })
    const files = verified.trim().split('\n')
    const running = ['', 'local-service/'].flatMap((folder) => {
      const { runs } = parse(read(`${folder}action.yml`))
      return [`${folder}action.yml`, `${folder}${runs.main}`, `${folder}${runs.post}`]
    })
    expect(files).toEqual(expect.arrayContaining(running))
    expect(files.filter((file) => !subjects.some((subject) => matchesGlob(file, subject)))).toEqual([])
  })

  test('builds dist/ without install scripts, as the page does', () => {
    const { packages } = JSON.parse(read('package-lock.json')) as {
      packages: Record<string, { hasInstallScript?: true }>
    }
    const scripted = Object.entries(packages).filter(([, { hasInstallScript }]) => hasInstallScript)
    // This package installs Node 24 for people who have an older Node.
    expect(scripted.map(([place]) => place)).toEqual(['node_modules/node'])
    expect(read(PAGE)).toContain('npm ci --ignore-scripts && npm run build\n')
  })
})

describe('the rulesets', () => {
  /** What the rulesets forbid for a ref, with who may do it all the same. */
  function forbidden(ref: string): Record<string, readonly string[]> {
    const rules = RULESETS.map((file): Ruleset => JSON.parse(read(file)))
      .filter(({ conditions: { ref_name: names } }) => names.include.some((name) => matchesGlob(ref, name)))
      .flatMap(({ rules, bypass_actors = [] }) =>
        rules.map(({ type }) => [type, bypass_actors.map(({ actor_type }) => actor_type)] as const),
      )
    // If two rulesets forbid the same, only those may do it who are in both.
    return Object.fromEntries(rules.toSorted(([, a], [, b]) => b.length - a.length))
  }

  test('let only the key create or move v1, and let nobody move the tag of a release', () => {
    expect(forbidden('refs/tags/v1')).toEqual({
      creation: ['DeployKey'],
      update: ['DeployKey'],
      deletion: ['DeployKey'],
    })
    for (const tag of ['refs/tags/v1.2.3', 'refs/tags/v10.0.12']) {
      expect(forbidden(tag)).toEqual({ creation: ['DeployKey'], update: [], deletion: [] })
    }
  })

  test('let nobody push a branch that has the name of a version, because a workflow could take it for the tag', () => {
    for (const branch of ['refs/heads/v1', 'refs/heads/v1.2.3']) {
      expect(forbidden(branch)).toEqual({ creation: [], update: [] })
    }
  })

  test('let nobody change main without the review of a code owner, and every file has a team as its code owner', () => {
    const { bypass_actors = [], rules } = ruleset('main')
    expect(bypass_actors).toEqual([])
    expect(rules.find(({ type }) => type === 'pull_request')?.parameters).toMatchObject({
      required_approving_review_count: 1,
      require_code_owner_review: true,
      require_last_push_approval: true,
    })
    const owners = read('.github/CODEOWNERS')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
    expect(owners).toEqual([expect.stringMatching(/^\* @[\w-]+\/[\w-]+$/)])
  })

  test('are all active, and the page and the settings name each of them', () => {
    for (const file of RULESETS) expect(JSON.parse(read(file)).enforcement).toBe('active')
    const names = (page: string) =>
      new Set(readDocument(page).links.flatMap(({ to }) => (/rulesets\/.+\.json$/.test(to) ? basename(to) : [])))
    const files = new Set(RULESETS.map((file) => basename(file)))
    expect(names(PAGE)).toEqual(files)
    expect(names('CONTRIBUTING.md')).toEqual(files)
  })

  test('require checks that the workflows report for pull requests and for the merge queue', () => {
    const required = ruleset('main').rules.find(({ type }) => type === 'required_status_checks')?.parameters
    const contexts = required.required_status_checks.map(({ context }: { context: string }) => context)
    const names = WORKFLOWS.map((file) => parse(read(file)))
      .filter(({ on }) => 'pull_request' in Object(on) && 'merge_group' in Object(on))
      .flatMap(({ jobs }) => Object.values(jobs as Record<string, Job>))
      .flatMap(({ name, strategy }) => {
        const languages = strategy?.matrix.language
        return languages?.map((language) => name.replace(/\$\{\{ matrix\.language \}\}/, language)) ?? [name]
      })
    expect(contexts).not.toEqual([])
    expect(names).toEqual(expect.arrayContaining(contexts))
  })
})

describe('our own workflows', () => {
  test('use images by their digest, and only Nightly uses an action that is not pinned: our own', () => {
    const texts = WORKFLOWS.map((file) => [basename(file), read(file)] as const)
    const images = texts.flatMap(([, text]) =>
      [...text.matchAll(/^ +(?:container|image): *(\S+)$/gm)].map(([, image]) => image),
    )
    expect(images).not.toEqual([])
    expect(images.filter((image) => !/@sha256:[0-9a-f]{64}$/.test(image ?? ''))).toEqual([])
    expect(texts.filter(([, text]) => /uses: .*@main\b/.test(text)).map(([name]) => name)).toEqual(['nightly.yml'])
  })
})
