import { isAbsolute } from 'node:path'
import { type GitOptions, readGit } from '../machine/git.ts'
import { MARKER_VARIABLE } from '../machine/processes.ts'
import { argvOf } from '../machine/script.ts'
import { quote, quoteCommand } from '../text.ts'
import { findReports } from './find-reports.ts'
import type { Framework, FrameworkSettings } from './framework.ts'
import type { ResultReader } from './reading.ts'

// Every test tool that writes JUnit files: the project's own command runs it, and its exit code decides.

/** Why JUnit files cannot be read with these settings, as sentences. */
export function whyRefusedForJunit({ report = '', args, merge }: FrameworkSettings): string | undefined {
  const patterns = linesOf(report)
  if (patterns.length === 0) return '"report" is empty. Give the JUnit file that "command" or an earlier step writes.'
  if (merge !== undefined)
    return '"merge" is for Vitest and Playwright Test. To merge JUnit files, give "report" without "command".'
  const absolute = patterns.find((pattern) => isAbsolute(pattern))
  if (absolute !== undefined) return `"report" is ${quote(absolute)}. Give a path from the project's folder.`
  return args.length > 0
    ? `"args" has ${quote(args[0])}, but "command" is the whole command. Write the arguments there.`
    : undefined
}

const linesOf = (report: string) => report.split('\n').flatMap((line) => line.trim() || [])

const GIT_SECONDS = 60

/** The files of the repository, each with a zero byte behind it. Empty without a repository, and if git takes too long. */
function listFiles(git: GitOptions, reader: ResultReader): Promise<string> {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard']
  const { signal } = reader.createLimit(GIT_SECONDS)
  // While a run is stopped, the processes with its marker are killed. So this git has no marker then.
  const env = git.signal?.aborted ? { ...git.env, [MARKER_VARIABLE]: undefined } : git.env
  return readGit(args, { ...git, env, signal }).catch(() => '')
}

export const junit: Framework = {
  name: 'junit',
  title: 'JUnit files',
  packages: [],
  oldestVersion: '0',
  async prepareCall({ command, folders, git, report = '' }) {
    const patterns = linesOf(report)
    const before = command === undefined ? [] : await findReports(patterns, folders.folder)
    const old = new Set(before.flatMap(({ files }) => files.map(({ fingerprint }) => fingerprint)))
    return {
      argv: command === undefined ? undefined : argvOf(command),
      title: command !== undefined ? quoteCommand(command) : 'reading the JUnit files',
      replacesReporters: false,
      readJunitFiles: async (end, reader) =>
        reader.read('junit', {
          patterns,
          folders,
          old,
          end,
          repositoryFiles: await listFiles(git, reader),
        }),
    }
  },
}
