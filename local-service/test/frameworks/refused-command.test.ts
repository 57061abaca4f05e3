import { describe, expect, it } from 'vitest'
import { readConfiguration } from '../../src/settings/configuration.ts'
import { folderWith, runProject, WEB_SHOP } from '../support/a-local-service.ts'

const read = (settings: object, folder = WEB_SHOP) =>
  readConfiguration({ projects: { shop: { folder, ...settings } } }, WEB_SHOP).projects.get('shop')

describe('a command that starts a framework', () => {
  it.each([
    ['npx vitest --config ci.mjs', []],
    ['npx vitest run --config "ci.mjs"', ['--retry=1']],
  ])('gets what the service adds at its end: %j', async (command, args) => {
    const files = {
      'ci.mjs': "export default { test: { name: 'ci', include: ['*.check.js'] } }",
      'a.check.js': "import { test } from 'vitest'\ntest('adds', () => {})",
    }
    const { status, titles } = await runProject(files, { framework: 'vitest', command, args })
    expect([status, titles]).toEqual(['PASSED', ['[ci] > adds']])
  })

  it('may name the command of Playwright', async () => {
    const files = { 'a.spec.js': "import { test } from '@playwright/test'\ntest('adds', () => {})" }
    const { status, titles } = await runProject(files, { framework: 'playwright', command: 'npx playwright test' })
    expect([status, titles]).toEqual(['PASSED', ['adds']])
  })

  it.each([
    ['vitest', 'NODE_OPTIONS=--no-warnings yarn vitest --config ci.ts'],
    ['vitest', ['npx', '-p', 'vitest@3', 'vitest', 'run']],
    ['playwright', 'docker compose run shop npx playwright test --workers=2 2>&1'],
  ])('of %s may be %j', (framework, command) => {
    expect(read({ framework, command })?.command).toEqual(command)
  })

  const SIMPLE =
    'but it must be one simple command, because the service adds options at its end. Give everything else a step of its own.'
  const CLOSE = 'Close it, or leave it out.'
  it.each([
    ['vitest', `yarn vitest 'a`, `"command" has a "'" that is not closed: \`yarn vitest 'a\`. ${CLOSE}`],
    ['vitest', 'npm run build && npx vitest', `"command" has "&&", ${SIMPLE}`],
    ['vitest', 'npm run build\r\nnpx vitest', `"command" has several lines, ${SIMPLE}`],
    [
      'vitest',
      'npx vitest watch',
      '"command" has "watch", which does not run the tests once. Write "run", or leave it out.',
    ],
    ['vitest', ['npx', 'vitest', 'list'], '"command" has "list", which does not run the tests once.'],
    ['vitest', 'npx vitest run --watch', '"command" has "--watch". The run would not end. Leave it out.'],
    [
      'playwright',
      'npx playwright test --project=a',
      '"command" has "--project=a". Each run names its framework projects',
    ],
    [
      'playwright',
      ['node', '.bin/playwright', 'install'],
      '"command" has "install", which does not run the tests once.',
    ],
    ['vitest', ' \n', '"projects.shop.command": It is empty.'],
  ])('of %s is refused if it cannot do what a run needs: %j', (framework, command, reason) => {
    expect(() => read({ framework, command })).toThrow(reason)
  })

  it('has no command of Playwright beside the one that merges', () => {
    const settings = { framework: 'playwright', command: 'npx playwright test', merge: 'all' }
    expect(() => read(settings)).toThrow('"command" has "test", but a merge needs another command of Playwright.')
  })

  it.each([
    ['npm test', { test: 'vitest run --coverage' }, '"npx vitest run --coverage".'],
    ['npm run -s unit', { unit: 'NODE_ENV=test vitest' }, '"NODE_ENV=test npx vitest".'],
    ['yarn test', { test: 'vitest' }, '"yarn vitest".'],
    [['pnpm', 'run', 'test'], { test: 'node build.js && vitest' }, '"pnpm exec vitest run".'],
    [
      'npm t',
      { test: 'npx vitest run', pretest: 'tsc' },
      '"npx vitest run". Its script "pretest" does not run then, so ',
    ],
  ])('%j is refused if it runs a script of package.json, and the sentence says what to write', async (command, scripts, instead) => {
    const folder = await folderWith({ 'package.json': JSON.stringify({ scripts }) })
    const settings = { framework: 'vitest', command }
    expect(() => read(settings, folder)).toThrow(
      `which runs the script ${JSON.stringify(Object.values(scripts)[0])} of package.json. The service adds options at the end of the command, so write the command itself: ${instead}`,
    )
  })

  it('may have the name of a package manager if it runs no script', async () => {
    const folder = await folderWith({ 'package.json': '{"scripts": {"test": "vitest"}}' })
    for (const command of ['yarn vitest', 'npm exec vitest', 'pnpm vitest run']) {
      expect(read({ framework: 'vitest', command }, folder)?.command).toBe(command)
    }
  })
})
