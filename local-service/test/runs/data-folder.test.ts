import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { writeFiles } from '../../../test/support/git-repository.ts'
import { openDataFolder, refuseDataFolderIn } from '../../src/runs/data-folder.ts'
import { folderWith, temporaryFolder } from '../support/a-local-service.ts'
import { openStore } from '../support/a-run-store.ts'

describe('the data folder', () => {
  it('is opened by one service at a time', async () => {
    const { folder } = await openStore()
    const sentence = `Cannot use the data folder ${folder}: another service uses it. Choose another folder.`
    expect(() => openDataFolder(folder)).toThrow(sentence)
  })

  it.each([
    ['a file', { data: '' }],
    ['a folder without a database', { 'data/runs.sqlite': 'x'.repeat(5000) }],
  ])('is not opened in %s', async (_case, files) => {
    const folder = await folderWith(files as Record<string, string>)
    expect(() => openDataFolder(join(folder, 'data'))).toThrow(
      expect.objectContaining({
        name: 'ConfigurationError',
        message: expect.stringContaining(`Cannot use the data folder ${folder}/data: `),
      }),
    )
  })

  it('is not opened in a repository that the service serves', async () => {
    const folder = temporaryFolder()
    const shop = join(folder, 'project/packages/shop')
    mkdirSync(shop, { recursive: true })
    const data = join(folder, 'project/data')
    refuseDataFolderIn([{ folder: shop }], data)
    await writeFiles(folder, { 'project/.git/HEAD': '' })
    expect(() => refuseDataFolderIn([{ folder: shop }], data)).toThrow(
      `The data folder ${data} lies in ${folder}/project, so tests`,
    )
    expect(existsSync(data)).toBe(false)
  })
})
