import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { read } from '../documents/documents.ts'
import { aRepository, type GitRepository } from '../support/git-repository.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

// The scripts need Bash, as on GitHub's Linux.
describe.skipIf(process.platform === 'win32')('the workflow Release', () => {
  let folder: string
  /** A clone whose remote is a folder beside it. */
  let clone: GitRepository
  const push = (ref: string) => clone.git('push', '--quiet', 'origin', ref)

  beforeEach(async () => {
    folder = temporaryFolder()
    clone = await aRepository({
      'package.json': '{ "version": "1.2.0" }',
      'CHANGELOG.md':
        '## Unreleased\n\n## 1.2.0 - 2026-02-03\n\n- New.\n\n### Old\n\n## 1.1.0 - 2026-01-02\n\n- Older.\n',
    })
    await clone.git('init', '--quiet', '--bare', join(folder, 'origin'))
    await clone.git('remote', 'add', 'origin', join(folder, 'origin'))
    await push('main')
  })

  test('releases a commit of main', () => {
    expect(step('test', 'check')).toMatchObject({ status: 0, stdout: '' })
  })

  test.each([
    ['a tag with another version', () => {}, 'v1.3.0', 'The tag is v1.3.0, but package.json says 1.2.0.'],
    ['a commit that is not on main', () => commit(), 'v1.2.0', 'The commit of v1.2.0 is not on main.'],
    [
      'a version that has no date in the changelog',
      () => clone.write({ 'CHANGELOG.md': '## 1.2.0 - not released yet\n' }),
      'v1.2.0',
      'CHANGELOG.md has no section 1.2.0 with a date.',
    ],
    [
      'pages without a publisher',
      async () => {
        await clone.commit({ 'README.md': '- uses: OWNER/test-run-action@v1' })
        await push('main')
      },
      'v1.2.0',
      'Pages say OWNER in place of the publisher.',
    ],
  ] as const)('refuses %s', async (_, change, tag, error) => {
    await change()
    expect(step('test', 'check', tag)).toMatchObject({ status: 1, stdout: `::error::${error}\n` })
  })

  test('creates the release with the notes of the changelog and the commit to pin, and only once', async () => {
    await push('HEAD:refs/tags/v1.2.0')
    for (const _ of ['first attempt', 'second attempt']) {
      const { status, stderr } = step('publish', 'publish')
      expect(status, stderr).toBe(0)
    }
    const notes = join(folder, 'notes.md')
    expect(read(join(folder, 'created'))).toBe(`v1.2.0 --verify-tag --title v1.2.0 --notes-file ${notes}\n`)
    expect(read(notes)).toMatch(/^\n?- New\.\n\n### Old\n\n/)
    expect(read(notes)).toContain(
      `\n\nThe commit of this release, to pin in \`uses:\` lines, is \`${await head()} # v1.2.0\`.\n`,
    )
  })

  test('moves v1 to each newer release, and never back to an older one', async () => {
    const commitOf = async (tag: string) => (await clone.git('ls-remote', 'origin', `refs/tags/${tag}`)).split('\t')[0]
    const released = async (tag: string) => {
      await commit()
      await push(`HEAD:refs/tags/${tag}`)
      expect(step('publish', 'publish', tag).status).toBe(0)
      return commitOf('v1')
    }
    expect(await released('v1.2.0')).toBe(await head())
    expect(await released('v1.10.0')).toBe(await head())
    const newest = await head()
    expect(await released('v1.9.0')).toBe(newest)
    expect(await released('v2.0.0')).toBe(newest)
    expect(await commitOf('v2')).toBe(await head())
  })

  /** Runs a step's script as the workflow does. Its `gh` remembers whether a release was created. */
  function step(job: 'test' | 'publish', id: string, tag = 'v1.2.0') {
    const { steps } = parse(read('.github/workflows/release.yml')).jobs[job]
    const { run } = steps.find((one: { id?: string }) => one.id === id)
    const gh = `gh() {
      case "$1 $2" in
        'release view') grep --quiet "^$3 " '${folder}/created' ;;
        'release create') shift 2; echo "$*" >> '${folder}/created' ;;
      esac
    }`
    const env = { ...process.env, GITHUB_REF_NAME: tag, RUNNER_TEMP: folder }
    return spawnSync('bash', ['-e', '-c', `${gh}\n${run}`], { cwd: clone.folder, env, encoding: 'utf8' })
  }

  const head = () => clone.git('rev-parse', 'HEAD')
  const commit = () => clone.git('commit', '--quiet', '--allow-empty', '--message', 'Change')
})
