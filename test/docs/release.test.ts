import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'

const SCRIPT = resolve(import.meta.dirname, '../../scripts/release.ts')

let folder: string
/** A clone of a bare remote, as a maintainer has it. */
let clone: string
/** Made once, and copied for each test. */
let template: string

beforeAll(() => {
  template = realpathSync(mkdtempSync(join(tmpdir(), 'release-template-')))
  clone = join(template, 'clone')
  execFileSync('git', ['init', '--quiet', '--bare', '--initial-branch=main', join(template, 'remote.git')])
  execFileSync('git', ['init', '--quiet', '--initial-branch=main', clone])
  git('remote', 'add', 'origin', '../remote.git')
  git('config', 'user.name', 'Maintainer')
  git('config', 'user.email', 'maintainer@example.com')
  git('config', 'commit.gpgsign', 'false')
  git('config', 'tag.gpgsign', 'false')
  mkdirSync(join(clone, 'src'))
  writeVersions('1.0.0')
  write('CHANGELOG.md', changelog('## 1.0.0 - 2026-01-02\n\n- The first release.\n'))
  merge('First')
})

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'release-')))
  clone = join(folder, 'clone')
  cpSync(template, folder, { recursive: true })
})

afterEach(() => {
  rmSync(folder, { recursive: true, force: true })
})

afterAll(() => {
  rmSync(template, { recursive: true, force: true })
})

describe('tag', () => {
  test('makes an annotated tag of the merged version and pushes it', () => {
    const { status, output } = release('tag')
    expect(output).toContain('Pushed v1.0.0')
    expect(status).toBe(0)
    expect(remoteTags()).toEqual(['v1.0.0'])
    expect(git('cat-file', '-t', 'v1.0.0')).toBe('tag')
    expect(git('rev-parse', 'v1.0.0^{commit}')).toBe(git('rev-parse', 'HEAD'))
  })

  test('in a dry run says what it would do, and does nothing', () => {
    const { status, output } = release('tag', '--dry-run')
    expect(status).toBe(0)
    expect(output).toContain('would run: git tag --annotate v1.0.0')
    expect(output).toContain('would run: git push origin refs/tags/v1.0.0')
    expect(git('tag', '--list')).toBe('')
    expect(remoteTags()).toEqual([])
  })

  test('refuses a tree that is not clean', () => {
    write('notes.txt', 'do not forget')
    refuses(release('tag'), 'The tree is not clean.')
  })

  test('refuses what is not merged', () => {
    write('src/more.ts', '')
    commit('Not pushed')
    refuses(release('tag'), 'HEAD is not what origin has as main.')
  })

  test('refuses pages that name no publisher, until one is put in', () => {
    write('README.md', '- uses: OWNER/test-run-action@v1\n')
    write('gate.yml', '- uses: OWNER/test-run-action@v1\n- uses: OWNER/test-run-action@v1\n')
    mkdirSync(join(clone, '.github'))
    write('.github/CODEOWNERS', 'dist/ @OWNER\n')
    merge('Pages')
    refuses(release('tag'), '.github/CODEOWNERS and 2 more still say OWNER.')
    refuses(release('owner', 'octo org'), '"octo org" is no user or organisation of GitHub.')
    expect(release('owner', 'octo-org')).toMatchObject({ status: 0, output: expect.stringContaining('into 3 files') })
    expect(readFileSync(join(clone, 'gate.yml'), 'utf8')).toBe('- uses: octo-org/test-run-action@v1\n'.repeat(2))
    expect(readFileSync(join(clone, '.github/CODEOWNERS'), 'utf8')).toBe('dist/ @octo-org\n')
    merge('A publisher')
    expect(release('tag').status).toBe(0)
  })

  test('refuses a stale dist', () => {
    writeVersions('1.0.0', { 'check-dist': 'node -e "process.exit(1)"' })
    merge('Forgot to build')
    refuses(release('tag'), 'dist/ is stale.')
  })

  test.each([
    ['src/version.ts', () => write('src/version.ts', "export const VERSION = '0.9.0'\n"), 'src/version.ts says 0.9.0'],
    ['package-lock.json', () => write('package-lock.json', '{"version":"0.9.0"}'), 'package-lock.json says no version'],
    [
      'a workspace',
      () => write('service/package.json', '{"version":"0.9.0"}'),
      'service/package.json says 0.9.0, and the release is 1.0.0',
    ],
    [
      'CHANGELOG.md',
      () => write('CHANGELOG.md', changelog('## 0.9.0 - 2026-01-01\n\n- Old.\n')),
      'CHANGELOG.md says 0.9.0',
    ],
    ['CHANGELOG.md without a release', () => write('CHANGELOG.md', '# Changelog\n'), 'CHANGELOG.md says no version'],
    [
      'CHANGELOG.md without notes',
      () => write('CHANGELOG.md', changelog('## 1.0.0 - 2026-01-02\n')),
      'CHANGELOG.md says nothing about 1.0.0',
    ],
  ])('refuses another version in %s', (_, change, sentence) => {
    change()
    merge('Mismatch')
    refuses(release('tag'), sentence)
  })

  test('refuses a version that is released, whether or not the tag is known here', () => {
    release('tag')
    git('tag', '--delete', 'v1.0.0')
    write('src/more.ts', '')
    merge('More')
    const { status, output } = release('tag')
    expect(output).toContain('The tag v1.0.0 exists. Tags of releases never move')
    expect(status).toBe(1)
    expect(git('ls-remote', 'origin', 'refs/tags/v1.0.0^{}')).toContain(git('rev-parse', 'HEAD~1'))
  })

  test('refuses a version below a released one', () => {
    git('push', '--quiet', 'origin', 'HEAD:refs/tags/v1.10.0')
    const { status, output } = release('tag')
    expect(output).toContain('1.0.0 is below 1.10.0, which is released.')
    expect(status).toBe(1)
    expect(remoteTags()).toEqual(['v1.10.0'])
  })

  test('names all reasons at once', () => {
    write('src/version.ts', "export const VERSION = '0.9.0'\n")
    const { output } = release('tag')
    expect(output).toContain('src/version.ts says 0.9.0')
    expect(output).toContain('The tree is not clean.')
  })
})

describe('prepare', () => {
  test('writes the version everywhere, dates the changelog and builds', () => {
    write('CHANGELOG.md', changelog('## 1.0.0 - 2026-01-02\n\n- The first release.\n', '- Something new.'))
    const { status, output } = release('prepare', '1.1.0')
    expect(output).toContain('Prepared 1.1.0.')
    expect(status).toBe(0)
    expect(JSON.parse(read('package.json')).version).toBe('1.1.0')
    expect(JSON.parse(read('package-lock.json'))).toMatchObject({
      version: '1.1.0',
      packages: { '': { version: '1.1.0' }, 'node_modules/service': { link: true }, service: { version: '1.1.0' } },
    })
    expect(JSON.parse(read('service/package.json')).version).toBe('1.1.0')
    expect(read('src/version.ts')).toBe("export const VERSION = '1.1.0'\n")
    expect(read('CHANGELOG.md')).toMatch(
      /^# Changelog\n\n## Unreleased\n\n## 1\.1\.0 - \d{4}-\d\d-\d\d\n\n- Something new\.\n\n## 1\.0\.0 - 2026-01-02\n\n- The first release\.\n$/,
    )
    expect(read('dist')).toBe('built from 1.1.0')
  })

  test('and after the merge its tag can be made', () => {
    release('tag')
    write('CHANGELOG.md', changelog('## 1.0.0 - 2026-01-02\n\n- The first release.\n', '- Something new.'))
    release('prepare', '1.1.0')
    merge('Release 1.1.0')
    expect(release('tag').status).toBe(0)
    expect(remoteTags()).toEqual(['v1.0.0', 'v1.1.0'])
    const commit = git('rev-parse', 'v1.1.0^{commit}')
    const { output } = release('notes', 'v1.1.0')
    expect(output).toMatch(/^- Something new\.\n\n/)
    expect(output).toContain(`- uses: OWNER/test-run-action@${commit} # v1.1.0\n`)
    expect(output).toContain('gh release verify v1.1.0 --repo OWNER/test-run-action')
  })

  test.each([
    ['1.0.0', 'is not above 1.0.0'],
    ['0.9.9', 'is not above 1.0.0'],
    ['v1.1.0', 'is no version'],
    ['1.1', 'is no version'],
    ['', 'is no version'],
  ])('refuses the version "%s"', (version, sentence) => {
    refuses(release('prepare', version), sentence)
    expect(git('status', '--porcelain')).toBe('')
  })

  test('refuses a release with nothing to say, and changes nothing', () => {
    refuses(release('prepare', '1.1.0'), 'CHANGELOG.md has nothing under "## Unreleased".')
    expect(git('status', '--porcelain')).toBe('')
  })
})

describe('check', () => {
  test('lets a tag through that is on main and names what is in the files', () => {
    release('tag')
    expect(release('check', 'v1.0.0')).toEqual({ status: 0, output: 'v1.0.0 may be published.\n' })
  })

  test('refuses a tag that somebody pushed from a branch', () => {
    git('switch', '--quiet', '--create', 'sideways')
    write('src/more.ts', '')
    commit('Never merged')
    git('tag', 'v1.0.0')
    expect(release('check', 'v1.0.0').output).toContain('v1.0.0 is not on main.')
  })

  test('refuses a tag that names another version', () => {
    git('tag', 'v2.0.0')
    expect(release('check', 'v2.0.0').output).toContain('package.json says 1.0.0, and the release is 2.0.0.')
  })

  test('refuses a name that is no tag of a release', () => {
    refuses(release('check', 'v1'), '"v1" is no tag of a release.')
  })
})

describe('move-major', () => {
  test('moves the major tag to the newest release, from release to release', () => {
    release('tag')
    release('move-major', 'v1.0.0')
    expect(git('ls-remote', 'origin', 'refs/tags/v1')).toContain(git('rev-parse', 'HEAD'))
    write('CHANGELOG.md', changelog('## 1.0.0 - 2026-01-02\n\n- The first release.\n', '- Something new.'))
    release('prepare', '1.1.0')
    merge('Release 1.1.0')
    release('tag')
    expect(release('move-major', 'v1.1.0').status).toBe(0)
    expect(git('ls-remote', 'origin', 'refs/tags/v1')).toContain(git('rev-parse', 'HEAD'))
  })

  test('does not move it back to an older one', () => {
    release('tag')
    git('push', '--quiet', 'origin', 'HEAD:refs/tags/v1.2.0')
    const { status, output } = release('move-major', 'v1.0.0')
    expect(output).toContain('v1 stays: v1.2.0 is newer than v1.0.0.')
    expect(status).toBe(0)
    expect(remoteTags()).not.toContain('v1')
  })

  test('in a dry run pushes nothing', () => {
    release('tag')
    expect(release('move-major', 'v1.0.0', '--dry-run').output).toContain('would run: git push --force origin')
    expect(remoteTags()).toEqual(['v1.0.0'])
  })
})

test('an unknown command is refused with the list of commands', () => {
  refuses(
    release('publish'),
    'Say what to do: owner NAME, prepare VERSION, tag, check TAG, notes TAG or move-major TAG.',
  )
})

test('the version of this repository is the same everywhere', () => {
  const root = resolve(import.meta.dirname, '../..')
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  expect(JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).version).toBe(version)
  expect(JSON.parse(readFileSync(join(root, 'local-service/package.json'), 'utf8')).version).toBe(version)
  expect(readFileSync(join(root, 'src/version.ts'), 'utf8')).toContain(`VERSION = '${version}'`)
  expect(readFileSync(join(root, 'CHANGELOG.md'), 'utf8')).toContain(`\n## ${version} - `)
})

function release(...args: readonly string[]): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [SCRIPT, ...args], { cwd: clone, encoding: 'utf8' })
  return { status, output: stdout + stderr }
}

function refuses({ status, output }: ReturnType<typeof release>, sentence: string): void {
  expect(output).toContain(sentence)
  expect(status).toBe(1)
  expect(remoteTags()).toEqual([])
}

function git(...args: readonly string[]): string {
  return execFileSync('git', args, { cwd: clone, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim()
}

function commit(message: string): void {
  git('add', '--all')
  git('commit', '--quiet', '--message', message)
}

function merge(message: string): void {
  commit(message)
  git('push', '--quiet', 'origin', 'HEAD:main')
}

function remoteTags(): string[] {
  const lines = git('ls-remote', '--tags', '--refs', 'origin').split('\n')
  return lines.flatMap((line) => line.split('refs/tags/')[1] ?? [])
}

function write(file: string, text: string): void {
  writeFileSync(join(clone, file), text)
}

function read(file: string): string {
  return readFileSync(join(clone, file), 'utf8')
}

function writeVersions(version: string, scripts: Readonly<Record<string, string>> = {}): void {
  const build = `node -e "fs.writeFileSync('dist', 'built from ' + JSON.parse(fs.readFileSync('package.json')).version)"`
  const manifest = {
    name: 'action',
    version,
    scripts: { build, 'check-dist': 'node -e 0', ...scripts },
    workspaces: ['service'],
  }
  write('package.json', JSON.stringify(manifest))
  mkdirSync(join(clone, 'service'), { recursive: true })
  write('service/package.json', JSON.stringify({ name: 'service', version }))
  const packages = { '': { version }, 'node_modules/service': { link: true }, service: { version } }
  write('package-lock.json', JSON.stringify({ name: 'action', version, packages }))
  write('src/version.ts', `export const VERSION = '${version}'\n`)
}

function changelog(releases: string, unreleased = ''): string {
  return `# Changelog\n\n## Unreleased\n\n${unreleased === '' ? '' : `${unreleased}\n\n`}${releases}`
}
