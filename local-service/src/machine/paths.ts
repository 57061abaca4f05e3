import { existsSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

export interface TestedFolders {
  /** Places in files start here. */
  readonly root: string
  /** The project's folder. Titles of files start here. */
  readonly folder: string
}

/** Whether a path is the folder or below it, by their names only. The caller must look for links. */
export function isInside(path: string, folder: string): boolean {
  return !/^\.\.(\/|$)/.test(relative(folder, path))
}

/** A folder and those above it, up to `root`. */
export function foldersBetween({ folder, root }: TestedFolders): string[] {
  const folders = [folder]
  for (let at = folder; at !== root && at !== dirname(at); at = dirname(at)) folders.push(dirname(at))
  return folders
}

/** Finds the repository's folder without git. If there is no repository, returns the folder itself. */
export function repositoryFolderOf(folder: string): string {
  return foldersBetween({ folder, root: '/' }).find((at) => existsSync(join(at, '.git'))) ?? folder
}
