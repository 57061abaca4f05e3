import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { folderWith, type RunOfProject, runProject, startService } from '../support/a-local-service.ts'

// Runs of the real Jest. Every kind of result is in test/reporters/jest-results.test.ts, and `npm run by-hand -- --table` has many kinds
// of projects.

async function runJest(files: Readonly<Record<string, string>>, settings: Partial<RunOfProject> = {}) {
  const manifest = { 'package.json': '{ "devDependencies": { "jest": "*" } }' }
  const run = await runProject({ ...manifest, ...files }, { version: 'jest-30', ...settings })
  const cases = run.results?.testCases.map(({ status, title }) => `${status} ${title}`)
  return { ...run, cases, read: (name: string) => readFile(join(run.folder, name), 'utf8') }
}

/** Writes how many tests it was told, and its options. */
const REPORTER = `const { writeFileSync } = require('node:fs')
  module.exports = class {
    constructor(_, options) { this.options = options }
    async onRunComplete(_, { numTotalTests }) { writeFileSync('told.json', JSON.stringify([numTotalTests, this.options])) }
  }`
const PASSES = "it('passes', () => {})"
const FLAKY =
  "let tries = 0\njest.retryTimes(1)\nit('passes at last', () => { if (tries++ < 1) throw new Error('rain') })"

interface Kind {
  readonly config?: string
  readonly tests?: string
  readonly args?: readonly string[]
}

/** The parts of Jest that the service needs. The packages of Jest 29.0 export no others. */
const OLDEST_JEST = {
  'jest/package.json': '{ "version": "29.0.0", "bin": "jest.js" }',
  'jest/jest.js': "require('jest-cli').run()",
  'jest-cli/index.js': "exports.run = () => require('@jest/core').runCLI()",
  'jest-config/index.js': 'exports.readConfigs = async () => ({ globalConfig: {} })',
  '@jest/core/index.js': `exports.runCLI = async () => {
    const { globalConfig } = await require('jest-config').readConfigs()
    const { default: Reporter } = await import(globalConfig.reporters[0][0])
    const reporter = new Reporter()
    const testResults = [{ ancestorTitles: [], title: 'passes', status: 'passed', failureMessages: [] }]
    reporter.onTestFileResult({ context: { config: {} } }, { testFilePath: '/a.test.js', testResults })
    reporter.onRunComplete([], { snapshot: {} })
  }`,
}

describe('a run of Jest', () => {
  it('needs no value, has the selected projects and the reason of a flaky test, and leaves the reporters in force', async () => {
    const config = `module.exports = {
      reporters: ['default', ['<rootDir>/reporter.js', { to: 'told' }]],
      projects: ['unit', 'e2e', 'docs'].map((name) => ({ displayName: name, testMatch: ['**/' + name + '.test.js'] })) }`
    const files = { 'jest.config.js': config, 'reporter.js': REPORTER, 'unit.test.js': FLAKY, 'e2e.test.js': PASSES }
    const request = { frameworkProjectName: 'unit,e2e' }
    const run = await runJest({ ...files, 'docs.test.js': PASSES }, { request })
    expect(run.status, run.message).toBe('PASSED')
    expect(run.cases).toEqual(['PASSED [e2e] > passes', 'FLAKY [unit] > passes at last'])
    expect(run.results?.testCases[1]).toMatchObject({ message: 'rain', filePath: 'unit.test.js', line: 3 })
    expect(JSON.parse(await run.read('told.json'))).toEqual([2, { to: 'told' }])
    expect(run.output).toContain('Ran all test suites in 2 projects.')
  })

  it('names the project of a file that cannot be loaded', async () => {
    const config = "module.exports = { projects: [{ displayName: 'unit' }, { displayName: 'e2e' }] }"
    const { cases } = await runJest({ 'jest.config.js': config, 'a.test.js': "throw new Error('no database')" })
    expect(cases?.toSorted()).toEqual(['FAILED [e2e] > a.test.js', 'FAILED [unit] > a.test.js'])
  })

  it('has the tests before the one at which it stopped', async () => {
    const files = { 'a.test.js': `${PASSES}\nit('fails', () => { throw new Error('red') })`, 'b.test.js': PASSES }
    const { status, cases } = await runJest(files, { args: ['--bail', '--runInBand', 'a.test', 'b.test'] })
    expect([status, cases?.slice(0, 2)]).toEqual(['FAILED', ['PASSED passes', 'FAILED fails']])
  })

  it.each([
    [
      'a threshold',
      { config: '{ collectCoverage: true, coverageThreshold: { global: { lines: 100 } } }' },
      /^jest exited with code 1, although no test failed: Jest: Coverage for lines \(50%\) does not meet "global" threshold \(100%\)$/,
    ],
    [
      'a teardown',
      { config: "{ globalTeardown: './a.js' }" },
      /^jest exited with code 1, although no test failed: TypeError: Jest: Got error running globalTeardown - .*a\.js, reason: /,
    ],
    [
      'no tests',
      { config: "{ testMatch: ['**/*.none.js'] }" },
      /^jest found no tests\. If you expect that, add --passWithNoTests to its arguments/,
    ],
    [
      'a configuration',
      { config: "{ preset: 'nowhere' }" },
      /^jest could not run the tests: Validation Error: Preset nowhere not found/,
    ],
    [
      'an argument',
      { args: ['--runInBand', '--maxWorkers=2'] },
      /^jest could not run the tests: Both --runInBand and --maxWorkers were specified, only one is allowed\.$/,
    ],
    [
      'an error after the tests',
      { tests: "it('passes', () => { setTimeout(() => { throw new Error('late') }) })" },
      /^jest exited with code 1, although no test failed: Error: late$/m,
    ],
  ])('that fails because of %s says so', async (_, { config = '{}', tests = PASSES, args = [] }: Kind, message) => {
    const files = { 'jest.config.js': `module.exports = ${config}`, 'a.js': 'exports.a = () => {\n  return 1\n}' }
    const run = await runJest({ ...files, 'a.test.js': `require('./a')\n${tests}` }, { args })
    expect([run.status, run.message]).toEqual(['FAILED', expect.stringMatching(message)])
  })

  it('is not passed if a test ends it with 0, whatever the tests print', async () => {
    const printed = 'No tests found, exiting with code 1'
    const prints = `it('passes', () => { process.stdout.write('${printed}') })`
    const run = await runJest({ 'a.test.js': `${prints}\nit('ends', () => process.exit(0))` })
    expect([run.status, run.cases]).toEqual(['INTERRUPTED', ['PASSED passes', 'INTERRUPTED ends']])
  })

  it('may replace the functions of `fs` and `Buffer` that its tests call, because the service calls none of them', async () => {
    const spies = `const fs = require('node:fs')
      beforeAll(() => {
        jest.spyOn(fs, 'writeFileSync').mockImplementation(() => {})
        jest.spyOn(Buffer, 'from')
      })`
    const files = {
      'a.test.js': `${spies}\nit('saves nothing', () => expect(fs.writeFileSync).not.toHaveBeenCalled())`,
      'b.test.js': `${spies}\nit('saves', () => expect(fs.writeFileSync).toHaveBeenCalled())`,
      'c.test.js': `${spies}\nit('encodes', () => expect(Buffer.from).toHaveBeenCalled())`,
    }
    const run = await runJest(files, { args: ['--runInBand'] })
    expect(run.cases).toEqual(['PASSED saves nothing', 'FAILED saves', 'FAILED encodes'])
  })

  it('may be of version 29.0', async () => {
    const packages = Object.entries(OLDEST_JEST).map(([path, text]) => [`node_modules/${path}`, text])
    const folder = await folderWith({ 'package.json': '{}', ...Object.fromEntries(packages) })
    const service = await startService({ projects: { shop: { folder, framework: 'jest' } } })
    const run = await service.waitFor(await service.startRun())
    expect(run).toMatchObject({ status: 'PASSED', results: { testCases: [{ title: 'passes' }] } })
  })

  it('by a command of the project has the results too, and calls the configured processor', async () => {
    const files = {
      'jest.config.js': "module.exports = { testResultsProcessor: './processor.js' }",
      'processor.js': "module.exports = (results) => { require('fs').writeFileSync('told', 'yes'); return results }",
      'a.test.js': FLAKY,
    }
    const run = await runJest(files, { command: 'npx jest', args: ['--', 'a.test'] })
    expect([run.status, run.cases]).toEqual(['PASSED', ['FLAKY passes at last']])
    expect(await run.read('told')).toBe('yes')
  })

  it.each([
    ['is missing', {}, 'Module ./processor.js in the testResultsProcessor option was not found.'],
    ['throws', { 'processor.js': "throw new Error('it rains')" }, 'it rains'],
  ])('by a command of the project fails if the configured processor %s, as by hand', async (_, files, reason) => {
    const config = { 'jest.config.js': "module.exports = { testResultsProcessor: './processor.js' }" }
    const run = await runJest({ ...config, ...files, 'a.test.js': PASSES }, { command: 'npx jest' })
    expect([run.status, run.cases]).toEqual(['FAILED', ['PASSED passes']])
    expect(run.message).toContain(reason)
  })
})
