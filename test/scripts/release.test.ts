import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { dateUnreleased, notesOf } from '../../scripts/changelog.ts'
import { ROOT, read } from '../docs/documents.ts'

const FIRST = '## 1.0.0 - 2026-01-02\n\n- The first release.\n'

describe('the changelog', () => {
  test('gets a dated section for what is not released, and an empty section above it', () => {
    const changelog = `# Changelog\n\n## Unreleased\n\n- New: $& and \`## a heading\`.\n\n${FIRST}`
    const dated = dateUnreleased(changelog, '1.1.0', '2026-02-03')
    const release = '## 1.1.0 - 2026-02-03\n\n- New: $& and `## a heading`.\n'
    expect(dated).toBe(`# Changelog\n\n## Unreleased\n\n${release}\n${FIRST}`)
    expect(notesOf(dated, '1.1.0')).toBe('- New: $& and `## a heading`.')
    expect(notesOf(dated, '1.0.0')).toBe('- The first release.')
  })

  test('without unreleased changes makes no release', () => {
    const changelog = `## Unreleased\n\n${FIRST}`
    expect(() => dateUnreleased(changelog, '1.1.0', '2026-02-03')).toThrow('has nothing under "## Unreleased"')
  })

  test('has no notes for a release without a section', () => {
    expect(() => notesOf(FIRST, '1.0')).toThrow('says nothing about 1.0:')
  })
})

const PAGES = ['local-service/README.md', 'docs/conformance.md']
const FILES = ['package.json', 'package-lock.json', 'local-service/package.json', 'src/version.ts', 'CHANGELOG.md']

let folder: string
/** A git repository whose remote is itself. */
let clone: string

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'release-')))
  clone = join(folder, 'clone')
  execFileSync('git', ['init', '--quiet', '--initial-branch=main', clone])
  git('remote', 'add', 'origin', '.')
  for (const file of [...FILES, 'scripts/changelog.ts', 'scripts/release-notes.ts']) {
    mkdirSync(dirname(join(clone, file)), { recursive: true })
    cpSync(join(ROOT, file), join(clone, file))
  }
  writeFileSync(join(clone, 'package.json'), '{ "version": "1.2.0", "type": "module" }')
  write('CHANGELOG.md', '## Unreleased\n\n- New.\n')
})

afterEach(() => rmSync(folder, { recursive: true, force: true }))

test('npm version writes the version everywhere, and the date to the changelog', () => {
  const { version } = JSON.parse(read('package.json'))
  expect(versions(ROOT)).toEqual(Array(7).fill(version))
  const lock = JSON.parse(read('package-lock.json'))
  for (const page of PAGES) {
    mkdirSync(dirname(join(clone, page)), { recursive: true })
    cpSync(join(ROOT, page), join(clone, page))
  }
  for (const entry of [lock, lock.packages['']]) entry.version = '1.2.0' // as npm does
  write('package-lock.json', JSON.stringify(lock))
  execFileSync(process.execPath, [join(ROOT, 'scripts/set-version.ts')], { cwd: clone })
  expect(versions(clone)).toEqual(Array(7).fill('1.2.0'))
  expect(notesOf(readFileSync(join(clone, 'CHANGELOG.md'), 'utf8'), '1.2.0')).toBe('- New.')
})

test('npm run owner writes the publisher only to pages, recipes and CODEOWNERS', () => {
  write('gate.yml', '- uses: OWNER/test-run-action@v1\n- uses: OWNER/test-run-action@v1 # OWNER\n')
  write('CODEOWNERS', '/dist/ @OWNER\n')
  mkdirSync(join(clone, '.github'))
  write('.github/CODEOWNERS', '/dist/ @OWNER\n')
  merge()
  execFileSync(process.execPath, [join(ROOT, 'scripts/set-owner.ts'), 'octo-org'], { cwd: clone })
  expect(git('diff', '--unified=0').match(/^\+[^+].*/gm)).toEqual([
    '+/dist/ @octo-org',
    '+- uses: octo-org/test-run-action@v1',
    '+- uses: octo-org/test-run-action@v1 # OWNER',
  ])
})

// The scripts need Bash, as on GitHub's Linux.
describe.skipIf(process.platform === 'win32')('the workflow Release', () => {
  beforeEach(() => {
    merge({ 'CHANGELOG.md': '## 1.2.0 - 2026-02-03\n\n- New.\n' })
  })

  test('accepts a tag that is on main and agrees with the files, and makes its notes', () => {
    const { status, stdout } = step('build', 'check', 'v1.2.0')
    expect(stdout).toMatch(/^- New\.\n\n/)
    expect(stdout).toContain(`- uses: octo-org/test-run-action@${git('rev-parse', 'HEAD')} # v1.2.0\n`)
    expect(stdout).toContain('gh release verify v1.2.0 --repo octo-org/test-run-action')
    expect(status).toBe(0)
  })

  test.each([
    ['is on a branch only', () => commit(), 'v1.2.0', '::error::v1.2.0 is not on main.'],
    ['names another version', () => {}, 'v1.3.0', '::error::The tag is v1.3.0 and package.json says v1.2.0'],
    [
      'has pages without a publisher',
      () => merge({ 'README.md': '- uses: OWNER/test-run-action@v1' }),
      'v1.2.0',
      '::error::Pages say',
    ],
  ])('refuses a tag that %s', (_, change, tag, error) => {
    change()
    const { status, stdout } = step('build', 'check', tag)
    expect([status, stdout]).toEqual([1, expect.stringContaining(error)])
  })

  test('moves the major tag to the newest release, and never back', () => {
    for (const tag of ['v1.2.0', 'v2.0.0']) git('tag', tag)
    expect(step('publish', 'major', 'v1.2.0').status).toBe(0)
    expect(git('ls-remote', 'origin', 'refs/tags/v1')).toContain(git('rev-parse', 'HEAD'))
    commit()
    git('tag', 'v1.10.0')
    expect(step('publish', 'major', 'v1.2.0').stdout).toBe('v1 stays: v1.10.0 is newer than v1.2.0.\n')
    expect(step('publish', 'major', 'v1.10.0').status).toBe(0)
    expect(git('ls-remote', 'origin', 'refs/tags/v1')).toContain(git('rev-parse', 'HEAD'))
  })
})

/** Runs a step's script as the workflow does, with a GitHub CLI that does nothing. */
function step(job: string, id: string, tag: string) {
  const { jobs } = parse(read('.github/workflows/release.yml'))
  const { run } = jobs[job].steps.find((one: { id?: string }) => one.id === id)
  const env = { ...process.env, GITHUB_REF_NAME: tag, GITHUB_REPOSITORY: 'octo-org/test-run-action' }
  const result = spawnSync('bash', ['-e', '-c', `gh() { :; }\n${run}`], { cwd: clone, env, encoding: 'utf8' })
  return { status: result.status, stdout: result.stdout }
}

function versions(root: string): unknown[] {
  const text = (file: string) => readFileSync(join(root, file), 'utf8')
  const lock = JSON.parse(text('package-lock.json'))
  return [
    ...[lock, lock.packages[''], lock.packages['local-service']].map(({ version }) => version),
    JSON.parse(text('local-service/package.json')).version,
    /'(.*)'/.exec(text('src/version.ts'))?.[1],
    ...PAGES.map((page) => /releases\/download\/v(.*?)\//.exec(text(page))?.[1]),
  ]
}

function git(...args: readonly string[]): string {
  const author = ['-c', 'user.name=Maintainer', '-c', 'user.email=maintainer@example.com', '-c', 'commit.gpgsign=false']
  return execFileSync('git', [...author, ...args], { cwd: clone, encoding: 'utf8', stdio: 'pipe' }).trim()
}

function commit(): void {
  git('add', '--all')
  git('commit', '--quiet', '--allow-empty', '--message', 'Change')
}

function merge(files: Readonly<Record<string, string>> = {}): void {
  for (const [file, text] of Object.entries(files)) write(file, text)
  commit()
  git('update-ref', 'refs/remotes/origin/main', 'HEAD')
}

function write(file: string, text: string): void {
  writeFileSync(join(clone, file), text)
}
