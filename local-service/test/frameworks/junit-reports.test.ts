import { cpSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, it } from 'vitest'
import { gitIn } from '../../../test/support/git-repository.ts'
import { temporaryFolder } from '../../../test/support/temporary-folder.ts'
import { beginJunitRun } from '../support/a-junit-run.ts'

// Each folder of junit-reports has a project, and what a tool wrote and printed when it tested this project. `runs.json` says
// which tool that was, and how it exited. `cases.txt` is what the service makes of it. For each test case it has the status, the
// title, the place and the first line of the reason.

const REPORTS = join(import.meta.dirname, 'junit-reports')
/** The folder of the project in all files. */
const FOLDER = '/home/runner/work/shop/shop'
/** Its project is for the workflow "Nightly" only, because nobody could run the tool here. */
const NOT_RECORDED = 'nextest'

interface Recorded {
  readonly tool: string
  readonly report: string
  readonly exitCode: number
}

/** The project as a repository, with reports that are not older than the run. */
async function read(name: string, { tool, report, exitCode }: Recorded): Promise<string> {
  const folder = temporaryFolder()
  await gitIn(folder, 'init', '--quiet')
  const isOurs = (path: string) => !/(?:runs\.json|cases\.txt|\.out\.txt)$/.test(path)
  const isReport = (path: string) => globSync(report, { cwd: join(REPORTS, name) }).some((one) => path.endsWith(one))
  cpSync(join(REPORTS, name), folder, { recursive: true, filter: (path) => isOurs(path) && !isReport(path) })
  const readReport = await beginJunitRun(report, { root: folder, folder })
  cpSync(join(REPORTS, name), folder, { recursive: true, filter: isOurs })
  for (const path of globSync(report, { cwd: folder })) {
    const xml = readFileSync(join(REPORTS, name, path), 'utf8')
    writeFileSync(join(folder, path), xml.replaceAll(FOLDER, folder))
  }
  const outputs = `${basename(report).replace(/-?\*?\.xml$/, '') || 'TEST'}.out.txt`
  const [file = ''] = globSync(outputs, { cwd: join(REPORTS, name) })
  const output = file === '' ? '' : readFileSync(join(REPORTS, name, file), 'utf8').replaceAll(FOLDER, folder)
  const { testCases = [], problem, errors = [] } = (await readReport(exitCode, output)) ?? {}
  const lines = testCases.map(({ status, title, filePath, line, message = '' }) => {
    const place = filePath === undefined ? '' : ` | ${filePath}${line === undefined ? '' : `:${line}`}`
    return `${status} ${title}${place}${message === '' ? '' : ` | ${message.split('\n', 1)[0]}`}`
  })
  const others = [...(problem === undefined ? [] : [problem]), ...errors].map((text) => text.replace(/^/gm, '| '))
  return [`# ${tool}: exit code ${exitCode}`, ...lines, ...others, ''].join('\n').replaceAll(folder, FOLDER)
}

const names = globSync('*', { cwd: REPORTS }).filter((name) => name !== NOT_RECORDED)
it.each(names.sort())('the report of a tool: %s', async (name) => {
  const runs: Recorded[] = JSON.parse(readFileSync(join(REPORTS, name, 'runs.json'), 'utf8'))
  const texts: string[] = []
  for (const run of runs) texts.push(await read(name, run))
  await expect(texts.join('\n')).toMatchFileSnapshot(join(REPORTS, name, 'cases.txt'))
})
