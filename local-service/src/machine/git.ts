import { messageOf } from '../../../src/text/untrusted.ts'
import { callProgram } from './program.ts'

export interface GitOptions {
  /** git runs in this folder. */
  readonly folder: string
  readonly env: NodeJS.ProcessEnv
  /** Ends the command. Without a signal, a time limit ends it. */
  readonly signal?: AbortSignal | undefined
  /** A file in place of the repository's own index. */
  readonly index?: string | undefined
  /** A folder in place of the repository's own files. */
  readonly workTree?: string | undefined
}

/** A hook or a file system monitor would be a program that nobody expects to run when tests are started. */
const NO_PROGRAMS = ['-c', 'core.hooksPath=/dev/null', '-c', 'core.fsmonitor=false']
/** git would write a part of a split index to the repository, also if `index` is elsewhere. */
const ALWAYS = [...NO_PROGRAMS, '-c', 'core.splitIndex=false']
/**
 * git refuses the repository of another user, which is usual in container jobs, because the configuration of a repository can name
 * programs. A command that only reads starts none of them.
 */
const READS = ['-c', 'safe.directory=*']
const LIMIT_MS = 60_000

/** For a command that changes nothing in the repository. */
export function readGit(args: readonly string[], options: GitOptions): Promise<string> {
  return git(args, options, [...ALWAYS, ...READS])
}

/** For a command that changes the repository. */
export async function git(
  args: readonly string[],
  { folder, env, signal, index, workTree }: GitOptions,
  config = ALWAYS,
): Promise<string> {
  // If a git hook starts the service, these three variables are set, and git would use them and not the folder:
  // https://git-scm.com/docs/githooks
  const ofRepository = { GIT_DIR: undefined, GIT_WORK_TREE: workTree, GIT_INDEX_FILE: index }
  const options = { folder, env: { ...env, ...ofRepository, GIT_TERMINAL_PROMPT: '0', LC_ALL: 'C' } }
  try {
    const output = await callProgram(['git', ...config, ...args], { ...options, limitMs: LIMIT_MS, stop: signal })
    return output.replace(/\n$/, '')
  } catch (error) {
    throw new Error(`git ${args[0]} failed: ${messageOf(error)}`)
  }
}
