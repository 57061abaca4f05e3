import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { prepareStep } from '../../tools/runner-emulator/runner.ts'
import { ROOT, read } from '../docs/documents.ts'
import { patientRunner } from '../support/scenario.ts'

// Tests what `npm run example-repository` makes, and what its pull requests show. Both built actions run.

const temporary = realpathSync(mkdtempSync(join(tmpdir(), 'example-')))
const folder = join(temporary, 'web-shop')

function make(argument = folder) {
  const author = { GIT_AUTHOR_NAME: 'A', GIT_AUTHOR_EMAIL: 'a@example.com' }
  const committer = { GIT_COMMITTER_NAME: 'A', GIT_COMMITTER_EMAIL: 'a@example.com' }
  return spawnSync(process.execPath, [join(ROOT, 'scripts/example-repository.ts'), argument], {
    env: { ...process.env, ...author, ...committer },
    encoding: 'utf8',
  })
}

const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: folder, encoding: 'utf8' })

beforeAll(() => {
  const { status, stderr } = make()
  // A machine's npm may warn of its own settings.
  expect(status, stderr).toBe(0)
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
})

afterAll(() => rmSync(temporary, { recursive: true }))

test('it is a clean repository with everything that its workflow needs', () => {
  expect(git('status', '--porcelain')).toBe('')
  expect(git('ls-files').split('\n')).toEqual(
    expect.arrayContaining(['.github/workflows/tests.yml', 'README.md', 'package-lock.json', 'ruleset.json']),
  )
  const { scripts, devDependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const { packages } = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8'))
  expect(scripts.test).toBe('vitest run')
  expect(packages[''].devDependencies).toEqual(devDependencies)
  expect(Object.keys(packages)).toContain('node_modules/vitest')
  expect(Object.keys(packages)).not.toContain('node_modules/@actions/core')
})

describe('its pull request', () => {
  const page = read('examples/repository/README.md')

  test.each([
    ['green', 'success', '✅ Tests passed: 15 of 16, 1 skipped'],
    ['red', 'failure', '❌ Tests failed: 2 of 16'],
    ['cancelled', 'cancelled', '🚫 Step cancelled'],
  ])('%s shows what its README says', async (branch, conclusion, headline) => {
    git('checkout', '--quiet', '--detach', branch)
    await using service = prepareStep({ actionDir: join(ROOT, 'local-service'), workspace: folder })
    const { outputs: inputs } = await service.startMain().result()
    await using step = prepareStep({ workspace: folder, tempDir: service.tempDir, inputs, sleep: patientRunner })
    const interruption = branch === 'cancelled' ? { on: /RUNNING/, by: 'cancel' as const } : undefined
    const { main } = await step.run(interruption)
    expect(main.conclusion).toBe(conclusion)
    expect(main.summary.split('\n')[0]).toBe(`## ${headline}`)
    expect(page).toContain(headline)
    expect(await service.runPost()).toMatchObject({ conclusion: 'success' })
  })
})

test('a folder that exists is not changed', () => {
  expect(make()).toMatchObject({ status: 1, stderr: expect.stringContaining('is not a new folder') })
})

test('its command has a --help, which makes nothing', () => {
  expect(make('--help')).toMatchObject({
    status: 0,
    stdout: expect.stringContaining('Usage: npm run example-repository'),
  })
})
