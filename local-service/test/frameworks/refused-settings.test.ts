import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readConfiguration } from '../../src/settings/configuration.ts'
import { folderWith, runProject, WEB_SHOP } from '../support/a-local-service.ts'

const oneTest = (title: string, from = 'vitest') => `import { test } from '${from}'\ntest('${title}', () => {})`

const read = (shop: object, folder = WEB_SHOP) =>
  readConfiguration({ projects: { shop: { folder, ...shop } } }, WEB_SHOP).projects.get('shop')

describe('arguments that look as if they broke a run', () => {
  const files = {
    'vitest.config.mjs': 'export default { test: { include: [] } }',
    'config/ci.mjs': `export default { test: { projects: [
      { test: { name: 'unit', include: ['*.test.js'] } }, { test: { name: 'slow', include: ['a.test.js'] } }] } }`,
    'a.test.js': oneTest('adds'),
    'b.test.js': oneTest('subtracts'),
  }
  const CONFIG = '--config=config/ci.mjs'

  it('of Vitest choose the configuration, the tests, and another reporter, and switch an option off', async () => {
    const reporter = ['--reporter=junit', '--outputFile=out/junit.xml']
    const args = [CONFIG, '-t', 'subtracts', '--watch=false', '--ui=false', ...reporter, 'b.test', '--']
    const run = await runProject(files, { framework: 'vitest', args })
    expect([run.status, run.titles]).toEqual(['PASSED', ['[unit] > subtracts']])
    expect(await readFile(join(run.folder, 'out/junit.xml'), 'utf8')).toContain('<')
  })

  it('of Vitest do not hide the framework projects of another configuration, also in a shard without a file of one', async () => {
    const request = { frameworkProjectName: 'Unit,slow' }
    const { status } = await runProject(files, { framework: 'vitest', args: [CONFIG, '--shard=2/2'], request })
    expect(status).toBe('PASSED')
  })

  it('of Playwright name another reporter, and leave the framework project of the run in force behind two dashes', async () => {
    const config = `export default { projects: [{ name: 'api' }, { name: 'admin' }] }`
    const ofPlaywright = { 'playwright.config.ts': config, 'a.spec.ts': oneTest('pays', '@playwright/test') }
    const settings = { framework: 'playwright', args: ['--reporter=html', '--output=out', '--', 'a.spec'] } as const
    const run = await runProject(ofPlaywright, { ...settings, request: { frameworkProjectName: 'admin' } })
    expect([run.status, run.titles]).toEqual(['PASSED', ['[admin] > pays']])
    expect(await readFile(join(run.folder, 'playwright-report/index.html'), 'utf8')).toContain('<')
  })

  it.each([
    ['vitest', [...'--coverage.reporter=text --coverage -c a.mjs --run -u --listen-to-me test'.split(' '), "-t=it's"]],
    ['vitest', ['', `-t="a" is b`, '--testNamePattern=accepts --force', '-t=sets --ui=false']],
    ['playwright', ['-gh', '--output-x', '-c', 'a.ts', '--test-list=a', '--workers=1', 'run', '--grep', 'a --list']],
    ['playwright', ['--grep=accepts --force']],
  ] as const)('of %s are taken: %j', (framework, args) => {
    expect(read({ framework, args })?.args).toEqual(args)
  })
})

describe('an argument that breaks a run', () => {
  const ENDLESS = 'The run would not end. Leave it out.'
  const NO_TEST = 'No test would run. Leave it out.'
  const PROJECTS = 'Each run names its framework projects itself. Give "framework-project" to the gate, or '
  const RESULTS = 'The service carries the results out itself. Leave it out, and let a reporter'
  it.each([
    ['vitest', ENDLESS, ['--watch', '-wu', '-uw', '--w', '--ui=true', '--inspect-brk=9229']],
    ['vitest', NO_TEST, ['--help', '--mergeReports', '--clear-cache', '--clearCache=true']],
    ['vitest', PROJECTS, ['-p']],
    ['vitest', 'Give each option as an argument of its own.', ['--config=a.mjs --shard=1/2']],
    ['playwright', ENDLESS, ['--ui', '--ui-port=0', '--debug']],
    ['playwright', NO_TEST, ['--list', '-V']],
    ['playwright', PROJECTS, ['--project=api']],
    ['jest', ENDLESS, ['--watchAll']],
    ['jest', NO_TEST, ['--listTests', '-ih']],
    ['jest', RESULTS, ['--json', '--outputFile=a.json', '--testResultsProcessor']],
    ['jest', PROJECTS, ['--selectProjects=unit']],
  ])('of %s is refused by name: %s', (framework, reason, refused) => {
    for (const argument of refused) {
      const message = `Project "shop" cannot be served: "args" has ${JSON.stringify(argument)}. ${reason}`
      expect(() => read({ framework, args: ['--retry=1', argument] })).toThrow(message)
    }
  })

  it.each([
    ['vitest', 'watch'],
    ['vitest', 'vitest'],
    ['playwright', 'test'],
  ])('of %s is refused if it is the command: %s', (framework, first) => {
    const message = `"args" has "${first}". The service names the command itself. Leave it out.`
    expect(() => read({ framework, args: [first] })).toThrow(message)
  })

  it.each([
    ['vitest', 'e2e', 'A merge of reports runs no test, so it takes no file and no filter.'],
    ['vitest', '--tagsFilter=slow', 'A merge of reports runs no test'],
    ['vitest', '-t=false', 'A merge of reports runs no test'],
    ['vitest', '--test-name-pattern=adds', 'A merge of reports runs no test'],
    ['playwright', '--grep=adds', 'A merge of reports runs no test, so it takes only --config and --reporter.'],
  ])('of %s is refused in a merge: %s', (framework, argument, reason) => {
    const args = ['--reporter', 'list', argument].slice(framework === 'vitest' ? 2 : 0)
    expect(() => read({ framework, merge: 'all', args })).toThrow(`"args" has "${argument}". ${reason}`)
  })

  it('is no option of the merge', () => {
    const settings = { framework: 'vitest', merge: 'all', args: ['--coverage', '--reporter=junit'] }
    expect(read(settings)?.merge).toBe('all')
    expect(read({ ...settings, framework: 'playwright', args: ['--reporter', 'html', '-c', 'b.ts'] })?.merge).toBe(
      'all',
    )
  })
})

describe('a command that starts a framework', () => {
  it('gets what the service adds at its end', async () => {
    const settings = { framework: 'vitest', command: 'npx vitest run --config "ci.mjs"', args: ['--retry=1'] } as const
    const files = {
      'ci.mjs': "export default { test: { name: 'ci', include: ['*.check.js'] } }",
      'a.check.js': oneTest('adds'),
    }
    const { status, titles } = await runProject(files, settings)
    expect([status, titles]).toEqual(['PASSED', ['[ci] > adds']])
  })

  it.each([
    'node node_modules/@playwright/test/cli.js test',
    'sh e2e.sh',
  ])('of Playwright gets no second "test", which would select only files with this word in their path: %s', async (command) => {
    const files = {
      'playwright.config.mjs':
        'console.log("words:", ...process.argv.slice(2).filter((word) => !word.startsWith("-")), "end")',
      'a.spec.js': oneTest('adds', '@playwright/test'),
      'e2e.sh': 'npx playwright test "$@"',
    }
    const { status, output } = await runProject(files, { framework: 'playwright', command })
    expect([status, output]).toEqual(['PASSED', expect.stringContaining('words: test end')])
  })

  it.each([
    'vitest',
    'playwright',
    'jest',
  ] as const)('of %s may not pass on what the service adds, and the message says so', async (framework) => {
    const files = { 'run.sh': 'echo "Error: of a test"; exit 1' }
    const { status, message } = await runProject(files, { framework, command: 'sh run.sh' })
    const start = `${framework} exited with code 1 without a report: Error: of a test. The "command" of the project may not have passed on`
    expect([status, message]).toEqual(['FAILED', expect.stringContaining(start)])
  })

  it.each([
    ['vitest', 'NODE_OPTIONS=--no-warnings yarn vitest --config ci.ts'],
    ['vitest', ['npx', '-p', 'vitest@3', 'vitest', 'run']],
    ['playwright', 'docker compose run playwright npx playwright test --workers=2 2>&1'],
    ['playwright', 'node playwright/start.js --list'],
    ['playwright', 'CI=1 npm exec playwright test -- --grep=cart'],
    ['vitest', 'npm exec -- vitest run'],
    ['vitest', 'cross-env CI=1 npm exec vitest run -- --retry=1'],
    ['vitest', 'env CI=1 npm exec vitest run -- --retry=1'],
    ['vitest', 'kubectl exec vitest -- npx vitest run'],
  ])('of %s may be %j', (framework, command) => {
    expect(read({ framework, command })?.command).toEqual(command)
  })

  const SIMPLE =
    'but it must be one simple command, because the service adds options at its end. Give everything else a step of its own.'
  it.each([
    ['vitest', 'npm run build && npx vitest', `"command" has "&&", ${SIMPLE}`],
    ['vitest', 'npm run build\r\nnpx vitest', `"command" has several lines, ${SIMPLE}`],
    [
      'vitest',
      `yarn vitest 'a`,
      `"command" has a "'" that is not closed: \`yarn vitest 'a\`. Close it, or leave it out.`,
    ],
    ['vitest', ['npx', 'vitest', 'list'], '"command" has "list". The service names the command itself. Leave it out.'],
    ['vitest', 'npx -p vitest@3 vitest list', '"command" has "list". The service names the command itself.'],
    ['vitest', 'npx vitest run --watch', '"command" has "--watch". The run would not end. Leave it out.'],
    ['playwright', 'npx playwright test --project=a', '"command" has "--project=a". Each run names its framework'],
    ['playwright', 'npx @playwright/test@1.50 test --list', '"command" has "--list". No test would run.'],
    [
      'playwright',
      'node node_modules/@playwright/test/cli.js test --ui',
      '"command" has "--ui". The run would not end.',
    ],
    ['vitest', 'node node_modules/vitest/dist/cli.js list', '"command" has "list". The service names the command'],
    [
      'playwright',
      'npx playwright test -- a.spec',
      '"command" is `npx playwright test -- a.spec`. Behind "--", nothing is an option,',
    ],
    [
      'vitest',
      'npm exec -- vitest run -- a.test',
      '"command" is `npm exec -- vitest run -- a.test`. Behind "--", nothing',
    ],
    [
      'vitest',
      'kubectl exec vitest -- npx vitest run -- a.test',
      '"command" is `kubectl exec vitest -- npx vitest run -- a.test`. Behind "--", nothing',
    ],
    ['jest', 'npx jest-cli --listTests', '"command" has "--listTests". No test would run.'],
    [
      'playwright',
      ['node', '.bin/playwright', 'install'],
      '"command" is `node .bin/playwright install`. Write the command "test" in it, as in `npx playwright test`, because the service adds only arguments.',
    ],
    ['vitest', ' \n', '"projects.shop.command": It is empty.'],
  ])('of %s is refused if it cannot do what a run needs: %j', (framework, command, reason) => {
    expect(() => read({ framework, command })).toThrow(reason)
  })

  it.each([
    [
      'playwright',
      'npx playwright test',
      'Write the command "merge-reports" in it, as in `npx playwright merge-reports`,',
    ],
    ['playwright', 'sh e2e.sh', 'To merge reports, it must name "playwright" itself,'],
    ['vitest', 'sh unit.sh', 'To merge reports, it must name "vitest" itself,'],
  ])('of %s is refused in a merge if it may do anything else: %s', (framework, command, reason) => {
    expect(() => read({ framework, command, merge: 'all' })).toThrow(`"command" is \`${command}\`. ${reason} because `)
  })

  it.each([
    ['playwright', 'npx playwright merge-reports --config=ci.ts'],
    ['vitest', 'npx vitest run --coverage'],
  ])('of %s may merge reports: %s', (framework, command) => {
    expect(read({ framework, command, merge: 'all' })?.command).toBe(command)
  })

  it.each([
    ['npm test', { test: 'vitest run --coverage' }, '"npx" before "vitest".'],
    ['CI=1 npm run -s unit', { unit: 'vitest' }, '"npx" before "vitest".'],
    [['pnpm', 'run', 'test'], { test: 'node build.js && vitest' }, '"pnpm exec" before "vitest".'],
    [
      'npm t',
      { test: 'vitest run', pretest: 'tsc' },
      '"npx" before "vitest". If there is a script "pretest", give it a step of its own.',
    ],
  ])('%j is refused if it runs a script of package.json, and the sentence says what to write', async (command, scripts, instead) => {
    const folder = await folderWith({ 'package.json': JSON.stringify({ scripts }) })
    const settings = { framework: 'vitest', command }
    expect(() => read(settings, folder)).toThrow(
      `which runs the script ${JSON.stringify(Object.values(scripts)[0])} of package.json. The service adds options at the end of the command, so write what the script runs, with ${instead}`,
    )
  })

  it('may have the name of a package manager if it runs no script', async () => {
    const folder = await folderWith({ 'package.json': '{"scripts": {"test": "vitest"}}' })
    for (const command of ['yarn vitest', 'npm exec vitest', 'pnpm vitest run']) {
      expect(read({ framework: 'vitest', command }, folder)?.command).toBe(command)
    }
  })
})
