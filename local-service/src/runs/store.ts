import { lstatSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fieldsOf, isObject, parseJson } from '../../../src/text/json.ts'
import { messageOf } from '../../../src/text/untrusted.ts'
import type { RunResources } from '../execution/resources.ts'
import type { Engine, KeptEngine } from '../machine/container.ts'
import { ConfigurationError } from '../settings/project.ts'
import { isFinished, type Run } from './run.ts'

export type RunStore = ReturnType<typeof openRunStore>

/** What the queue, the recovery and each start use of the service. */
export interface CommonContext {
  readonly store: RunStore
  readonly serviceEnv: NodeJS.ProcessEnv
  readonly log: (text: string) => void
  /** Logs what the service could not do itself. Post of the action shows the log then. */
  readonly logError: (text: string) => void
}

/** What post of the action shows of a run. */
export interface FinishedRun {
  readonly runId: string
  readonly projectId: string
  readonly status: string
  /** Empty if the run has no message. */
  readonly message: string
  /** How many bytes of the output, from its beginning, a client has read. */
  readonly shownBytes: number
}

/** How many runs are kept. The oldest are forgotten when the store is opened. */
const KEPT_RUNS = 1000
/** A killed process leaves the list of processes a moment before the system releases its lock. */
const LOCK_LIMIT_MS = 2000

const SCHEMA = `
  create table if not exists runs (
    number integer primary key,
    run_id text not null unique,
    is_finished integer not null,
    run text not null,
    -- The engine. The folders of a run follow from its id. Null if the run has nothing on the machine.
    resources text,
    shown_bytes integer not null default 0
  ) strict`

const RUN_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/**
 * Opens the runs that are kept in a folder. Each change of a run is one write, and the write is in the database when the call
 * returns. So the next start of the service knows what clients have learned, however this service dies. If a write fails, for example
 * because the disk is full, the call throws.
 */
export function openRunStore(dataFolder: string) {
  try {
    mkdirSync(dataFolder, { recursive: true, mode: 0o700 })
    const folder = realpathSync(dataFolder)
    return {
      folder,
      /** Records that a client has asked for a run, also if the service refuses the run. `wasNeverUsed` of the action looks for this folder. */
      markUsed(): void {
        try {
          mkdirSync(join(folder, 'runs'), { recursive: true, mode: 0o700 })
        } catch {
          // The run needs this folder too, so it fails, and its message says why.
        }
      },
      ...storeIn(openDatabase(join(folder, 'runs.sqlite'))),
    }
  } catch (error) {
    const next = 'If another service uses it, choose another folder.'
    throw new ConfigurationError(`Cannot use the data folder ${dataFolder}: ${messageOf(error)}. ${next}`)
  }
}

function openDatabase(file: string): DatabaseSync {
  // SQLite opens these files, and waits for a named pipe without end.
  for (const path of [file, `${file}-journal`, `${file}-wal`, `${file}-shm`]) {
    if (lstatSync(path, { throwIfNoEntry: false })?.isFile() === false) throw new Error(`${path} is not a regular file`)
  }
  // Others may be able to enter a folder that existed before, so the file itself is private.
  writeFileSync(file, '', { flag: 'a', mode: 0o600 })
  const database = new DatabaseSync(file, { timeout: LOCK_LIMIT_MS })
  // The system releases the lock when the process ends, however it ends. A write need not wait for the disk, because the
  // system keeps it when the process dies.
  database.exec('pragma locking_mode = exclusive; pragma journal_mode = wal; pragma synchronous = normal')
  database.exec(`begin exclusive; ${SCHEMA}; commit`)
  database.exec(
    `delete from runs where is_finished and resources is null
     and number not in (select number from runs order by number desc limit ${KEPT_RUNS})`,
  )
  return database
}

/**
 * Reads a run that an earlier process did not finish, or whose resources it did not remove. Tests may have written anything to the database, so it
 * is checked. The `engine` says what the run may have on the machine:
 *
 * | engine | what the run may have |
 * | --- | --- |
 * | undefined | nothing |
 * | `none` | processes and files |
 * | any other | containers too |
 */
function toUnfinished({ run_id, run: text, resources }: Readonly<Record<string, unknown>>) {
  const run = parseJson(String(text)) as Run
  const { runId, phase } = fieldsOf(run)
  if (!RUN_ID.test(String(run_id)) || runId !== run_id || !isObject(phase)) return undefined
  return { run, engine: resources === null ? undefined : toKeptEngine(String(resources)) }
}

/**
 * Called before a write, and again after a read, because tests may have changed the row. The next service runs the stored command, so a stored path
 * could start any program. So only `docker` and `podman` are stored, and `none` for a run without containers. Every other command becomes
 * `unknown`: `/opt/podman` may be another program than `podman`, and `podman --root /images` has other containers than `podman`.
 */
function toKeptEngine(engine: Engine | string): KeptEngine {
  const command = typeof engine === 'string' ? engine : engine.join(' ')
  return (['none', 'docker', 'podman'] as const).find((name) => name === command) ?? 'unknown'
}

function storeIn(database: DatabaseSync) {
  return {
    /** `resources` is what the run may have on the machine from now on. */
    save(run: Run, resources?: RunResources): void {
      const kept = resources === undefined ? null : toKeptEngine(resources.engine)
      const upsert = database.prepare(
        `insert into runs (run_id, is_finished, run, resources) values (?, ?, ?, ?) on conflict (run_id)
         do update set is_finished = excluded.is_finished, run = excluded.run, resources = excluded.resources`,
      )
      upsert.run(run.runId, Number(isFinished(run)), JSON.stringify(run), kept)
    },
    find(runId: string): Run | undefined {
      const row = database.prepare('select run from runs where run_id = ?').get(runId)
      return row && JSON.parse(String(row.run))
    },
    /**
     * The runs that are not finished, and the finished ones whose resources are not removed. Undefined stands for a run that cannot be read.
     * Nobody knows what it has left.
     */
    findToRecover() {
      const rows = database.prepare('select * from runs where not is_finished or resources is not null order by number')
      return rows.all().map(toUnfinished)
    },
    /** The id is the name of a folder. The other values are texts, whatever somebody else has written to the database. */
    findFinished(): FinishedRun[] {
      const rows = database.prepare(
        `select run_id, run ->> '$.projectId' as project_id, run ->> '$.phase.status' as status,
         run ->> '$.phase.message' as message, shown_bytes from runs where is_finished order by number`,
      )
      const finished = rows.all().filter(({ run_id }) => RUN_ID.test(String(run_id)))
      return finished.map((row) => ({
        runId: String(row.run_id),
        projectId: String(row.project_id),
        status: String(row.status),
        message: String(row.message ?? ''),
        shownBytes: Number(row.shown_bytes),
      }))
    },
    /** A client has read the output from one byte to another. If there is a gap to what was read before, the mark stays. */
    markShown(runId: string, from: number, next: number): void {
      const hasNoGap = ':from <= shown_bytes and shown_bytes <= :next'
      const update = `update runs set shown_bytes = :next where run_id = :runId and ${hasNoGap}`
      database.prepare(update).run({ runId, from, next })
    },
    /** May be called twice. */
    close: () => database[Symbol.dispose](),
  }
}
