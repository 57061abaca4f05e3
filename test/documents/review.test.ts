import { execFileSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { basename, matchesGlob } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { ROOT, read } from './documents.ts'

interface Job {
  readonly name?: string
  readonly permissions?: Readonly<Record<string, string>>
  readonly steps: readonly Step[]
}

interface Step {
  readonly run?: string
  readonly uses?: string
  readonly with?: Readonly<Record<string, string>>
}

const PAGE = read('docs/review.md')
const WORKFLOWS = globSync('.github/workflows/*.yml', { cwd: ROOT })

describe('the workflow Release', () => {
  const jobs: Readonly<Record<string, Job>> = parse(read('.github/workflows/release.yml')).jobs

  test('installs packages only in the job that may not write, and without install scripts', () => {
    const installing = Object.values(jobs).filter(({ steps }) =>
      steps.some(({ run = '' }) => /\b(npm|npx)\b/.test(run)),
    )
    expect(installing).toEqual([jobs.test])
    expect(jobs.test?.permissions).toBeUndefined()
    expect(jobs.test?.steps.map(({ run }) => run)).toContain('npm ci --ignore-scripts')
  })

  test('attests every file that runs, and the page verifies the same files', () => {
    const attest = jobs.publish?.steps.find(({ uses }) => uses?.startsWith('actions/attest@'))
    const subjects = attest?.with?.['subject-path']?.split(', ') ?? []
    const [, list = ''] = /^ *for file in (.*); do$/m.exec(PAGE) ?? []
    const verified = execFileSync('bash', ['-c', `printf '%s\\n' ${list}`], { cwd: ROOT, encoding: 'utf8' })
    const files = verified.trim().split('\n')
    const running = ['', 'local-service/'].flatMap((folder) => {
      const { runs } = parse(read(`${folder}action.yml`))
      return [`${folder}action.yml`, `${folder}${runs.main}`, `${folder}${runs.post}`]
    })
    expect(files).toEqual(expect.arrayContaining(running))
    expect(files.filter((file) => !subjects.some((subject) => matchesGlob(file, subject)))).toEqual([])
  })
})

describe('the page', () => {
  test('checks out the tag of the release, and not a branch of the same name', () => {
    expect(PAGE.match(/^ *git checkout .*$/gm)).toEqual(Array(2).fill(expect.stringContaining('refs/tags/v1.2.3')))
    expect(PAGE).not.toMatch(/git clone --branch/)
  })

  test('builds without install scripts, and npm ci runs only the one that brings Node 24', () => {
    const { packages } = JSON.parse(read('package-lock.json')) as {
      packages: Record<string, { hasInstallScript?: true }>
    }
    const scripted = Object.entries(packages).filter(([, { hasInstallScript }]) => hasInstallScript)
    const { allowScripts } = JSON.parse(read('package.json'))
    const decided = Object.fromEntries(scripted.map(([place]) => [place.replace(/.*node_modules\//, ''), false]))
    expect(allowScripts).toEqual({ ...decided, node: true })
    expect(PAGE).toContain('npm ci --ignore-scripts && npm run build\n')
  })
})

describe('our own workflows', () => {
  test('report the checks that the ruleset of main requires, for every pull request', () => {
    const { rules } = JSON.parse(read('.github/rulesets/main.json'))
    const { parameters } = rules.find(({ type }: { type: string }) => type === 'required_status_checks')
    const names = WORKFLOWS.map((file) => parse(read(file)))
      .filter(({ on }) => 'pull_request' in Object(on))
      .flatMap(({ jobs }) => Object.values(jobs as Record<string, Job>).map(({ name }) => name))
    const required = parameters.required_status_checks.map(({ context }: { context: string }) => context)
    expect(required).not.toEqual([])
    expect(names).toEqual(expect.arrayContaining(required))
  })

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
