import { randomBytes } from 'node:crypto'
import { chmodSync, closeSync, existsSync, openSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync, type SQLOutputValue } from 'node:sqlite'
import { ConfigurationError } from '../configuration.ts'
import { type FinalStatus, isFinished, type OwnedRun, type Run, type TestCase } from './run.ts'
import type { RunResources } from './run-resources.ts'

export type RunStore = ReturnType<typeof storeIn>

const SCHEMA_VERSION = 2
/** Result codes of SQLite. */
const [BUSY, CORRUPT, FULL, NOT_A_DATABASE] = [5, 11, 13, 26]
/** A database of this size is checked in about a second. */
const CHECKED_BYTES = 256 * 1024 * 1024
/** Room for thousands of test cases. */
const RESERVED_BYTES = 1024 * 1024

const SCHEMA = `
  create table runs (
    number integer primary key,
    run_id text not null unique,
    project_id text not null,
    suite text,
    branch_name text,
    status text not null,
    is_cancelled integer not null default 0,
    started_at text,
    finished_at text,
    test_cases text,
    message text,
    resources text not null,
    has_resources integer not null default 0
  ) strict;
  create index runs_left on runs (number) where finished_at is null or has_resources = 1;
  pragma user_version = ${SCHEMA_VERSION};`

/** Version 1 listed the message of a run as one more test case. Its runs keep this test case. */
const FROM_VERSION_1 = `
  alter table runs add column message text;
  pragma user_version = ${SCHEMA_VERSION};`

export function openRunStore(folder: string | undefined): RunStore {
  const file = folder === undefined ? undefined : join(folder, 'runs.sqlite')
  if (file !== undefined) makePrivate(file)
  const database = new DatabaseSync(file ?? ':memory:')
  try {
    // The lock is exclusive. However the process dies, the operating system releases it.
    database.exec('pragma locking_mode = exclusive; pragma journal_mode = wal; pragma synchronous = full')
    database.exec('begin exclusive')
    if (file !== undefined && statSync(file).size <= CHECKED_BYTES) check(database)
    const version = Number(database.prepare('pragma user_version').get()?.user_version)
    if (version > SCHEMA_VERSION) {
      throw new ConfigurationError(
        `A newer version of the service wrote the data folder ${folder}. Choose another data folder.`,
      )
    }
    if (version === 0) database.exec(SCHEMA)
    if (version === 1) database.exec(FROM_VERSION_1)
    database.exec('commit')
    return storeIn(database, folder === undefined ? undefined : join(folder, 'reserve'))
  } catch (error) {
    database.close()
    throw error
  }
}

/** An error of the store or of its folder as a sentence that says what to do. */
export function describeStoreError(error: Error, folder: string): string {
  const instead = 'choose another data folder.'
  const code = 'errcode' in error ? error.errcode : undefined
  if (code === BUSY) return `Another service uses the data folder ${folder}. Stop it, or ${instead}`
  if (code === CORRUPT || code === NOT_A_DATABASE) {
    const move = `Move ${join(folder, 'runs.sqlite*')} away to start without the runs in it, or ${instead}`
    return `The database in the data folder ${folder} is damaged: ${error.message}. ${move}`
  }
  if (code === FULL || ('code' in error && error.code === 'ENOSPC')) {
    return `There is no room on the disk for the data folder ${folder}. Free some space, or ${instead}`
  }
  return `Cannot use the data folder ${folder}: ${error.message}. Choose another data folder.`
}

/** Others may be able to enter the folder, so the file itself is private. */
function makePrivate(file: string): void {
  closeSync(openSync(file, 'a', 0o600))
  for (const path of [file, `${file}-wal`]) if (existsSync(path)) chmodSync(path, 0o600)
}

/** SQLite notices a damaged page only when it reads the page, which may be much later. */
function check(database: DatabaseSync): void {
  const [found] = Object.values(database.prepare('pragma quick_check(1)').get() ?? {})
  if (found === 'ok') return
  const problem = String(found).split('\n').at(-1)
  throw Object.assign(new Error(problem), { code: 'ERR_SQLITE_ERROR', errcode: CORRUPT })
}

/** The runs, in a database that survives any death of the service. Each change is on the disk when its call returns. */
function storeIn(database: DatabaseSync, reserveFile: string | undefined) {
  const insert = database.prepare(
    `insert into runs (run_id, project_id, suite, branch_name, status, resources) values (?, ?, ?, ?, ?, ?)`,
  )
  const update = database.prepare(
    `update runs set status = ?, is_cancelled = ?, started_at = ?, finished_at = ?, test_cases = ?, message = ?, has_resources = has_resources or ?
     where run_id = ?`,
  )
  const select = database.prepare('select * from runs where run_id = ?')
  const selectLeft = database.prepare(
    'select * from runs where finished_at is null or has_resources = 1 order by number',
  )
  const clearResources = database.prepare('update runs set has_resources = 0 where run_id = ?')
  const remove = database.prepare(
    `delete from runs where finished_at is not null and has_resources = 0 and (finished_at < ? or number not in (
       select number from runs where finished_at is not null order by number desc limit ?))`,
  )
  return {
    reserve: () => reserveRoom(reserveFile),
    add(run: Run, resources: RunResources): void {
      reserveRoom(reserveFile)
      const suite = run.suite === undefined ? null : JSON.stringify(run.suite)
      const about = [run.runId, run.projectId, suite, run.branchName ?? null, run.phase.status]
      insert.run(...about, JSON.stringify(resources))
    },
    /** Saves a run's phase. From its start on, the run has resources. On a full disk, a result gets the reserved room. */
    save(run: Run): void {
      const { runId, phase } = run
      const startedAt = 'startedAt' in phase ? (phase.startedAt?.toISOString() ?? null) : null
      const isRunning = phase.status === 'RUNNING'
      const write = () =>
        update.run(
          phase.status,
          isRunning && phase.isCancelled ? 1 : 0,
          startedAt,
          'finishedAt' in phase ? phase.finishedAt.toISOString() : null,
          'testCases' in phase ? JSON.stringify(phase.testCases) : null,
          'testCases' in phase ? (phase.message ?? null) : null,
          isRunning ? 1 : 0,
          runId,
        )
      try {
        write()
      } catch (error) {
        if (!isFinished(run) || reserveFile === undefined || !existsSync(reserveFile)) throw error
        rmSync(reserveFile)
        write()
      }
    },
    find(runId: string): Run | undefined {
      const row = select.get(runId)
      return row && runIn(row)
    },
    /**
     * Runs that are unfinished or have resources. After a start, these are the runs that an earlier process of the service
     * left.
     */
    findLeft: () =>
      selectLeft
        .all()
        .map((row) => ({ run: runIn(row), resources: JSON.parse(String(row.resources)) as RunResources })),
    markRemoved: (runId: string) => void clearResources.run(runId),
    /**
     * Forgets a finished run if it finished before `since` or is not among the newest `count`. A run with resources stays.
     */
    forget: (count: number, since: Date) => void remove.run(since.toISOString(), count),
    close: () => database.close(),
  }
}

/** Reserves room on the disk for the results of runs. Throws if there is no room. */
function reserveRoom(file: string | undefined): void {
  if (file === undefined) return
  if (statSync(file, { throwIfNoEntry: false })?.size === RESERVED_BYTES) return
  try {
    // The content is random, because some file systems give zeros no room.
    writeFileSync(file, randomBytes(RESERVED_BYTES), { mode: 0o600 })
  } catch (error) {
    rmSync(file, { force: true })
    throw error
  }
}

function runIn(row: Record<string, SQLOutputValue>): OwnedRun {
  return {
    runId: String(row.run_id),
    projectId: String(row.project_id),
    suite: row.suite === null ? undefined : JSON.parse(String(row.suite)),
    branchName: row.branch_name === null ? undefined : String(row.branch_name),
    phase: phaseIn(row),
  }
}

function phaseIn(row: Record<string, SQLOutputValue>): Run['phase'] {
  const startedAt = row.started_at === null ? null : new Date(String(row.started_at))
  if (row.finished_at !== null) {
    return {
      status: String(row.status) as FinalStatus,
      startedAt,
      finishedAt: new Date(String(row.finished_at)),
      testCases: JSON.parse(String(row.test_cases)) as TestCase[],
      message: row.message === null ? undefined : String(row.message),
    }
  }
  if (startedAt === null) return { status: 'QUEUED' }
  return { status: 'RUNNING', startedAt, isCancelled: row.is_cancelled === 1 }
}
