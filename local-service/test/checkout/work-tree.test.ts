import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { aRepository, type GitRepository, gitIn, writeFiles } from '../../../test/support/git-repository.ts'
import { makeWorkTree } from '../../src/checkout/work-tree.ts'
import { PLAIN_ENV, temporaryFolder } from '../support/a-local-service.ts'

// local-service/test/life/branches.test.ts tests runs in work trees.

/** On `main`. The branch `other` has another `a/1.txt`, and the tag `v1`. */
async function twoBranches(): Promise<GitRepository> {
  const repository = await aRepository({ 'a/1.txt': 'main', 'b/2.txt': 'main' })
  await repository.git('switch', '--quiet', 'other')
  await repository.commit({ 'a/1.txt': 'other' })
  await repository.git('tag', 'v1')
  await repository.git('switch', '--quiet', 'main')
  return repository
}

async function treeOf(folder: string, branch: string, env: NodeJS.ProcessEnv = {}) {
  const tree = join(temporaryFolder(), 'tree')
  const commit = await gitIn(folder, 'rev-parse', branch)
  await makeWorkTree(tree, commit, { folder, env: { ...PLAIN_ENV, ...env } })
  const files = readdirSync(tree, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.txt'))
  return {
    commit,
    files: files.sort(),
    text: readFileSync(join(tree, 'a/1.txt'), 'utf8'),
    git: (...args: string[]) => gitIn(tree, ...args),
  }
}

/** Each file below a folder, with its text. */
function contentOf(folder: string): Map<string, string> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return new Map(
    entries.map(({ parentPath, name }) => [join(parentPath, name), readFileSync(join(parentPath, name), 'latin1')]),
  )
}

describe('a work tree', () => {
  it('is one for git, with the branches and tags of the repository, and changes nothing there', async () => {
    const { folder, git: inFolder } = await twoBranches()
    // git would write a part of a split index to the repository.
    await inFolder('config', 'core.splitIndex', 'true')
    const before = contentOf(folder)
    const { commit, text, git } = await treeOf(folder, 'other')
    expect(contentOf(folder)).toEqual(before)
    expect([text, await git('rev-parse', 'HEAD'), await git('status', '--porcelain')]).toEqual(['other', commit, ''])
    expect([await git('describe', '--tags'), await git('diff', '--name-only', 'main')]).toEqual(['v1', 'a/1.txt'])
    expect(await git('rev-parse', '--abbrev-ref', 'HEAD')).toBe('HEAD')
  })

  it('has the filters of the repository, and what its sparse checkout selects', async () => {
    const { folder, git, commit } = await twoBranches()
    await git('switch', '--quiet', 'other')
    await commit({ '.gitattributes': '*.txt filter=up' })
    await git('switch', '--quiet', 'main')
    await git('config', 'filter.up.smudge', 'tr a-z A-Z')
    await git('sparse-checkout', 'set', 'a')
    const tree = await treeOf(folder, 'other')
    expect([tree.files, tree.text]).toEqual([['a/1.txt'], 'OTHER'])
  })

  it.each<[string, (repository: GitRepository) => Promise<string>]>([
    [
      'a work tree of git',
      async ({ git, folder }) => {
        await git('worktree', 'add', '--quiet', 'linked', 'v1')
        return join(folder, 'linked')
      },
    ],
    [
      'a submodule',
      async ({ folder }) => {
        const outer = await aRepository({ 'c.txt': '' })
        await outer.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', folder, 'inner')
        const inner = join(outer.folder, 'inner')
        await gitIn(inner, 'branch', 'other', 'origin/other')
        return inner
      },
    ],
    [
      'a shallow clone, in a folder of it',
      async ({ folder }) => {
        const clone = join(temporaryFolder(), 'clone')
        await gitIn(folder, 'clone', '--quiet', '--depth=1', '--no-single-branch', `file://${folder}`, clone)
        await gitIn(clone, 'branch', 'other', 'origin/other')
        return join(clone, 'b')
      },
    ],
  ])('can be of the repository of %s', async (_, prepare) => {
    const folder = await prepare(await twoBranches())
    const { text, git } = await treeOf(folder, 'other')
    expect([text, await git('status', '--porcelain')]).toEqual(['other', ''])
  })

  it.for(['--object-format=sha256', '--ref-format=reftable'])('can be of a repository with %s', async (format, {
    skip,
  }) => {
    const folder = temporaryFolder()
    const problem = await gitIn(folder, 'init', '--quiet', format).catch(String)
    skip(problem.includes('unknown option'), 'this git does not know the format')
    await writeFiles(folder, { 'a/1.txt': 'main' })
    await gitIn(folder, 'add', '--all')
    await gitIn(folder, 'commit', '--quiet', '-m', 'A commit')
    const { commit, git } = await treeOf(folder, 'HEAD')
    expect([await git('rev-parse', 'HEAD'), await git('status', '--porcelain')]).toEqual([commit, ''])
  })

  it('is refused of the repository of another user, whose settings could name programs', async () => {
    const { folder } = await twoBranches()
    // git asks for the variable in its own tests.
    const tree = treeOf(folder, 'other', { GIT_TEST_ASSUME_DIFFERENT_OWNER: '1' })
    await expect(tree).rejects.toThrow('fatal: detected dubious ownership')
  })
})
