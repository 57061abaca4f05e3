import { existsSync, globSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { ROOT, read } from './documents.ts'

const action = parse(read('action.yml'))

describe('action-types.yml', () => {
  const types = parse(read('action-types.yml'))

  test.each(['inputs', 'outputs'])('has the %s of action.yml, in their order', (group) => {
    expect(Object.keys(types[group])).toEqual(Object.keys(action[group]))
  })

  test('gives each a type that the format knows', () => {
    const known = ['string', 'boolean', 'integer', 'float', 'enum']
    for (const { type } of Object.values<{ type: string }>({ ...types.inputs, ...types.outputs })) {
      expect(known).toContain(type)
    }
  })

  test('gives each a type that its default has', () => {
    const values: Readonly<Record<string, RegExp>> = { boolean: /^(true|false)$/, float: /^\d+(\.\d+)?$/ }
    for (const [name, input] of Object.entries<{ default?: string }>(action.inputs)) {
      const { type, 'allowed-values': allowed } = types.inputs[name]
      if (input.default === undefined) continue
      if (type === 'enum') expect(allowed, name).toContain(input.default)
      else expect(input.default, name).toMatch(values[type] ?? /./)
    }
  })

  test('lists the conclusions that action.yml describes', () => {
    const described = [...action.outputs.conclusion.description.matchAll(/`([\w-]+)`/g)].map(([, name]) => name)
    expect(types.outputs.conclusion['allowed-values']).toEqual(described)
  })
})

describe('Node', () => {
  const { engines, devDependencies } = JSON.parse(read('package.json'))

  test('is the same major version for users, contributors and workflows', () => {
    const major = read('.node-version').trim()
    expect(action.runs.using).toBe(`node${major}`)
    expect(devDependencies.node).toMatch(new RegExp(`^\\^${major}\\.`))
  })

  test('is needed in the version that the pages say, to run npm', () => {
    expect(engines.node).toBe('>=20')
    const silent = ['README.md', 'CONTRIBUTING.md'].filter((page) => !/Node\s20\sor\snewer/.test(read(page)))
    expect(silent).toEqual([])
  })

  test('is chosen by .node-version in every workflow that sets it up', () => {
    for (const file of globSync('.github/workflows/*.yml', { cwd: ROOT })) {
      const { jobs } = parse(read(file))
      const steps = Object.values<{ steps: { uses?: string; with?: Record<string, unknown> }[] }>(jobs).flatMap(
        (job) => job.steps,
      )
      for (const step of steps.filter(({ uses }) => uses?.startsWith('actions/setup-node@'))) {
        expect(step.with).toMatchObject({ 'node-version-file': '.node-version' })
      }
    }
  })
})

describe('the npm scripts', () => {
  const { scripts } = JSON.parse(read('package.json'))
  const pages = globSync(['*.md', 'docs/*.md', 'bench/*.md', '.github/*.md'], { cwd: ROOT })

  test.each(pages)('that %s names exist', (page) => {
    const named = [...read(page).matchAll(/npm run (?:--silent )?([a-z][\w-]*)/g)].map(([, name = '']) => name)
    expect(named.filter((name) => scripts[name] === undefined)).toEqual([])
  })

  test('are all in CONTRIBUTING.md', () => {
    const page = read('CONTRIBUTING.md')
    expect(
      Object.keys(scripts).filter((name) => !page.includes(`npm run ${name}`) && !page.includes(`npm ${name}`)),
    ).toEqual([])
  })
})

test('every path in CODEOWNERS exists', () => {
  const lines = read('.github/CODEOWNERS').split('\n')
  const paths = lines.filter((line) => line !== '' && !line.startsWith('#')).map((line) => line.split(' ')[0] ?? '')
  expect(paths).not.toEqual([])
  expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
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
})
