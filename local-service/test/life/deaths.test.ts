import { readFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { SEED } from '../../../test/setup/seed.ts'
import { aRepository } from '../../../test/support/git-repository.ts'
import { openRunStore } from '../../src/runs/store.ts'
import {
  processesThat,
  type RunObject,
  startServiceProcess,
  temporaryFolder,
  until,
} from '../support/a-local-service.ts'

// The service is killed with SIGKILL, at any moment of its life, and started again with the same data folder.

const LIVES = Number(process.env.SERVICE_LIVES ?? 3)

/** Every run leaves a process in its own group and one outside; the variable KIND says how the run goes on. */
const RUNNER = `
  sleep 300 &
  setsid sleep 300 &
  test "$KIND" = hangs && sleep 300
  status=PASSED; test "$KIND" = fails && status=FAILED
  printf '{"event":"finished","tests":[{"path":["a"],"status":"%s"}],"files":[],"errors":[]}\\n' "$status" > "$LOCAL_SERVICE_REPORT_FILE"
  test "$KIND" = passes`

const planned = (...kinds: ('passes' | 'fails' | 'hangs')[]) =>
  fc.record({ kind: fc.constantFrom(...kinds), inWorkTree: fc.boolean() })

const life = fc.record({
  runs: fc
    .tuple(planned('passes', 'fails'), fc.array(planned('passes', 'fails', 'hangs'), { minLength: 1, maxLength: 6 }))
    .map(([first, others]) => [first, ...others]),
  /** The number of the run that is cancelled. */
  cancels: fc.integer({ min: 1, max: 6 }),
  /** The service is killed only after the runs with these numbers have finished, and all have started. */
  waitsFor: fc.constantFrom<number[]>([], [0]),
  killsAfterMs: fc.nat({ max: 250 }),
  /** Killed while it starts, so while it cleans up after the life before. */
  killsNextStartAfterMs: fc.option(fc.integer({ min: 60, max: 400 }), { nil: undefined, freq: 4 }),
})

type Life = typeof life extends fc.Arbitrary<infer Value> ? Value : never

/** A life with every end of a run, also on a slow machine. */
const FIRST_LIFE: Life = {
  runs: [
    { kind: 'passes', inWorkTree: false },
    { kind: 'fails', inWorkTree: false },
    { kind: 'hangs', inWorkTree: true },
    { kind: 'hangs', inWorkTree: true },
  ],
  cancels: 3,
  waitsFor: [0, 1, 3],
  killsAfterMs: 0,
  killsNextStartAfterMs: undefined,
}

/** The processes of all runs of a service with this temporary folder. */
function processesOfRuns(temporary: string): number[] {
  return processesThat((pid) => {
    const environment = `\0${readFileSync(`/proc/${pid}/environ`, 'utf8')}`
    return environment.includes('\0LOCAL_SERVICE_RUN_ID=') && environment.includes(`\0TMPDIR=${temporary}`)
  })
}

async function entriesIn(...folders: string[]): Promise<string[]> {
  return (await Promise.all(folders.map((folder) => readdir(folder).catch(() => [])))).flat()
}

it.runIf(process.platform === 'linux')(
  `a service that is killed forgets no run, and leaves nothing after the next start, in ${LIVES} lives`,
  { timeout: 600_000 },
  async () => {
    const home = temporaryFolder()
    const [data, temporary] = [join(home, 'data'), temporaryFolder()]
    const repository = await aRepository({ 'a.txt': 'main' })
    const filesOfRepository = () => readdir(repository.folder, { recursive: true })
    const filesBefore = await filesOfRepository()
    const project = { folder: repository.folder, framework: 'vitest', command: ['sh', '-c', RUNNER, 'sh'] }

    /** What is known of each run that was accepted: the last response about it. */
    const known = new Map<string, RunObject | undefined>()
    const start = () => startServiceProcess(project, data, { TMPDIR: temporary })
    let current = start()
    const lives = [FIRST_LIFE, ...fc.sample(life, { numRuns: LIVES - 1, seed: SEED })]
    for (const { runs, cancels, waitsFor, killsAfterMs, killsNextStartAfterMs } of lives) {
      const client = await current.ready()
      const started = new Set<string>()
      const watch = async (runId: string) => {
        for (;;) {
          const { body } = await client.get(runId)
          known.set(runId, body)
          if (body.finishedAt !== undefined) return
          await delay(10)
        }
      }
      const firstIsStarted = Promise.withResolvers<void>()
      const startOne = async ({ kind, inWorkTree }: Life['runs'][number], index: number) => {
        const body = { envOverrides: { KIND: kind }, ...(inWorkTree ? { branch: 'other' } : {}) }
        // Runs of the folder itself are RUNNING one after the other. So the first run must not be queued behind one that hangs.
        if (index > 0) await firstIsStarted.promise
        const runId = await client.startRun(body).finally(() => firstIsStarted.resolve())
        known.set(runId, undefined)
        started.add(runId)
        if (index === cancels) await client.cancel(runId)
        await watch(runId)
      }
      // Requests fail when the service is killed; what a response said before counts.
      const watched = runs.map((run, index) => startOne(run, index).catch(ignoreLostConnection))
      await Promise.all(waitsFor.map((index) => watched[index]))
      await until(() => waitsFor.length === 0 || started.size === runs.length)
      await delay(killsAfterMs)
      await current.kill()
      await Promise.all(watched)
      if (killsNextStartAfterMs !== undefined) {
        const killed = start()
        await delay(killsNextStartAfterMs)
        await killed.kill()
      }

      current = start()
      const next = await current.ready()
      expect(processesOfRuns(temporary)).toEqual([])
      expect(await entriesIn(join(data, 'runs'), temporary)).toEqual([])
      expect(await filesOfRepository()).toEqual(filesBefore)
      for (const runId of started) {
        const before = known.get(runId)
        const { status, body } = await next.get(runId)
        expect(status).toBe(200)
        // Outputs are kept only until the service starts again.
        if (before?.finishedAt !== undefined) expect(body).toEqual({ ...before, outputBytes: 0 })
        else expect(['PASSED', 'FAILED', 'CANCELLED', 'INTERRUPTED']).toContain(body.status)
        expect(body.finishedAt).toBeDefined()
        known.set(runId, body)
      }
    }
    const last = await current.ready()
    for (const [runId, before] of known) expect((await last.get(runId)).body).toEqual(before)
    // Also of the runs whose start was never confirmed, none is unfinished.
    await current.kill()
    const store = openRunStore(data)
    expect(store.findToRecover()).toEqual([])
    store.close()
    const statuses = [...known.values()].map((run) => run?.status)
    expect(statuses).toEqual(expect.arrayContaining(['PASSED', 'FAILED', 'CANCELLED', 'INTERRUPTED']))
  },
)

function ignoreLostConnection(error: unknown): void {
  if (!(error instanceof TypeError)) throw error
}
