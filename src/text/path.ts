import { isAbsolute, relative } from 'node:path'

/** Whether `path` is `root` or below it, by their names only. The caller must look for links. */
export function isInside(root: string, path: string): boolean {
  const fromRoot = relative(root, path)
  return fromRoot === '' || (!/^\.\.([/\\]|$)/.test(fromRoot) && !isAbsolute(fromRoot))
}
