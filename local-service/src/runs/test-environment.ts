import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { commandFoldersOf } from '../workspace/packages.ts'
import type { Place } from '../workspace/work-tree.ts'
import type { RunResources } from './run-resources.ts'

/**
 * The person's own environment. If npm started the service, the variables that npm adds for a script are left out. The
 * variables by which a git hook ties git commands to its own repository are left out too.
 */
export function personalEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const byNpm = env.npm_execpath !== undefined || env.npm_lifecycle_event !== undefined
  const entries = Object.entries(env).filter(
    ([name]) => !GIT_VARIABLES.test(name) && !(byNpm && NPM_VARIABLES.test(name)),
  )
  return { ...Object.fromEntries(entries), PATH: byNpm ? withoutNpmFolders(env.PATH) : env.PATH }
}

/** npm sets COLOR and EDITOR, whatever their values were before. */
const NPM_VARIABLES = /^(npm_.*|NODE|INIT_CWD|COLOR|EDITOR)$/s

/** The list of `git rev-parse --local-env-vars`, without the variables that no hook sets. */
const GIT_VARIABLES =
  /^GIT_(DIR|WORK_TREE|INDEX_FILE|PREFIX|COMMON_DIR|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|CONFIG(_COUNT|_PARAMETERS)?)$/s

/** npm puts its folders first. `node-gyp-bin` is the last of its folders. */
function withoutNpmFolders(path: string | undefined): string | undefined {
  const folders = path?.split(delimiter)
  return folders?.slice(folders.findLastIndex((folder) => folder.endsWith('node-gyp-bin')) + 1).join(delimiter)
}

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

/** An environment whose PATH begins with the chosen Node, if there is one, and the project's own commands. */
export function withProjectCommands(env: NodeJS.ProcessEnv, place: Place, node: string | undefined): NodeJS.ProcessEnv {
  const chosen = node === undefined ? [] : [dirname(node)]
  const path = [...chosen, ...commandFoldersOf(place), ...(env.PATH === undefined ? [] : [env.PATH])]
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
