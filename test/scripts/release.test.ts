import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { dateUnreleased, notesOf } from '../../scripts/changelog.ts'
import { ROOT, read } from '../docs/documents.ts'
import { type GhFolder, ghFolder } from '../support/gh-folder.ts'
import { HAS_COMMANDS } from '../support/github-commands.ts'

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

  test('gives the first release its date, and has no notes of it before', () => {
    const waiting = '## Unreleased\n\n## 1.0.0 - not released yet\n\nThe first release.\n'
    expect(() => notesOf(waiting, '1.0.0')).toThrow('1.0.0 is not released yet')
    const dated = dateUnreleased(waiting, '1.0.0', '2026-02-03')
    expect(dated).toBe('## Unreleased\n\n## 1.0.0 - 2026-02-03\n\nThe first release.\n')
    expect(notesOf(dated, '1.0.0')).toBe('The first release.')
  })

  test('has no notes for a release without a section', () => {
    expect(() => notesOf(FIRST, '1.0')).toThrow('says nothing about 1.0:')
  })
})

const PAGES = ['local-service/README.md']
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
  expect(versions(ROOT)).toEqual(Array(6).fill(version))
  const lock = JSON.parse(read('package-lock.json'))
  for (const page of PAGES) {
    mkdirSync(dirname(join(clone, page)), { recursive: true })
    cpSync(join(ROOT, page), join(clone, page))
  }
  for (const entry of [lock, lock.packages['']]) entry.version = '1.2.0' // as npm does
  write('package-lock.json', JSON.stringify(lock))
  execFileSync(process.execPath, [join(ROOT, 'scripts/set-version.ts')], { cwd: clone })
  expect(versions(clone)).toEqual(Array(6).fill('1.2.0'))
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
    const commit = git('rev-parse', 'HEAD')
    expect(stdout).toContain(`- uses: octo-org/test-run-action@${commit} # v1.2.0\n`)
    expect(stdout).toContain(`- uses: octo-org/test-run-action/local-service@${commit} # v1.2.0\n`)
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

  describe.skipIf(!HAS_COMMANDS)('with a GitHub CLI that records its calls', () => {
    const RELEASES = 'repos/octo-org/test-run-action/releases'
    const CHANGES = /^api --method|^release (create|delete)/

    /** Runs a step's script for the tag v1.2.0, and returns the calls that change something. */
    function run(job: string, id: string, folder: GhFolder, lines = '') {
      const { run: script, env } = stepOf(job, id)
      const context = { repository: 'octo-org/test-run-action', ref_name: 'v1.2.0', token: 't' }
      const variables = Object.entries(env as Record<string, string>).map(
        ([name, value]) =>
          `export ${name}='${value.replace(/\$\{\{ github\.(\w+) \}\}/g, (_, field: keyof typeof context) => context[field])}'`,
      )
      const { status, stdout, stderr } = folder.run(
        [...variables, 'export GITHUB_REF_NAME=v1.2.0', lines, script].join('\n'),
      )
      const calls = folder.calls().map(({ args }) => args)
      return { status, stdout, stderr, changes: calls.filter((args) => CHANGES.test(args)) }
    }

    const released = (...tags: readonly string[]) => tags.map((tag_name) => ({ tag_name, draft: false }))

    test('moves the major tag to the commit of the newest release', () => {
      const folder = ghFolder({
        [RELEASES]: released('v1.2.0', 'v2.0.0', 'v1.1.9'),
        'commits/v1.2.0': { sha: 'c0ffee' },
      })
      expect(run('major', 'major', folder)).toMatchObject({
        status: 0,
        changes: [
          'api --method PATCH repos/octo-org/test-run-action/git/refs/tags/v1 -f sha=c0ffee -F force=true --silent',
        ],
      })
    })

    test('creates the major tag with the first release', () => {
      const folder = ghFolder({ [RELEASES]: released('v1.2.0'), 'commits/v1.2.0': { sha: 'c0ffee' } })
      folder.fail({ PATCH: 'HTTP 422: Reference does not exist' })
      const { status, changes } = run('major', 'major', folder)
      expect(status).toBe(0)
      expect(changes.at(-1)).toBe(
        'api --method POST repos/octo-org/test-run-action/git/refs -f ref=refs/tags/v1 -f sha=c0ffee --silent',
      )
    })

    test('never moves the major tag back, and does not wait for a newer release that is a draft', () => {
      const newer = ghFolder({ [RELEASES]: released('v1.10.0', 'v1.2.0') })
      expect(run('major', 'major', newer)).toMatchObject({
        status: 0,
        stdout: 'v1 stays: v1.10.0 is newer than v1.2.0.\n',
        changes: [],
      })
      const draft = [...released('v1.2.0'), { tag_name: 'v1.3.0', draft: true }]
      const folder = ghFolder({ [RELEASES]: draft, 'commits/v1.2.0': { sha: 'c0ffee' } })
      expect(run('major', 'major', folder).changes).toHaveLength(1)
    })

    test('fails if the app may not move the tag', () => {
      const folder = ghFolder({ [RELEASES]: released('v1.2.0'), 'commits/v1.2.0': { sha: 'c0ffee' } })
      folder.fail({ 'api --method': 'HTTP 403: Resource not accessible by integration' })
      expect(run('major', 'major', folder).status).not.toBe(0)
    })

    test.each([
      ['there is none', {}, { 'release view': 'release not found' }, [/^release create v1\.2\.0 --verify-tag /]],
      [
        'an earlier attempt has left a draft',
        { 'release view': { isDraft: true } },
        {},
        [/^release delete v1\.2\.0 --yes$/, /^release create /],
      ],
      ['it is published already', { 'release view': { isDraft: false } }, {}, []],
    ] as const)('publishes the release if %s', (_, responses, failures, changes) => {
      const folder = ghFolder(responses)
      folder.fail(failures)
      const prepare = 'export RUNNER_TEMP=$PWD; mkdir release; node() { echo notes; }'
      const result = run('publish', 'publish', folder, prepare)
      expect(result.status, result.stderr).toBe(0)
      expect(result.changes).toEqual(changes.map((call) => expect.stringMatching(call)))
    })
  })
})

/** Runs a step's script as the workflow does, with a GitHub CLI that does nothing. */
function step(job: string, id: string, tag: string) {
  const { run } = stepOf(job, id)
  const env = { ...process.env, GITHUB_REF_NAME: tag, GITHUB_REPOSITORY: 'octo-org/test-run-action' }
  const result = spawnSync('bash', ['-e', '-c', `gh() { :; }\n${run}`], { cwd: clone, env, encoding: 'utf8' })
  return { status: result.status, stdout: result.stdout }
}

function stepOf(job: string, id: string) {
  const { jobs } = parse(read('.github/workflows/release.yml'))
  return jobs[job].steps.find((one: { id?: string }) => one.id === id)
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
