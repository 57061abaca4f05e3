import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  watch,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { aRepository } from '../../../test/support/git-repository.ts'
import { addWorkTree, forgetWorkTree } from '../../src/checkout/work-tree.ts'
import { isAlive, PLAIN_ENV, pidsIn, temporaryFolder, until } from '../support/a-local-service.ts'

// local-service/test/life/branches.test.ts tests work trees with git.

describe("git's record of a work tree", () => {
  let git: string
  let record: string

  beforeEach(() => {
    git = join(temporaryFolder(), '.git')
    record = join(git, 'worktrees/id')
    for (const folder of [record, join(git, 'objects')]) mkdirSync(folder, { recursive: true })
    writeFileSync(join(git, 'HEAD'), '')
    writeFileSync(join(record, 'gitdir'), '/tree/id/.git\n')
    writeFileSync(join(record, 'index'), '')
  })

  const forget = () => forgetWorkTree('/tree/id', git)

  it.each<[string, () => void]>([
    ['if it is whole', () => undefined],
    ['if git was killed before it had written which tree it is of', () => writeFileSync(join(record, 'gitdir'), '')],
    ['if the service was killed while it removed the record', () => rmSync(join(record, 'gitdir'))],
  ])('goes %s', async (_, prepare) => {
    prepare()
    await forget()
    expect(existsSync(record)).toBe(false)
  })

  it('stays, and nothing waits, if tests have put a named pipe into it', async () => {
    rmSync(join(record, 'gitdir'))
    execFileSync('mkfifo', [join(record, 'gitdir')])
    await expect(forget()).rejects.toThrow('gitdir is not a regular file')
    expect(existsSync(join(record, 'index'))).toBe(true)
  })

  const move = (path: string) => {
    const moved = join(temporaryFolder(), 'moved')
    renameSync(path, moved)
    symlinkSync(moved, path)
  }

  it.each<[string, () => void]>([
    ['its folder is not of git', () => rmSync(join(git, 'HEAD'))],
    ['it is a link', () => move(record)],
    ['the folder of all records is a link', () => move(join(git, 'worktrees'))],
    ['it is of another tree', () => writeFileSync(join(record, 'gitdir'), '/somewhere/.git')],
  ])('stays if %s', async (_what, spoil) => {
    spoil()
    await forget()
    expect(readdirSync(record)).toEqual(['gitdir', 'index'])
  })

  // Only there does the system name each file that goes, in the order in which it goes.
  it.runIf(process.platform === 'linux')('is no record to other git commands while it goes', async () => {
    const { folder, git: inFolder } = await aRepository({ 'a.txt': '' })
    const path = join(temporaryFolder(), 'tree')
    await inFolder('worktree', 'add', '--quiet', path, 'other')
    const gone: (string | null)[] = []
    const watcher = watch(join(folder, '.git/worktrees/tree'), (_event, name) => gone.push(name))
    onTestFinished(() => watcher.close())
    await forgetWorkTree(path, join(folder, '.git'))
    await until(() => gone.includes('commondir') && gone.includes('HEAD'))
    expect(gone[0]).toBe('gitdir')
  })
})

describe('work trees of one repository', () => {
  /** They find this script in place of git. It has a HOME of its own. */
  async function withOwnGit(script: string) {
    const { folder } = await aRepository({ 'a.txt': '' })
    const [home, gitFolder] = [temporaryFolder(), join(folder, '.git')]
    writeFileSync(join(home, 'git'), `#!/bin/sh\n${script}`, { mode: 0o755 })
    const treeOf = (name: string) => join(home, name)
    const add = (name: string, signal?: AbortSignal, PATH = `${home}:${PLAIN_ENV.PATH}`) => {
      const env = { PATH, HOME: home, LOCAL_SERVICE_RUN_ID: treeOf(name) }
      return addWorkTree({ gitFolder, commit: 'other' }, treeOf(name), treeOf(name), { root: folder, env, signal })
    }
    const remove = (name: string) => forgetWorkTree(treeOf(name), gitFolder)
    return { home, add, remove, list: () => readdirSync(join(gitFolder, 'worktrees')) }
  }

  it('are made and removed in turn, because git would fail', async () => {
    // It takes its time, and notes how many work trees there are at its beginning and at its end.
    const { home, add, remove } = await withOwnGit(`
      note() { echo "$1 $(ls .git/worktrees | wc -w)" >> "$HOME/log"; }
      note begins
      sleep 0.2
      PATH="\${PATH#*:}" git "$@" || exit
      note ends`)
    const notes = () => readFileSync(join(home, 'log'), 'utf8').trim().split('\n')
    await add('first')
    const second = add('second')
    await until(() => notes().length === 3)
    await Promise.all([second, remove('first'), add('third')])
    expect(notes()).toEqual(['begins 0', 'ends 1', 'begins 1', 'ends 2', 'begins 1', 'ends 2'])
  })

  it('can be made after one whose making was stopped at the worst time', async () => {
    // Another git command cannot read what this script has written so far.
    const { home, add, list } = await withOwnGit(`
      mkdir -p .git/worktrees/first && cd .git/worktrees/first
      echo "$HOME/first/.git" > gitdir && : > commondir
      sleep 300 &
      echo $! > "$HOME/pid"
      wait`)
    const stop = new AbortController()
    const stopped = add('first', stop.signal)
    const pids = await pidsIn(join(home, 'pid'))
    const second = add('second', undefined, PLAIN_ENV.PATH)
    stop.abort()
    await expect(stopped).rejects.toThrow('git worktree failed: it was stopped')
    expect(pids.map(isAlive)).toEqual([false])
    await second
    expect(list()).toEqual(['second'])
  })
})
