import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { removeWorkTree } from '../../src/checkout/repository.ts'
import { temporaryFolder } from '../support/a-local-service.ts'

// local-service/test/life/branches.test.ts tests work trees with git.

describe("git's record of a work tree", () => {
  let git: string
  let tree: string
  let record: string

  beforeEach(() => {
    git = join(temporaryFolder(), '.git')
    tree = join(temporaryFolder(), 'id')
    record = join(git, 'worktrees/id')
    for (const folder of [tree, record]) mkdirSync(folder, { recursive: true })
    writeFileSync(join(record, 'gitdir'), `${tree}/.git\n`)
    writeFileSync(join(record, 'index'), '')
  })

  it('goes with the tree, and that of another tree stays', async () => {
    const other = join(git, 'worktrees/other')
    mkdirSync(other)
    await removeWorkTree(tree, git)
    expect([tree, record, other].filter(existsSync)).toEqual([other])
  })

  it('goes too if git was killed before it had written which tree it is of', async () => {
    rmSync(record, { recursive: true })
    mkdirSync(record)
    writeFileSync(join(record, 'locked'), 'initializing')
    await removeWorkTree(tree, git)
    expect([tree, record].filter(existsSync)).toEqual([])
  })

  it('goes too if the service was killed while it removed the record', async () => {
    rmSync(join(record, 'gitdir'))
    await removeWorkTree(tree, git)
    expect([tree, record].filter(existsSync)).toEqual([])
  })
})
