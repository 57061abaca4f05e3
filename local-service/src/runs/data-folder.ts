import { mkdirSync, mkdtempSync, realpathSync, statSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { ConfigurationError } from '../configuration.ts'
import type { Project } from '../project.ts'
import { quote } from '../text.ts'
import { foldersBetween, isInside, repositoryFolderOf } from '../workspace/paths.ts'
import { describeStoreError, openRunStore } from './run-store.ts'

const WRITABLE_BY_GROUP = 0o020
const WRITABLE_BY_OTHERS = 0o002

/**
 * Opens the folder for the runs and, while they run, their work trees and reports. With `none`, the runs are kept in
 * memory, and the folder is temporary and lies beside the default. Throws a ConfigurationError if the folder cannot be
 * used.
 */
export function openDataFolder(setting: string | undefined, defaultFolder: string, projects: Iterable<Project>) {
  const isInMemory = setting === 'none'
  const folder = isInMemory ? defaultFolder : (setting ?? defaultFolder)
  try {
    refuseInsideProject(folder, projects)
    const path = isInMemory
      ? mkdtempSync(join(createPrivateFolder(dirname(folder)), `${basename(folder)}-`))
      : createPrivateFolder(folder)
    const store = openRunStore(isInMemory ? undefined : path)
    const close = async () => {
      store.close()
      if (isInMemory) await rm(path, { recursive: true, force: true, maxRetries: 3 })
    }
    return { path, store, close }
  } catch (error) {
    throw toConfigurationError(error, folder)
  }
}

/** An error of the system or SQLite becomes a message for whoever chose the folder. Other errors are returned unchanged. */
export function toConfigurationError(error: unknown, folder: string): unknown {
  return error instanceof Error && 'code' in error ? new ConfigurationError(describeStoreError(error, folder)) : error
}

/** The message advises the user of the command. The action has no option `--data`, so it gives other advice. */
export class DataFolderInRepository extends ConfigurationError {
  readonly problem: string
  readonly repository: string

  constructor(problem: string, repository: string) {
    const example = join(dirname(repository), 'test-run-service-data')
    super(`${problem} Choose a folder outside ${repository} with --data, such as ${example}.`)
    this.problem = problem
    this.repository = repository
  }
}

/**
 * Node looks for packages in all folders above a work tree. If the data folder were in a repository, the tests of a branch
 * would find the repository's installed packages.
 */
function refuseInsideProject(folder: string, projects: Iterable<Project>): void {
  const path = realPathOf(folder)
  for (const { id, folder: projectFolder } of projects) {
    const root = repositoryFolderOf(projectFolder)
    if (!isInside(path, root)) continue
    const problem =
      `The data folder ${path} lies in ${root} of project ${quote(id)}. Tests could change the data, and tests in work trees ` +
      `would find the packages of ${root}.`
    throw new DataFolderInRepository(problem, root)
  }
}

/** The folder need not exist yet. */
function realPathOf(folder: string): string {
  return isFolder(folder) ? realpathSync(folder) : join(realPathOf(dirname(folder)), basename(folder))
}

/** Creates a folder that only the user can enter, unless it exists, and returns its real path. */
export function createPrivateFolder(folder: string): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  return realpathSync(folder)
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

/**
 * The first folder, from this folder up, in which other users can create files. Undefined if there is no such folder. Node
 * looks for packages in every folder above a test, so these users could run code in the tests.
 */
export function findSharedFolder(folder: string): string | undefined {
  return foldersBetween(folder, '/').find((at) => {
    const { mode, uid, gid } = statSync(at)
    const belongsToUser = uid === process.getuid?.() || uid === 0
    // On many systems, each user has a group of their own. This group can write to new folders.
    const others = gid === process.getgid?.() ? WRITABLE_BY_OTHERS : WRITABLE_BY_OTHERS | WRITABLE_BY_GROUP
    return !belongsToUser || (mode & others) !== 0
  })
}
