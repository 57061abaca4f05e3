import { execFile } from 'node:child_process'

type GitResult = { readonly kind: 'ok'; readonly output: string } | { readonly kind: 'failed'; readonly reason: string }

export interface GitOptions {
  readonly folder: string
  /** Its git folder. Without it, git searches from the folder up, and may find a repository that a test made. */
  readonly gitFolder?: string | undefined
  readonly env: NodeJS.ProcessEnv
  readonly input?: string
  /** The encoding of input and output. */
  readonly encoding?: 'utf8' | 'latin1'
  /** Ends the command. Without a signal, a time limit ends it. */
  readonly signal?: AbortSignal | undefined
}

/**
 * git runs no hook and no file system monitor. It uses no bare repository that lies among a project's files. It prints file
 * names unquoted.
 */
const ALWAYS = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'safe.bareRepository=explicit',
  'core.quotePath=false',
]
const OUTPUT_LIMIT_BYTES = 64 * 1024 * 1024
const LIMIT_MS = 60_000

export function tryGit(
  args: readonly string[],
  { folder, gitFolder, env, input, encoding = 'utf8', signal }: GitOptions,
): Promise<GitResult> {
  const place = gitFolder === undefined ? [] : [`--git-dir=${gitFolder}`, `--work-tree=${folder}`]
  return new Promise((resolve) => {
    const child = execFile(
      'git',
      [...ALWAYS.flatMap((setting) => ['-c', setting]), ...place, ...args],
      {
        cwd: folder,
        encoding,
        env: { ...env, GIT_TERMINAL_PROMPT: '0', LC_ALL: 'C' },
        maxBuffer: OUTPUT_LIMIT_BYTES,
        signal: signal ?? AbortSignal.timeout(LIMIT_MS),
        killSignal: 'SIGKILL',
      },
      (error, stdout, stderr) => {
        if (error === null) resolve({ kind: 'ok', output: stdout.replace(/\n$/, '') })
        else if (error.name !== 'AbortError') resolve({ kind: 'failed', reason: stderr.trim() || error.message })
        else resolve({ kind: 'failed', reason: signal ? 'it was stopped' : `it took longer than ${LIMIT_MS / 1000} s` })
      },
    )
    // git may exit before it has read all input.
    child.stdin?.on('error', () => undefined)
    child.stdin?.end(input ?? '', encoding)
  })
}

/** Runs a git command that must succeed and returns its output. */
export async function git(args: readonly string[], options: GitOptions): Promise<string> {
  const result = await tryGit(args, options)
  if (result.kind === 'failed') throw new Error(`git ${args[0]} failed: ${result.reason}`)
  return result.output
}
