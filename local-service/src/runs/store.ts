import { closeSync, existsSync, mkdirSync, openSync, realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { isInside } from '../../../src/text/path.ts'
import { messageOf } from '../../../src/text/untrusted.ts'
import type { RunResources } from '../execution/leftovers.ts'
import { repositoryFolderOf } from '../machine/paths.ts'
import { ConfigurationError } from '../settings/configuration.ts'
import { isFinished, type OwnedRun, type Run } from './run.ts'

export type RunStore = ReturnType<typeof openRunStore>

/** How many runs are kept. The oldest are forgotten when the store is opened. */
const KEPT_RUNS = 1000
/** The result code of SQLite if another process has locked the database. */
const BUSY = 5

const SCHEMA = `
  create table if not exists runs (
    number integer primary key,
    run_id text not null unique,
    is_finished integer not null,
    run text not null,
    resources text
  ) strict`

/** A run that an earlier process of the service left unfinished, or of which something is still on the machine. */
export interface LeftRun {
  readonly run: OwnedRun
  readonly resources?: RunResources | undefined
}

/**
 * Opens the runs that are kept in a folder. Each change of a run is one write, and the write is in the database when the call
 * returns. So a client never learns of something that the next start of the service does not know, however the service dies.
 * Throws a ConfigurationError if the folder cannot be used.
 */
export function openRunStore(dataFolder: string) {
  let database: DatabaseSync | undefined
  try {
    mkdirSync(dataFolder, { recursive: true, mode: 0o700 })
    const folder = realpathSync(dataFolder)
    const file = join(folder, 'runs.sqlite')
    // Others may be able to enter a folder that existed before, so the file itself is private.
    closeSync(openSync(file, 'a', 0o600))
    database = new DatabaseSync(file)
    // The system releases the lock when the process ends, however it ends.
    database.exec(`pragma locking_mode = exclusive; pragma journal_mode = wal; begin exclusive; ${SCHEMA}; commit`)
    database
      .prepare(
        `delete from runs where is_finished and resources is null
         and number not in (select number from runs order by number desc limit ?)`,
      )
      .run(KEPT_RUNS)
    return { folder, ...storeIn(database) }
  } catch (error) {
    database?.close()
    throw unusable(dataFolder, error)
  }
}

/** For an error of the store or of its folder. */
export function unusable(dataFolder: string, error: unknown): ConfigurationError {
  const isUsed = error instanceof Error && 'errcode' in error && error.errcode === BUSY
  const problem = isUsed ? 'another service uses it' : messageOf(error)
  return new ConfigurationError(
    `Cannot use the data folder ${dataFolder}: ${problem}. Choose another folder with --data.`,
  )
}

function storeIn(database: DatabaseSync) {
  const upsert = database.prepare(
    `insert into runs (run_id, is_finished, run, resources) values (?, ?, ?, ?) on conflict (run_id)
     do update set is_finished = excluded.is_finished, run = excluded.run, resources = excluded.resources`,
  )
  const select = database.prepare('select run from runs where run_id = ?')
  const selectLeft = database.prepare(
    'select run, resources from runs where not is_finished or resources is not null order by number',
  )
  const clearResources = database.prepare('update runs set resources = null where run_id = ?')
  return {
    /** `resources` is what the run may have on the machine from now on. */
    save(run: Run, resources?: RunResources): void {
      upsert.run(
        run.runId,
        Number(isFinished(run)),
        JSON.stringify(run),
        resources === undefined ? null : JSON.stringify(resources),
      )
    },
    find(runId: string): Run | undefined {
      const row = select.get(runId)
      return row && JSON.parse(String(row.run))
    },
    findLeft: (): LeftRun[] =>
      selectLeft.all().map(({ run, resources }) => ({
        run: JSON.parse(String(run)),
        resources: resources === null ? undefined : JSON.parse(String(resources)),
      })),
    markRemoved: (runId: string) => void clearResources.run(runId),
    close: () => database.close(),
  }
}

/**
 * Throws a ConfigurationError if the data folder is in a repository or a folder that the service serves. Node looks for
 * packages in all folders above a work tree. So the tests of a branch would find the repository's installed packages.
 */
export function refuseDataFolderIn(folders: readonly string[], dataFolder: string): void {
  const path = realPathOf(dataFolder)
  const root = folders.map(repositoryFolderOf).find((folder) => isInside(path, folder))
  if (root === undefined) return
  throw new ConfigurationError(
    `The data folder ${path} lies in ${root}, so tests could change the data. Choose a folder outside ${root} with --data. ` +
      'In a job, the data folder lies in RUNNER_TEMP.',
  )
}

/** The folder need not exist yet. */
function realPathOf(folder: string): string {
  return existsSync(folder) ? realpathSync(folder) : join(realPathOf(dirname(folder)), basename(folder))
}
