import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readConfiguration } from '../../src/settings/configuration.ts'
import { runProject, WEB_SHOP } from '../support/a-local-service.ts'

const oneTest = (title: string, from = 'vitest') => `import { test } from '${from}'\ntest('${title}', () => {})`

describe('the further arguments of a Vitest project', () => {
  const files = {
    'vitest.config.mjs': 'export default { test: { include: [] } }',
    'config/ci.mjs': `export default { test: { projects: [
      { test: { name: 'unit', include: ['*.test.js'] } }, { test: { name: 'slow', include: ['a.test.js'] } }] } }`,
    'a.test.js': oneTest('adds'),
    'b.test.js': oneTest('subtracts'),
  }
  const [framework, CONFIG] = ['vitest', '--config=config/ci.mjs'] as const

  it('choose the configuration and the tests', async () => {
    const { status, titles } = await runProject(files, { framework, args: [CONFIG, '-t', 'subtracts', 'b.test'] })
    expect([status, titles]).toEqual(['PASSED', ['[unit] > subtracts']])
  })

  it('do not hide the framework projects of another configuration, also in a shard without a file of one', async () => {
    const request = { frameworkProjectName: 'Unit,slow' }
    const { status } = await runProject(files, { framework, args: [CONFIG, '--shard=2/2'], request })
    expect(status).toBe('PASSED')
  })
})

describe('an argument that looks as if it broke a run', () => {
  it('of Vitest switches an option off, is empty, names another reporter and its file, or is two dashes before a filter', async () => {
    const reporter = ['--reporter=junit', '--outputFile=out/junit.xml']
    const args = ['--watch=false', '--ui=false', '', ...reporter, '--', 'a.test']
    const run = await runProject({ 'a.test.js': oneTest('adds') }, { framework: 'vitest', args })
    expect([run.status, run.titles]).toEqual(['PASSED', ['adds']])
    expect(await readFile(join(run.folder, 'out/junit.xml'), 'utf8')).toContain('<')
  })

  it('of Playwright names another reporter, and leaves the framework project of the run in force behind two dashes', async () => {
    const config = `export default { projects: [{ name: 'api' }, { name: 'admin' }] }`
    const files = { 'playwright.config.ts': config, 'a.spec.ts': oneTest('pays', '@playwright/test') }
    const settings = { framework: 'playwright', args: ['--reporter=html', '--output=out', '--', 'a.spec'] } as const
    const run = await runProject(files, { ...settings, request: { frameworkProjectName: 'admin' } })
    expect([run.status, run.titles]).toEqual(['PASSED', ['[admin] > pays']])
    expect(await readFile(join(run.folder, 'playwright-report/index.html'), 'utf8')).toContain('<')
  })
})

describe('an argument that breaks a run', () => {
  const read = (shop: object) =>
    readConfiguration({ projects: { shop: { folder: '.', ...shop } } }, WEB_SHOP).projects.get('shop')

  it.each([
    ['vitest', '--watch', 'The run would not end. Leave it out.'],
    ['vitest', '-w', 'The run would not end. Leave it out.'],
    ['vitest', '-wu', 'The run would not end. Leave it out.'],
    ['vitest', '-uw', 'The run would not end. Leave it out.'],
    ['vitest', '--w', 'The run would not end. Leave it out.'],
    ['vitest', '--ui=true', 'The run would not end. Leave it out.'],
    ['vitest', '--inspect-brk=9229', 'The run would not end. Leave it out.'],
    ['vitest', '--help', 'No test would run. Leave it out.'],
    ['vitest', '--mergeReports', 'No test would run. Leave it out.'],
    ['vitest', '--clear-cache', 'No test would run. Leave it out.'],
    ['vitest', '--clearCache=true', 'No test would run. Leave it out.'],
    ['vitest', '-p', 'Each run names its framework projects itself. Give "framework-project" to the gate, or '],
    ['vitest', '--shard 1/2', 'Write an option and its value with "=", or as two arguments.'],
    ['vitest', '--config=a.mjs --shard=1/2', 'Give each option as an argument of its own.'],
    ['vitest', `-t='adds two'`, 'No shell removes the quotes. Leave them out, and give the value whole.'],
    ['vitest', "'src/cart'", 'No shell removes the quotes. Leave them out, and give the value whole.'],
    ['vitest', "-t='adds", 'No shell removes the quotes. Leave them out, and give the value whole.'],
    ['playwright', '--grep="smoke and fast"', 'No shell removes the quotes. Leave them out, and give the value whole.'],
    ['playwright', '--ui', 'The run would not end. Leave it out.'],
    ['playwright', '--ui-port=0', 'The run would not end. Leave it out.'],
    ['playwright', '--debug', 'The run would not end. Leave it out.'],
    ['playwright', '--list', 'No test would run. Leave it out.'],
    ['playwright', '-V', 'No test would run. Leave it out.'],
    ['jest', '--watchAll', 'The run would not end. Leave it out.'],
    ['jest', '--listTests', 'No test would run. Leave it out.'],
    ['jest', '--json', 'The service carries the results out itself. Leave it out, and let a reporter'],
    ['jest', '--outputFile=a.json', 'The service carries the results out itself. Leave it out, and let a reporter'],
    ['jest', '--testResultsProcessor', 'The service carries the results out itself. Leave it out, and let a '],
    ['jest', '--selectProjects=unit', 'Each run names its framework projects itself. Give "framework-project" to '],
    ['playwright', '--project=api', 'Each run names its framework projects itself. Give "framework-project" to '],
  ] as const)('of %s is refused by name: %s', (framework, argument, reason) => {
    const message = `Project "shop" cannot be served: "args" has ${JSON.stringify(argument)}. ${reason}`
    expect(() => read({ framework, args: ['--retry=1', argument] })).toThrow(message)
  })

  const NAMED = 'The service names the command itself. Leave it out.'
  it.each([
    ['vitest', { args: ['watch'] }, `"args" begins with "watch". ${NAMED}`],
    ['vitest', { args: ['vitest'] }, `"args" begins with "vitest". ${NAMED}`],
    ['playwright', { args: ['test'] }, `"args" begins with "test". ${NAMED}`],
  ])('of %s is refused if it is the command: %j', (framework, settings, reason) => {
    expect(() => read({ framework, ...settings })).toThrow(`Project "shop" cannot be served: ${reason}`)
  })

  it.each([
    ['vitest', [...'--coverage.reporter=text --coverage -c a.mjs --run -u --listen-to-me test'.split(' '), "-t=it's"]],
    ['vitest', [`-t="a" is b`, '--testNamePattern=accepts --force']],
    [
      'playwright',
      [
        '-gh',
        '--output-x',
        '-c',
        'a.ts',
        '--test-list=a',
        '--workers=1',
        'run',
        '--grep',
        'a --list',
        '--grep=accepts --force',
      ],
    ],
  ] as const)('of %s is not found in others: %j', (framework, args) => {
    expect(read({ framework, args })?.args).toEqual(args)
  })
})
