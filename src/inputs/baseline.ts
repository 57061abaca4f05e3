import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type Baseline, type EarlierRun, earlierRun } from '../model/baseline.ts'
import type { Target } from '../model/run.ts'
import { expectedAndGot } from '../report/failure-text.ts'
import { decodeResults, InvalidResponse } from '../service/decode.ts'
import type { Redact } from '../service/key-redaction.ts'
import { BODY_LIMIT_BYTES } from '../service/transport.ts'
import { type Fragment, fragment, type Log } from '../text/safe-text.ts'
import { messageOf } from '../text/untrusted.ts'

const MOST_RUNS = 20

/** The files are responses that earlier steps have written. They are data from outside, so the decoder of responses reads them. */
export function readBaseline(path: string, kind: Target['kind'], redact: Redact, log: Log): Baseline | undefined {
  const runs: EarlierRun[] = []
  const problems: Fragment[] = []
  const attempt = (file: string, task: () => void) => {
    try {
      task()
    } catch (cause) {
      problems.push(fragment`The baseline ${file} could not be read, because ${whyUnreadable(cause)}.`)
    }
  }
  const readRun = (file: string) => {
    runs.push(earlierRun(decodeResults(redact(readResults(file)), kind, redact)))
    runs.sort((a, b) => (b.finishedAt?.getTime() ?? 0) - (a.finishedAt?.getTime() ?? 0)).splice(MOST_RUNS)
  }
  let files: readonly string[] = []
  attempt(path, () => {
    files = filesOf(path)
  })
  for (const file of files) attempt(file, () => readRun(file))
  const [latest, ...others] = runs
  const [problem, ...more] = problems
  if (problem !== undefined) {
    const moreText = more.length > 0 ? fragment` Files that could not be read either: ${more.length}.` : fragment``
    const effect =
      latest === undefined
        ? fragment`So the reports do not say which failures are new. Give a file results.json that this action has written, or a folder of such files.`
        : fragment`The other files of the folder are compared.`
    log.warning(fragment`${problem}${moreText} ${effect}`)
  } else if (latest === undefined) {
    log.info(
      fragment`There is no baseline ${path}, so the reports do not say which failures are new. A cache is empty at first.`,
    )
  }
  return latest && [latest, ...others]
}

/**
 * The file itself, or each `*.json` directly in the folder, the highest name first. None if there is nothing at the path. A
 * `report-dir` of this action has a `ctrf.json` too, which is no response of the service.
 */
function filesOf(path: string): readonly string[] {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined) return []
  if (!found.isDirectory()) return [path]
  const names = readdirSync(path).filter((name) => name.endsWith('.json') && name !== 'ctrf.json')
  return names.sort((a, b) => b.localeCompare(a, 'en', { numeric: true })).map((name) => join(path, name))
}

/** Opens no named pipe, because main would handle no signal while it waits. */
function readResults(path: string): string {
  const status = statSync(path)
  if (!status.isFile()) throw new Error('it is no file')
  if (status.size > BODY_LIMIT_BYTES) throw new Error(`it has more than ${BODY_LIMIT_BYTES} bytes`)
  return new TextDecoder().decode(readFileSync(path))
}

function whyUnreadable(cause: unknown): Fragment {
  if (cause instanceof SyntaxError) return fragment`it is not JSON`
  if (cause instanceof InvalidResponse)
    return fragment`it is no response of the service (${expectedAndGot(cause.failure)})`
  return fragment`${messageOf(cause)}`
}
