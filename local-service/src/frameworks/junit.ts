import { isAbsolute } from 'node:path'
import type { CommandEnd } from '../machine/command.ts'
import { readGit } from '../machine/git.ts'
import { argvOf } from '../machine/script.ts'
import { quote, quoteCommand } from '../text.ts'
import { findReports } from './find-reports.ts'
import type { Framework, FrameworkSettings } from './framework.ts'
import { STOPPED_SECONDS } from './reading.ts'

// Every test tool that writes JUnit files: the project's own command runs it, and its exit code decides.

function whyRefused({ report = '', args, merge }: FrameworkSettings): string | undefined {
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

/** The files of the repository, each with a zero byte behind it. Empty without a repository, and if git takes too long. */
function listFiles(root: string, env: NodeJS.ProcessEnv, end: CommandEnd): Promise<string> {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard']
  // The client that stops a run waits for git too.
  const signal = end.kind === 'cut-off' ? AbortSignal.timeout(STOPPED_SECONDS * 1000) : undefined
  return readGit(args, { root, env, signal }).catch(() => '')
}

export const junit: Framework = {
  name: 'junit',
  title: 'JUnit files',
  packages: [],
  oldestVersion: '0',
  refuse: whyRefused,
  async run({ command, folders, personEnv, report = '' }) {
    const patterns = linesOf(report)
    const before = command === undefined ? [] : await findReports(patterns, folders.folder)
    const old = new Set(before.flatMap(({ files }) => [...files.keys()]))
    return {
      argv: command === undefined ? undefined : argvOf(command),
      title: command !== undefined ? quoteCommand(command) : 'reading the JUnit files',
      replacesReporters: false,
      readReport: async (end, thread) =>
        thread.read('junit', {
          patterns,
          folders,
          old,
          end,
          repositoryFiles: await listFiles(folders.root, personEnv, end),
        }),
    }
  },
}
