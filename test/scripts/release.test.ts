import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { dateUnreleased, notesOf } from '../../scripts/changelog.ts'
import { ROOT, read } from '../documents/documents.ts'

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

const FILES = ['package.json', 'package-lock.json', 'local-service/package.json', 'src/version.ts', 'CHANGELOG.md']

let folder: string
/** A clone whose remote is a folder beside it. */
let clone: string

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'release-')))
  clone = join(folder, 'clone')
  execFileSync('git', ['init', '--quiet', '--bare', join(folder, 'origin')])
  execFileSync('git', ['init', '--quiet', '--initial-branch=main', clone])
  git('remote', 'add', 'origin', join(folder, 'origin'))
  for (const file of [...FILES, 'scripts/changelog.ts', 'scripts/release-notes.ts']) {
    mkdirSync(dirname(join(clone, file)), { recursive: true })
    cpSync(join(ROOT, file), join(clone, file))
  }
  write('package.json', '{ "version": "1.2.0", "type": "module" }')
  write('CHANGELOG.md', '## Unreleased\n\n- New.\n')
})

afterEach(() => rmSync(folder, { recursive: true, force: true }))

test('npm version writes the version everywhere, and the date to the changelog', () => {
  const { version } = JSON.parse(read('package.json'))
  expect(versions(ROOT)).toEqual(Array(5).fill(version))
  const lock = JSON.parse(read('package-lock.json'))
  for (const entry of [lock, lock.packages['']]) entry.version = '1.2.0' // as npm does
  write('package-lock.json', JSON.stringify(lock))
  execFileSync(process.execPath, [join(ROOT, 'scripts/set-version.ts')], { cwd: clone })
  expect(versions(clone)).toEqual(Array(5).fill('1.2.0'))
  expect(notesOf(readFileSync(join(clone, 'CHANGELOG.md'), 'utf8'), '1.2.0')).toBe('- New.')
})

test('npm run owner writes the publisher only to pages, recipes and CODEOWNERS', () => {
  write('gate.yml', '- uses: OWNER/test-run-action@v1\n- uses: OWNER/test-run-action@v1 # OWNER\n')
  write('CODEOWNERS', '/dist/ @OWNER/maintainers\n')
  mkdirSync(join(clone, '.github'))
  write('.github/CODEOWNERS', '/dist/ @OWNER/maintainers\n')
  commit()
  execFileSync(process.execPath, [join(ROOT, 'scripts/set-owner.ts'), 'octo-org'], { cwd: clone })
  expect(git('diff', '--unified=0').match(/^\+[^+].*/gm)).toEqual([
    '+/dist/ @octo-org/maintainers',
    '+- uses: octo-org/test-run-action@v1',
    '+- uses: octo-org/test-run-action@v1 # OWNER',
  ])
})

// The scripts need Bash, as on GitHub's Linux.
describe.skipIf(process.platform === 'win32')('the workflow Release', () => {
  beforeEach(() => {
    write('CHANGELOG.md', '## 1.2.0 - 2026-02-03\n\n- New.\n')
    commit()
  })

  describe('in the job Build', () => {
    test('accepts a commit of main, and gives the approver the changes and the notes', () => {
      git('tag', 'v1.1.9')
      commit()
      const { status, outputs, summary } = step('build', 'check')
      expect(status).toBe(0)
      expect(outputs).toBe('tag=v1.2.0\n')
      const head = git('rev-parse', 'HEAD')
      expect(summary).toContain(`https://github.com/octo-org/test-run-action/compare/v1.1.9...${head}`)
      expect(summary).toContain('\n- New.\n')
      expect(summary).toContain(`- uses: octo-org/test-run-action@${head} # v1.2.0\n`)
      expect(summary).toContain(`- uses: octo-org/test-run-action/local-service@${head} # v1.2.0\n`)
    })

    test('accepts the commit again after an attempt that has created the tag', () => {
      git('tag', 'v1.2.0')
      expect(step('build', 'check')).toMatchObject({ status: 0, outputs: 'tag=v1.2.0\n' })
    })

    test.each([
      ['a branch', () => {}, { GITHUB_REF: 'refs/heads/side' }, 'about refs/heads/side. Only main is released.'],
      [
        'a version that is released already',
        () => {
          git('tag', 'v1.2.0')
          commit()
        },
        {},
        'v1.2.0 is released already, from the commit',
      ],
      [
        'an older version',
        () => git('tag', 'v1.10.0'),
        {},
        'package.json says v1.2.0, but v1.10.0 is released already',
      ],
      [
        'pages without a publisher',
        () => {
          write('README.md', '- uses: OWNER/test-run-action@v1')
          commit()
        },
        {},
        'Pages say OWNER.',
      ],
    ] as const)('refuses %s', (_, change, variables, error) => {
      change()
      const { status, stdout, outputs } = step('build', 'check', variables)
      expect([status, stdout, outputs]).toEqual([1, expect.stringContaining(`::error::`), ''])
      expect(stdout).toContain(error)
    })
  })

  describe('in the job Publish', () => {
    const tagAt = (name: string) => git('ls-remote', 'origin', `refs/tags/${name}`).split('\t')[0]

    test('creates the tag of the release, and leaves a tag alone that is there', () => {
      const first = git('rev-parse', 'HEAD')
      for (const _ of ['first attempt', 'second attempt']) expect(step('publish', 'tag').status).toBe(0)
      expect(tagAt('v1.2.0')).toBe(first)
      commit()
      expect(step('publish', 'tag').status).not.toBe(0)
      expect(tagAt('v1.2.0')).toBe(first)
    })

    test('creates the major tag, and moves it with the next release', () => {
      for (const tag of ['v1.2.0', 'v1.10.0']) {
        commit()
        for (const id of ['tag', 'major']) expect(step('publish', id, { TAG: tag }).status).toBe(0)
        expect(tagAt('v1')).toBe(git('rev-parse', 'HEAD'))
      }
      expect(tagAt('v1')).toBe(tagAt('v1.10.0'))
    })

    test('never moves the major tag back to an older release', () => {
      for (const id of ['tag', 'major']) step('publish', id, { TAG: 'v1.10.0' })
      const newest = tagAt('v1')
      commit()
      step('publish', 'tag')
      expect(step('publish', 'major')).toMatchObject({ status: 0, stdout: 'v1 stays: v1.10.0 is newer than v1.2.0.\n' })
      expect(tagAt('v1')).toBe(newest)
    })

    test.each([
      ['there is none', '', ['release create v1.2.0 --verify-tag']],
      [
        'an earlier attempt has left a draft',
        'true',
        ['release delete v1.2.0 --yes', 'release create v1.2.0 --verify-tag'],
      ],
      ['it is published already', 'false', []],
    ])('publishes the release if %s', (_, draft, changes) => {
      const calls = join(folder, 'calls')
      const gh = `gh() {
        if test "$2" = view; then echo '${draft}'; test -n '${draft}'; else echo "$*" >> '${calls}'; fi
      }`
      const { status, stderr } = step('publish', 'publish', {}, gh)
      expect(status, stderr).toBe(0)
      const made = existsSync(calls) ? readFileSync(calls, 'utf8').trim().split('\n') : []
      expect(made).toEqual(changes.map((call) => expect.stringMatching(new RegExp(`^${call}`))))
    })
  })
})

/** Runs a step's script for the newest commit, as the workflow does. */
function step(job: string, id: string, variables: Readonly<Record<string, string>> = {}, prelude = '') {
  const { run } = parse(read('.github/workflows/release.yml')).jobs[job].steps.find(
    (one: { id?: string }) => one.id === id,
  )
  const [outputs, summary] = [join(folder, 'outputs'), join(folder, 'summary')]
  for (const file of [outputs, summary]) writeFileSync(file, '')
  const env = {
    ...process.env,
    GITHUB_SERVER_URL: 'https://github.com',
    GITHUB_REPOSITORY: 'octo-org/test-run-action',
    GITHUB_REF: 'refs/heads/main',
    GITHUB_SHA: git('rev-parse', 'HEAD'),
    GITHUB_OUTPUT: outputs,
    GITHUB_STEP_SUMMARY: summary,
    RUNNER_TEMP: folder,
    TAG: 'v1.2.0',
    ...variables,
  }
  const { status, stdout, stderr } = spawnSync('bash', ['-e', '-c', `${prelude}\n${run}`], {
    cwd: clone,
    env,
    encoding: 'utf8',
  })
  return { status, stdout, stderr, outputs: readFileSync(outputs, 'utf8'), summary: readFileSync(summary, 'utf8') }
}

function versions(root: string): unknown[] {
  const text = (file: string) => readFileSync(join(root, file), 'utf8')
  const lock = JSON.parse(text('package-lock.json'))
  return [
    ...[lock, lock.packages[''], lock.packages['local-service']].map(({ version }) => version),
    JSON.parse(text('local-service/package.json')).version,
    /'(.*)'/.exec(text('src/version.ts'))?.[1],
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

function write(file: string, text: string): void {
  writeFileSync(join(clone, file), text)
}
