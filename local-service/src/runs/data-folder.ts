import { existsSync, realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { messageOf } from '../../../src/text/untrusted.ts'
import { isInside, repositoryFolderOf } from '../machine/paths.ts'
import { ConfigurationError } from '../settings/configuration.ts'
import type { Project } from '../settings/project.ts'
import { openRunStore, type RunStore } from './store.ts'

/** The result code of SQLite if another process has locked the database. */
const BUSY = 5

/** Opens the runs that are kept in a folder. Throws a ConfigurationError if the folder cannot be used. */
export function openDataFolder(dataFolder: string): RunStore {
  try {
    return openRunStore(dataFolder)
  } catch (error) {
    const isUsed = error instanceof Error && 'errcode' in error && error.errcode === BUSY
    const problem = isUsed ? 'another service uses it' : messageOf(error)
    throw new ConfigurationError(`Cannot use the data folder ${dataFolder}: ${problem}. Choose another folder.`)
  }
}

/**
 * Throws a ConfigurationError if the data folder is in a repository or a folder that the service serves. Node looks for
 * packages in all folders above a work tree. So the tests of a branch would find the repository's installed packages.
 */
export function refuseDataFolderIn(projects: readonly Pick<Project, 'folder'>[], dataFolder: string): void {
  const path = realPathOf(dataFolder)
  const root = projects.map(({ folder }) => repositoryFolderOf(folder)).find((folder) => isInside(path, folder))
  if (root === undefined) return
  throw new ConfigurationError(
    `The data folder ${path} lies in ${root}, so tests could change the data. Choose a folder outside ${root}. ` +
      'In a job, the data folder lies in RUNNER_TEMP.',
  )
}

/** The folder need not exist yet. */
function realPathOf(folder: string): string {
  return existsSync(folder) ? realpathSync(folder) : join(realPathOf(dirname(folder)), basename(folder))
}
