import { isAbsolute, relative } from 'node:path'

/** Whether a path is the folder or below it, by their names only. The caller must look for links. */
export function isInside(path: string, folder: string): boolean {
  const fromFolder = relative(folder, path)
  // For another drive of Windows, `relative` returns an absolute path.
  return !/^\.\.([/\\]|$)/.test(fromFolder) && !isAbsolute(fromFolder)
}
