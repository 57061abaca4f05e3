import { execFileSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { matchesGlob } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { ROOT, read } from './documents.ts'

const action = parse(read('action.yml'))

test.each([
  ['', 'inputs'],
  ['', 'outputs'],
  ['local-service/', 'inputs'],
  ['local-service/', 'outputs'],
])('%saction-types.yml has the %s of action.yml, in their order', (folder, group) => {
  const [types, declared] = ['action-types.yml', 'action.yml'].map((file) => parse(read(folder + file))[group])
  expect(Object.keys(types)).toEqual(Object.keys(declared))
})

test('Node is the same major version for users, contributors and workflows', () => {
  const major = read('.node-version').trim()
  expect(action.runs.using).toBe(`node${major}`)
  expect(JSON.parse(read('package.json')).devDependencies.node).toMatch(new RegExp(`^\\^${major}\\.`))
})

test.each(
  globSync(['*.md', 'docs/*.md', 'bench/*.md', '.github/*.md'], { cwd: ROOT }),
)('the npm scripts that %s names exist', (page) => {
  const { scripts } = JSON.parse(read('package.json'))
  const named = [...read(page).matchAll(/npm run (?:--silent )?([a-z][\w-]*)/g)].map(([, name = '']) => name)
  expect(named.filter((name) => scripts[name] === undefined)).toEqual([])
})

test('a code owner reviews a change to any file', () => {
  const rules = read('.github/CODEOWNERS')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
  expect(rules).toEqual([expect.stringMatching(/^\* @[\w/-]+$/)])
})

describe('the release workflow', () => {
  const { jobs } = parse(read('.github/workflows/release.yml'))

  const commands = (job: string) => jobs[job].steps.map(({ run = '' }: { run?: string }) => run).join('\n')
  const actions = (job: string) => jobs[job].steps.map(({ uses = '' }: { uses?: string }) => uses.split('@')[0])

  test('installs packages only in jobs that may not write', () => {
    for (const job of ['build', 'test']) expect(jobs[job].permissions).toEqual({ contents: 'read' })
    expect(commands('build')).toMatch(/^npm ci --ignore-scripts$/m)
    expect(commands('publish')).not.toMatch(/\bnpm (?!sbom --package-lock-only)|\bnpx\b/)
  })

  test('publishes what was built in a job that runs no tests', () => {
    expect(commands('build')).not.toMatch(/\bnpm (cit|test|run (?!owner))/)
    expect(actions('test')).not.toContain('actions/upload-artifact')
    const [download] = jobs.publish.steps.filter(({ uses }: { uses?: string }) => uses?.includes('download-artifact'))
    expect(download.with['artifact-ids']).toBe(`\${{ needs.build.outputs.artifact }}`)
  })

  test('attests every file that runs, and the review page verifies the same files', () => {
    const attest = jobs.publish.steps.find(
      ({ name }: { name?: string }) => name === 'Attest where the files were built',
    )
    const subjects: readonly string[] = attest.with['subject-path'].trim().split('\n')
    const files = execFileSync('git', ['ls-files', 'action.yml', 'dist'], { cwd: ROOT, encoding: 'utf8' })
      .trim()
      .split('\n')
    expect(files).toContain('dist/main/index.js')
    expect(files.filter((file) => !subjects.some((subject) => matchesGlob(file, subject)))).toEqual([])
    expect(read('docs/review.md')).toContain('for file in action.yml $(git ls-files dist); do\n')
  })
})
