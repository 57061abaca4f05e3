import { execFile } from 'node:child_process'

export type GitResult =
  | { readonly kind: 'ok'; readonly output: string }
  | { readonly kind: 'failed'; readonly reason: string }

export interface GitOptions {
  readonly folder: string
  readonly env: NodeJS.ProcessEnv
  readonly input?: string
}

/** The repository's hooks must not run here, and file names are printed unquoted. */
const ALWAYS = ['-c', 'core.hooksPath=/dev/null', '-c', 'core.quotePath=false']
const OUTPUT_LIMIT_BYTES = 64 * 1024 * 1024

/** Runs a git command that may fail. */
export function tryGit(args: readonly string[], { folder, env, input }: GitOptions): Promise<GitResult> {
  return new Promise((resolve) => {
    const child = execFile(
      'git',
      [...ALWAYS, ...args],
      { cwd: folder, env: { ...env, GIT_TERMINAL_PROMPT: '0', LC_ALL: 'C' }, maxBuffer: OUTPUT_LIMIT_BYTES },
      (error, stdout, stderr) => {
        if (error === null) resolve({ kind: 'ok', output: stdout.replace(/\n$/, '') })
        else resolve({ kind: 'failed', reason: stderr.trim() || error.message })
      },
    )
    // git may exit before it has read all of it.
    child.stdin?.on('error', () => undefined)
    child.stdin?.end(input ?? '')
  })
}

/** Runs a git command that must succeed and returns its output. */
export async function git(args: readonly string[], options: GitOptions): Promise<string> {
  const result = await tryGit(args, options)
  if (result.kind === 'failed') throw new Error(`git ${args[0]} failed: ${result.reason}`)
  return result.output
}
