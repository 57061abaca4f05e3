// Measures what a step costs. `--write` puts the results into README.md beside this file. No test checks them.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { arch, availableParallelism, cpus, loadavg, platform, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { selfSignedCertificate } from '../test/support/self-signed-certificate.ts'
import {
  createProject,
  createShardedProject,
  PROJECTS,
  type Project,
  SHARDED_PROJECTS,
  timeActions,
  timeByHand,
} from './local-service.ts'
import { observeStep, type StepUse, timeEmptyStep, timeStep } from './measured-step.ts'
import { requestsOfAnHour } from './output.ts'

const [STARTS, LARGE_RUNS, JOBS, HISTORY_FILES] = [25, 3, 9, 10]
const STATUSES = ['PASSED', 'PASSED', 'PASSED', 'FAILED', 'PASSED', 'PASSED', 'SKIPPED', 'PASSED', 'PASSED', 'PASSED']

type Row = readonly [what: string, goal: string, isReached: boolean, result: string]

/** What a step costs without its run. The kinds of steps take turns, so that a busy moment of the machine affects all. */
async function startUp(folder: string): Promise<Row[]> {
  const tls = selfSignedCertificate()
  const authority = join(folder, 'authority.pem')
  writeFileSync(authority, tls.cert)
  const [empty, http, https, tails]: [number[], number[], number[], number[]] = [[], [], [], []]
  for (let round = 0; round < STARTS; round++) {
    empty.push(await timeEmptyStep(folder))
    http.push((await timeStep({})).startMs)
    const { startMs, tailMs } = await timeStep({ service: { tls }, env: { NODE_EXTRA_CA_CERTS: authority } })
    https.push(startMs)
    tails.push(tailMs)
  }
  const row = (service: string, sample: readonly number[], goal: number): Row => {
    const times = median(sample) / median(empty)
    const result = `${median(sample).toFixed(1)} ms, ${times.toFixed(2)} times`
    return [`Start-up, ${service}`, `≤ ${goal.toFixed(1)} times an empty script`, times <= goal, result]
  }
  return [
    ['An empty script, from its start to its end', '', true, `${median(empty).toFixed(1)} ms`],
    row('http, loopback', http, 2),
    row('https, test CA', https, 2.4),
    ['Tail: last poll to the end of the process', '< 50 ms', median(tails) < 50, `${median(tails).toFixed(0)} ms`],
  ]
}

function casesOf(length: number) {
  return Array.from({ length }, (_, index) => ({
    title: `shop ${index % 97} > checkout > pays for order ${index} with a saved card`,
    status: STATUSES[index % STATUSES.length],
    durationMs: (index * 37) % 5_000,
  }))
}

/** What a large response costs, from its arrival to the exit of the process, reports included. */
async function largeResponse(folder: string): Promise<Row[]> {
  const cases = casesOf(100_000)
  const uses = []
  for (let run = 0; run < LARGE_RUNS; run++) uses.push(await observeStep(folder, { script: { end: 'FAILED', cases } }))
  const cpuMs = median(uses.map((use) => use.cpuMs))
  const peakBytes = Math.max(...uses.map((use) => use.peakBytes))
  return [
    ['Processor time of 100,000 cases', '< 1 s', cpuMs < 1_000, `${(cpuMs / 1_000).toFixed(2)} s`],
    ['Peak memory of 100,000 cases', '< 500 MB', peakBytes < 500e6, `${(peakBytes / 1e6).toFixed(0)} MB`],
  ]
}

/** What 16 MiB of output cost, compared with the same run without output. */
async function longOutput(folder: string): Promise<Row[]> {
  const line = '\u001b[32m✓\u001b[39m e2e/pay.spec.ts > checkout > pays with a saved card \u001b[2m(1.2 s)\u001b[22m\n'
  const output = line.repeat(Math.floor((16 * 1024 * 1024) / Buffer.byteLength(line)))
  const [without, with16MiB]: [StepUse[], StepUse[]] = [[], []]
  for (let run = 0; run < LARGE_RUNS; run++) {
    without.push(await observeStep(folder, {}))
    with16MiB.push(await observeStep(folder, { script: { output } }))
  }
  const more = (of: (use: StepUse) => number) => median(with16MiB.map(of)) - median(without.map(of))
  const cpuMs = more(({ totalCpuMs }) => totalCpuMs)
  const endMs = more(({ endMs }) => endMs)
  const bytes = more(({ peakBytes }) => peakBytes)
  const [polls, requests] = [await requestsOfAnHour(false), await requestsOfAnHour(true)]
  return [
    ['16 MiB of output, more processor time', '< 3 s', cpuMs < 3_000, `${(cpuMs / 1_000).toFixed(2)} s`],
    ['16 MiB of output, more memory', '< 150 MB', bytes < 150e6, `${(bytes / 1e6).toFixed(0)} MB`],
    ['16 MiB of output at once, later exit', '< 10 s', endMs < 10_000, `${(endMs / 1_000).toFixed(2)} s`],
    ['Requests of a run of one hour', '< 400', polls < 400, `${polls}`],
    ['Requests of a run of one hour with output', '< 800', requests < 800, `${requests}`],
  ]
}

/** What a history of ten files with 10,000 cases each costs, compared with the same run without a baseline. */
async function history(folder: string): Promise<Row[]> {
  const baseline = join(folder, 'history')
  mkdirSync(baseline)
  const cases = casesOf(10_000)
  for (let day = 1; day <= HISTORY_FILES; day++) {
    const finishedAt = new Date(Date.UTC(2026, 0, day)).toISOString()
    const run = { status: 'FAILED', finishedAt, results: { testCases: cases } }
    writeFileSync(join(baseline, `${day}.json`), JSON.stringify(run))
  }
  const [without, withHistory]: [StepUse[], StepUse[]] = [[], []]
  for (let run = 0; run < JOBS; run++) {
    without.push(await observeStep(folder, { script: { end: 'FAILED', cases } }))
    withHistory.push(await observeStep(folder, { script: { end: 'FAILED', cases }, inputs: { baseline } }))
  }
  const more = (of: (use: StepUse) => number) => median(withHistory.map(of)) - median(without.map(of))
  const cpuMs = more(({ totalCpuMs }) => totalCpuMs)
  const bytes = more(({ peakBytes }) => peakBytes)
  return [
    [
      'Ten earlier runs of 10,000 cases, more processor time',
      '≤ 0.3 s',
      cpuMs <= 300,
      `${(cpuMs / 1_000).toFixed(2)} s`,
    ],
    ['Ten earlier runs of 10,000 cases, more memory', '≤ 50 MB', bytes <= 50e6, `${(bytes / 1e6).toFixed(0)} MB`],
  ]
}

/** What both actions cost in a job, compared with the command that a person would run. */
async function withoutService(): Promise<Row[]> {
  const rows: Row[] = []
  for (const project of PROJECTS) {
    const { folder } = await createProject(project)
    const { byHandMs, moreMs } = await moreThanByHand(folder, project)
    const goalMs = project.name === 'Vitest' ? 700 : 1_000
    const what = `Gate and local service, more than ${project.name} by hand (${(byHandMs / 1_000).toFixed(2)} s)`
    rows.push([what, `≤ ${goalMs / 1_000} s`, moreMs <= goalMs, `${(moreMs / 1_000).toFixed(2)} s`])
  }
  return rows
}

/** What a merge costs with both actions, compared with the framework's own command. */
async function merges(): Promise<Row[]> {
  const rows: Row[] = []
  for (const project of SHARDED_PROJECTS) {
    const { folder } = await createShardedProject(project)
    const { byHandMs, moreMs } = await moreThanByHand(folder, project, { merge: 'all' })
    const what = `A merge of 2,000 tests, more than ${project.name}'s own merge (${(byHandMs / 1_000).toFixed(2)} s)`
    rows.push([what, '≤ 1 s', moreMs <= 1_000, `${(moreMs / 1_000).toFixed(2)} s`])
  }
  return rows
}

/** The command by hand and the job with both actions take turns. Removes the folder. */
async function moreThanByHand(folder: string, project: Project, inputs?: Parameters<typeof timeActions>[1]) {
  const [byHand, actions]: [number[], number[]] = [[], []]
  for (let round = 0; round < JOBS; round++) {
    byHand.push(timeByHand(folder, project))
    actions.push(await timeActions(folder, inputs))
  }
  rmSync(folder, { recursive: true })
  return { byHandMs: median(byHand), moreMs: median(actions) - median(byHand) }
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[values.length >> 1] ?? Number.NaN
}

// The bench measures the committed bundle, so it must be built from the source.
execFileSync(process.execPath, [join(import.meta.dirname, '../scripts/build.ts'), '--check'], { stdio: 'inherit' })
const facts = [
  `${availableParallelism()} × ${cpus()[0]?.model.trim() ?? 'unknown processor'}`,
  `${(totalmem() / 2 ** 30).toFixed(0)} GiB of memory`,
  `${platform()} ${arch()}`,
  `Node ${process.versions.node}`,
  `load ${loadavg()[0]?.toFixed(1)} at the beginning`,
]
const folder = mkdtempSync(join(tmpdir(), 'bench-'))
const rows = [
  ...(await startUp(folder)),
  ...(await largeResponse(folder)),
  ...(await longOutput(folder)),
  ...(await history(folder)),
  ...(await withoutService()),
  ...(await merges()),
]
rmSync(folder, { recursive: true })
const table = rows.map(
  ([what, goal, isReached, result]) => `| ${what} | ${goal} | ${isReached ? '✅' : '❌'} ${result} |`,
)
const results = `Measured by \`npm run bench\` on: ${facts.join(', ')}.

| What | Goal | Result |
| --- | --- | --- |
${table.join('\n')}`
console.log(results)
if (process.argv.includes('--write')) {
  const path = join(import.meta.dirname, 'README.md')
  const [before, , after] = readFileSync(path, 'utf8').split(/(?<=<!-- results -->)|(?=<!-- \/results -->)/)
  writeFileSync(path, `${before}\n\n${results}\n\n${after}`)
}
