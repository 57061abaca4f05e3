import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { selfSignedCertificate } from '../test/support/self-signed-certificate.ts'
import { prepareStep } from '../tools/runner-emulator/runner.ts'
import { observeStep, timeStep } from './measured-step.ts'
import { median, type Part, table } from './table.ts'

const ROUNDS = 25

/** What a step costs beside its run. All take turns, so that a busy moment of the machine meets them alike. */
export async function startUp(): Promise<Part> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'))
  try {
    const certificate = selfSignedCertificate()
    const authority = join(folder, 'authority.pem')
    writeFileSync(authority, certificate.cert)
    const action = emptyAction(folder)
    const samples: Record<'empty' | 'http' | 'https' | 'tail' | 'post', number[]> = {
      empty: [],
      http: [],
      https: [],
      tail: [],
      post: [],
    }
    for (let round = 0; round < ROUNDS; round++) {
      samples.empty.push(await runEmpty(action))
      const http = await timeStep({})
      const https = await timeStep({ service: { tls: certificate }, env: { NODE_EXTRA_CA_CERTS: authority } })
      samples.http.push(http.startMs)
      samples.https.push(https.startMs)
      samples.tail.push(https.tailMs)
      samples.post.push(http.postMs)
    }
    const idleMs = await idleMinute()
    const emptyMs = median(samples.empty)
    const times = (sample: readonly number[]) => median(sample) / emptyMs
    const row = (what: string, sample: readonly number[]) => [
      what,
      `${median(sample).toFixed(1)} ms`,
      times(sample).toFixed(2),
    ]
    const startUp = (service: string, ratio: number) => ({
      what: `Start-up, ${service}`,
      goal: '≤ 3 times an empty script',
      result: `${ratio.toFixed(2)} times`,
      isReached: ratio <= 3,
    })
    return {
      title: 'Start-up and tail',
      findings: [
        startUp('http, loopback', times(samples.http)),
        startUp('https, test CA', times(samples.https)),
        {
          what: 'Tail: last poll to the end of the process',
          goal: '< 50 ms',
          result: `${median(samples.tail).toFixed(0)} ms`,
          isReached: median(samples.tail) < 50,
        },
      ],
      details: `An idle minute of main, its polls and its looks for the end of its job included, takes ${idleMs.toFixed(0)} ms of processor time.

Medians of ${ROUNDS} rounds.

${table(
  ['What', 'Takes', 'Times an empty script'],
  [
    row('an empty script, from its start to its end', samples.empty),
    row('main, http, to the start request', samples.http),
    row('main, https, to the start request', samples.https),
    row('main, https, from the last request to the end', samples.tail),
    row('post with nothing to do, from its start to its end', samples.post),
  ],
)}`,
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** The processor time of main in a minute in which nothing happens to its run. */
async function idleMinute(): Promise<number> {
  const inputs = { 'poll-interval-seconds': '' }
  const { marks } = await observeStep({ script: { runningMs: 60_000 }, inputs })
  const [first, last] = [marks[1], marks.at(-2)]
  if (first === undefined || last === undefined) throw new Error('The step was not observed to its end.')
  return ((last.cpuMs - first.cpuMs) / (last.atMs - first.atMs)) * 60_000
}

function emptyAction(folder: string): string {
  const action = join(folder, 'empty')
  mkdirSync(action)
  writeFileSync(join(action, 'action.yml'), 'name: Nothing\nruns: { using: node24, main: index.js }\n')
  writeFileSync(join(action, 'package.json'), '{ "type": "module" }\n')
  writeFileSync(join(action, 'index.js'), '')
  return action
}

async function runEmpty(actionDir: string): Promise<number> {
  await using step = prepareStep({ actionDir })
  const beganMs = performance.now()
  await step.startMain().result()
  return performance.now() - beganMs
}
