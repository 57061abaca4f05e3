import { join } from 'node:path'
import { DatabaseSync, type SQLOutputValue } from 'node:sqlite'
import { ConfigurationError } from './configuration.ts'
import type { FinalStatus, OwnedRun, Run, TestCase } from './run.ts'
import type { RunResources } from './run-resources.ts'

/** What a run was asked to do: for people who read the database. */
export interface RunRequest {
  readonly frameworkProjects: readonly string[]
  readonly files: readonly string[]
  readonly titles?: string | undefined
  readonly environment: string | undefined
  readonly commit: string | undefined
  readonly autofix: boolean
  /** Names only: the values may be secret. */
  readonly overriddenVariables: readonly string[]
}

export interface LeftRun {
  readonly run: OwnedRun
  readonly resources: RunResources
}

/** The runs, in a database that survives any death of the service. Each change is on the disk when its call returns. */
export interface RunStore {
  add(run: Run, request: RunRequest, resources: RunResources): void
  /** Saves a run's phase; from its start on, the run has resources. */
  save(run: Run): void
  find(runId: string): Run | undefined
  /** Runs that are unfinished or have resources: after a start, those that an earlier process of the service left. */
  findLeft(): LeftRun[]
  markRemoved(runId: string): void
  /** Forgets finished runs without resources, except the newest `count` of those that finished after `since`. */
  forget(count: number, since: Date): void
  close(): void
}

const SCHEMA_VERSION = 1
const SQLITE_BUSY = 5

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
    request text not null,
    resources text not null,
    has_resources integer not null default 0
  ) strict;
  create index runs_left on runs (number) where finished_at is null or has_resources = 1;
  pragma user_version = ${SCHEMA_VERSION};`

/** Opens the database of a folder, or one in memory. Throws a ConfigurationError if another service has it open. */
export function openRunStore(folder: string | undefined): RunStore {
  const database = new DatabaseSync(folder === undefined ? ':memory:' : join(folder, 'runs.sqlite'))
  try {
    // Exclusive: the operating system releases this lock with the process, however it dies.
    database.exec('pragma locking_mode = exclusive; pragma journal_mode = wal; pragma synchronous = full')
    database.exec('begin exclusive')
    const version = Number(database.prepare('pragma user_version').get()?.user_version)
    if (version > SCHEMA_VERSION) {
      throw new ConfigurationError(
        `A newer version of the service wrote the data folder ${folder}. Choose another with --data.`,
      )
    }
    if (version === 0) database.exec(SCHEMA)
    database.exec('commit')
  } catch (error) {
    database.close()
    if (error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY) {
      throw new ConfigurationError(
        `Another service uses the data folder ${folder}. Stop it, or choose another folder with --data.`,
      )
    }
    throw error
  }
  const insert = database.prepare(
    `insert into runs (run_id, project_id, suite, branch_name, status, request, resources) values (?, ?, ?, ?, ?, ?, ?)`,
  )
  const update = database.prepare(
    `update runs set status = ?, is_cancelled = ?, started_at = ?, finished_at = ?, test_cases = ?, has_resources = has_resources or ?
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
    add(run, request, resources) {
      const suite = run.suite === undefined ? null : JSON.stringify(run.suite)
      const about = [run.runId, run.projectId, suite, run.branchName ?? null, run.phase.status]
      insert.run(...about, JSON.stringify(request), JSON.stringify(resources))
    },
    save({ runId, phase }) {
      const startedAt = 'startedAt' in phase ? (phase.startedAt?.toISOString() ?? null) : null
      const isRunning = phase.status === 'RUNNING'
      update.run(
        phase.status,
        isRunning && phase.isCancelled ? 1 : 0,
        startedAt,
        'finishedAt' in phase ? phase.finishedAt.toISOString() : null,
        'testCases' in phase ? JSON.stringify(phase.testCases) : null,
        isRunning ? 1 : 0,
        runId,
      )
    },
    find(runId) {
      const row = select.get(runId)
      return row && runIn(row)
    },
    findLeft: () =>
      selectLeft
        .all()
        .map((row) => ({ run: runIn(row), resources: JSON.parse(String(row.resources)) as RunResources })),
    markRemoved: (runId) => void clearResources.run(runId),
    forget: (count, since) => void remove.run(since.toISOString(), count),
    close: () => database.close(),
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
    }
  }
  if (startedAt === null) return { status: 'QUEUED' }
  return { status: 'RUNNING', startedAt, isCancelled: row.is_cancelled === 1 }
}
