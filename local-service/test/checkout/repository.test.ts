import { existsSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
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
    for (const folder of [tree, record, join(git, 'objects')]) mkdirSync(folder, { recursive: true })
    writeFileSync(join(git, 'HEAD'), '')
    writeFileSync(join(record, 'gitdir'), `${tree}/.git\n`)
    writeFileSync(join(record, 'index'), '')
  })

  it('goes with the tree', async () => {
    await removeWorkTree(tree, git)
    expect([tree, record].filter(existsSync)).toEqual([])
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
    await removeWorkTree(tree, git)
    expect([existsSync(tree), existsSync(join(record, 'gitdir')), existsSync(join(record, 'index'))]).toEqual([
      false,
      true,
      true,
    ])
  })
})
