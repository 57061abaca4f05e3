import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ScenarioOptions } from '../test/support/scenario.ts'
import { selfSignedCertificate } from '../test/support/self-signed-certificate.ts'
import { prepareStep } from '../tools/runner-emulator/runner.ts'
import { type Mark, observeStep, timeStep } from './measured-step.ts'
import { median, type Part, table } from './table.ts'

const ROUNDS = 25

/**
 * From the start of the process to the start request at the service, and from the last response to the exit: beside an
 * empty script, with all of them taking turns, so that a busy moment of the machine meets them alike.
 */
export async function startUp(): Promise<Part> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'))
  try {
    const empty = emptyAction(folder)
    const variants = variantsIn(folder)
    const emptyMs: number[] = []
    const proxiedMs: number[] = []
    const samples = variants.map(({ name, options }) => ({
      name,
      options,
      startMs: [] as number[],
      tailMs: [] as number[],
    }))
    for (let round = 0; round < ROUNDS; round++) {
      emptyMs.push(await runEmpty(empty))
      proxiedMs.push(await startThroughProxy())
      for (const sample of samples) {
        const { startMs, tailMs } = await timeStep(sample.options())
        sample.startMs.push(startMs)
        sample.tailMs.push(tailMs)
      }
    }
    const medians = samples.map(({ name, startMs, tailMs }) => ({
      name,
      startMs: median(startMs),
      tailMs: median(tailMs),
      ratio: median(startMs) / median(emptyMs),
    }))
    const goals = medians.filter(({ name }) => name === HTTP || name === HTTPS)
    const tailMs = Math.max(...goals.map((one) => one.tailMs))
    return {
      title: 'Start-up and tail',
      findings: [
        ...goals.map(({ name, ratio }) => ({
          what: `Start-up, ${name}`,
          goal: '≤ 3 times an empty script',
          result: `${ratio.toFixed(2)} times`,
          isReached: ratio <= 3,
        })),
        {
          what: 'Tail: last poll to the end of the process',
          goal: '< 50 ms',
          result: `${tailMs.toFixed(0)} ms`,
          isReached: tailMs < 50,
        },
      ],
      details: `Medians of ${ROUNDS} rounds. An empty script takes ${ms(median(emptyMs))} from its start to its end.

${table(
  ['Service', 'Start request after', 'Times an empty script', 'Tail'],
  [
    ...medians.map(({ name, startMs, ratio, tailMs }) => [name, ms(startMs), ratio.toFixed(2), ms(tailMs)]),
    [`https, through a proxy`, ms(median(proxiedMs)), (median(proxiedMs) / median(emptyMs)).toFixed(2), ''],
  ],
)}

What the start-up over https is made of, as the process itself sees it:

${await partsOf(variants.find(({ name }) => name === HTTPS)?.options ?? (() => ({})))}`,
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const HTTP = 'http, loopback'
const HTTPS = 'https, test CA'

interface Variant {
  readonly name: string
  /** Made anew for each step. */
  readonly options: () => ScenarioOptions
}

function variantsIn(folder: string): readonly Variant[] {
  const certificate = selfSignedCertificate()
  const authority = join(folder, 'authority.pem')
  writeFileSync(authority, certificate.cert)
  const secure: ScenarioOptions = { service: { tls: certificate }, env: { NODE_EXTRA_CA_CERTS: authority } }
  const withCache = (cache: string): ScenarioOptions => ({
    ...secure,
    env: { ...secure.env, NODE_COMPILE_CACHE: cache },
  })
  const warm = join(folder, 'warm')
  let caches = 0
  return [
    { name: HTTP, options: () => ({}) },
    { name: HTTPS, options: () => secure },
    { name: `${HTTPS}, Node's compile cache empty`, options: () => withCache(join(folder, `cold-${caches++}`)) },
    { name: `${HTTPS}, Node's compile cache filled`, options: () => withCache(warm) },
  ]
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

/** A proxy that makes no tunnel: only the time to the first request counts. */
async function startThroughProxy(): Promise<number> {
  const requested = Promise.withResolvers<number>()
  const proxy = createServer().on('connect', (_, socket) => {
    requested.resolve(performance.now())
    socket.on('error', () => {}).end('HTTP/1.1 403 Forbidden\r\n\r\n')
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const { port } = proxy.address() as AddressInfo
  try {
    await using step = prepareStep({
      inputs: { 'base-url': 'https://127.0.0.1:9', 'api-key': 'key', project: 'web-shop' },
      proxy: { https: `http://127.0.0.1:${port}` },
    })
    const beganMs = performance.now()
    const main = step.startMain()
    const requestedMs = await requested.promise
    main.signal('SIGKILL')
    return requestedMs - beganMs
  } finally {
    proxy.close()
  }
}

const PARTS: readonly (readonly [name: string, until: (mark: Mark) => boolean])[] = [
  ['Node itself, until it looks for the action', ({ what }) => what.endsWith('dist/main/index.js')],
  ['the entry: signal handlers, standard output', ({ what }) => what.endsWith('.index.js')],
  ['the step: its code, undici, inputs, masks, state', ({ what }) => what === 'undici:request:create'],
  ['the connection: TCP, TLS', ({ what }) => what === 'undici:client:sendHeaders'],
]

async function partsOf(options: () => ScenarioOptions): Promise<string> {
  const rounds: (readonly number[])[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const { observations } = await observeStep(options())
    rounds.push(PARTS.map(([, until]) => observations.marks.find(until)?.atMs ?? Number.NaN))
  }
  const untilMs = PARTS.map((_, part) => median(rounds.map((round) => round[part] ?? Number.NaN)))
  return table(
    ['Part', 'Takes'],
    PARTS.map(([name], part) => [name, ms((untilMs[part] ?? 0) - (untilMs[part - 1] ?? 0))]),
  )
}

function ms(value: number): string {
  return `${value.toFixed(1)} ms`
}
