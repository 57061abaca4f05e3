import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { commandFoldersOf } from '../workspace/packages.ts'
import type { Place } from '../workspace/work-tree.ts'
import type { RunResources } from './run-resources.ts'

/** The person's own environment, without the variables by which a git hook ties git commands to its own repository. */
export function personalEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !GIT_VARIABLES.test(name)))
}

/** The list of `git rev-parse --local-env-vars`, without the variables that no hook sets. */
const GIT_VARIABLES =
  /^GIT_(DIR|WORK_TREE|INDEX_FILE|PREFIX|COMMON_DIR|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|CONFIG(_COUNT|_PARAMETERS)?)$/s

/**
 * What every test process has. Outside containers, it has the person's environment. In a container, it has almost nothing,
 * because the image brings its own.
 */
export function baseEnvironment(
  { testsTemporaryFolder: folder }: RunResources,
  person: NodeJS.ProcessEnv | undefined,
): NodeJS.ProcessEnv {
  const temporary = { TMPDIR: folder, TMP: folder, TEMP: folder }
  if (person !== undefined) return { CI: 'true', ...person, ...temporary }
  // If the image does not know the user, the user has no home folder. But npm, for example, writes to the home folder.
  return { CI: 'true', ...(process.getuid?.() === 0 ? {} : { HOME: folder }), ...temporary }
}

/** An environment whose PATH begins with the project's own commands. */
export function withProjectCommands(env: NodeJS.ProcessEnv, place: Place): NodeJS.ProcessEnv {
  const path = [...commandFoldersOf(place), ...(env.PATH === undefined ? [] : [env.PATH])]
  return { ...env, PATH: path.join(delimiter) }
}

export function findExecutable(name: string, { PATH = '' }: NodeJS.ProcessEnv): string | undefined {
  return PATH.split(delimiter)
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, name))
    .find(isExecutable)
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    // A folder can be executable too.
    return statSync(file).isFile()
  } catch {
    return false
  }
}
