import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
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
    mkdirSync(record, { recursive: true })
    writeFileSync(join(record, 'gitdir'), '/tree/id/.git\n')
  })

  const forget = () => forgetWorkTree('/tree/id', git)

  it.each([
    ['is whole', () => undefined],
    ['was half written when git was killed', () => rmSync(join(record, 'gitdir'))],
    ['has gone already', () => rmSync(record, { recursive: true })],
    [
      'was half removed when the service was killed',
      () => {
        mkdirSync(join(git, 'id'))
        rmSync(record, { recursive: true })
      },
    ],
  ])('goes if it %s, and the records of other work trees stay', async (_, prepare) => {
    mkdirSync(join(git, 'worktrees/other'))
    prepare()
    await forget()
    expect(readdirSync(git, { recursive: true })).toEqual(['worktrees', 'worktrees/other'])
  })

  it('goes as a link, and what is behind the link stays', async () => {
    const other = temporaryFolder()
    writeFileSync(join(other, 'gitdir'), '')
    rmSync(record, { recursive: true })
    symlinkSync(other, record)
    await forget()
    expect([existsSync(record), existsSync(join(other, 'gitdir'))]).toEqual([false, true])
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
