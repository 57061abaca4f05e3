import { execFile } from 'node:child_process'

type GitResult = { readonly kind: 'ok'; readonly output: string } | { readonly kind: 'failed'; readonly reason: string }

interface GitOptions {
  /** git runs in this folder. */
  readonly root: string
  readonly env: NodeJS.ProcessEnv
  /** Ends the command. Without a signal, a time limit ends it. */
  readonly signal?: AbortSignal | undefined
}

/** A hook or a file system monitor would be a program that nobody expects to run when tests are started. */
const ALWAYS = ['-c', 'core.hooksPath=/dev/null', '-c', 'core.fsmonitor=false']
const OUTPUT_LIMIT_BYTES = 64 * 1024 * 1024
const LIMIT_MS = 60_000

export function tryGit(args: readonly string[], { root, env, signal }: GitOptions): Promise<GitResult> {
  const options = {
    cwd: root,
    env: { ...env, GIT_TERMINAL_PROMPT: '0', LC_ALL: 'C' },
    maxBuffer: OUTPUT_LIMIT_BYTES,
    signal: signal ?? AbortSignal.timeout(LIMIT_MS),
    killSignal: 'SIGKILL',
  } as const
  return new Promise((resolve) => {
    execFile('git', [...ALWAYS, ...args], options, (error, stdout, stderr) => {
      if (error === null) resolve({ kind: 'ok', output: stdout.replace(/\n$/, '') })
      else if (error.name !== 'AbortError') resolve({ kind: 'failed', reason: stderr.trim() || error.message })
      else resolve({ kind: 'failed', reason: signal ? 'it was stopped' : `it took longer than ${LIMIT_MS / 1000} s` })
    })
  })
}

export async function git(args: readonly string[], options: GitOptions): Promise<string> {
  const result = await tryGit(args, options)
  if (result.kind === 'failed') throw new Error(`git ${args[0]} failed: ${result.reason}`)
  return result.output
}
