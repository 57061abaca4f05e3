import { isObject } from '../../frameworks/framework.ts'
import type { Exchange } from '../exchange.ts'
import {
  cancelledIn,
  isAccepted,
  isAnswered,
  jsonOf,
  type Observations,
  type Read,
  runsIn,
  show,
} from '../observations.ts'
import { accepted, everySuccess, isFinal, isText, probes, refused } from './judging.ts'
import { documented, finding, type Judge, noted, reliedOn, type Shown } from './rule.ts'

export const CANCELS = {
  'cancel-response': documented(
    'CancelRunResponse.cancelled',
    'A cancel returns "cancelled", an array of objects with "runId", a string.',
    everySuccess('cancel', (body, one) => hasList(one) || `"cancelled" is ${show(body.cancelled)}`),
  ),
  'cancel-queued': documented(
    'cancelRun',
    'A QUEUED run can be cancelled.',
    cancelOf('QUEUED'),
    'a cancel of a QUEUED run',
  ),
  'cancel-running': documented(
    'cancelRun',
    'A RUNNING run can be cancelled.',
    cancelOf('RUNNING'),
    'a cancel of a RUNNING run',
  ),
  'cancel-lists-only': documented(
    'CancelRunRequest.where',
    'A cancel lists no other run than the one that it names.',
    everySuccess('cancel', (_, one) => {
      const others = cancelledIn(one).filter((id) => id !== one.runId)
      return one.runId === undefined || !hasList(one)
        ? undefined
        : others.length === 0 || `it also lists ${show(others)}`
    }),
  ),
  'cancel-ends-only': documented(
    'CancelRunRequest.where',
    'A cancel ends no other run.',
    (seen) =>
      ownCancels(seen).flatMap((cancel) => {
        const others = around(seen, cancel).filter(({ run, after }) => run.id !== cancel.runId && after !== undefined)
        return finding(cancel, others.some(({ before }) => isOpen(before)) ? endsNoOther(cancel, seen) : undefined)
      }),
    'two unfinished runs',
  ),
  'cancel-finished': documented(
    'cancelRun',
    'A cancel of a finished run cancels nothing.',
    probes(cancelsNothing),
    'a run that finishes',
  ),
  'cancel-again': documented(
    'cancelRun',
    'A second cancel of a run, after it became CANCELLED, cancels nothing.',
    probes(cancelsNothing),
    'a run that becomes CANCELLED',
  ),
  'cancel-unknown': documented(
    'CancelRunRequest.where',
    'A cancel of a run that does not exist cancels nothing.',
    probes(cancelsNothing),
  ),
  'cancel-project': documented(
    'projectId',
    'A cancel in a project that does not exist cancels nothing.',
    probes(cancelsNothing),
  ),
  'cancel-other-project': documented(
    'projectId',
    'A cancel in another project cancels nothing.',
    probes(cancelsNothing),
    '--other-project',
  ),
  'cancel-no-where': documented(
    'CancelRunRequest.where',
    'A cancel without "where" cancels nothing.',
    probes(cancelsNothing),
  ),
  'cancel-ends': reliedOn(
    'CancelRunResponse.cancelled',
    'A run listed under "cancelled" ends within 60 s, and not as PASSED.',
    (seen) =>
      listingCancels(seen).flatMap(({ cancel, reads }) => {
        const end = reads.find(({ body }) => isFinal(body))
        if (end !== undefined) return finding(end.exchange, end.body.status !== 'PASSED' || 'it is PASSED')
        const last = reads.at(-1)
        if (last === undefined || last.exchange.atMs - cancel.atMs < seen.cancelMs) return []
        return finding(last.exchange, `it is still ${show(last.body.status)}`)
      }),
  ),
  'cancel-status': noted(
    'Run.status',
    'A run listed under "cancelled" becomes CANCELLED.',
    (seen) =>
      listingCancels(seen).flatMap(({ reads }) => {
        const end = reads.find(({ body }) => isFinal(body) && body.status !== 'PASSED')
        if (end === undefined) return []
        return finding(end.exchange, end.body.status === 'CANCELLED' || `it is ${show(end.body.status)}`)
      }),
    'such a run that ends',
  ),
}

/** The cancels of runs that the check wants to end. Cancels that the service should refuse are left out. */
function ownCancels({ exchanges }: Observations): Exchange[] {
  return exchanges.filter((one) => one.endpoint === 'cancel' && one.probe === undefined && isAnswered(one))
}

/** The cancels whose response lists the run that they name, each with the later reads of this run. */
function listingCancels(seen: Observations): { cancel: Exchange; reads: Read[] }[] {
  return ownCancels(seen).flatMap((cancel) => {
    const run = runsIn(seen.exchanges).find(({ id }) => id === cancel.runId && cancelledIn(cancel).includes(id))
    return run === undefined ? [] : { cancel, reads: run.reads.filter(({ exchange }) => exchange.index > cancel.index) }
  })
}

/** For each run, the status in the last read before an exchange, and the status in the first read after it. */
function around({ exchanges }: Observations, { index }: Exchange) {
  return runsIn(exchanges).map((run) => ({
    run,
    before: run.reads.findLast(({ exchange }) => exchange.index < index)?.body.status,
    after: run.reads.find(({ exchange }) => exchange.index > index)?.body.status,
  }))
}

function isOpen(status: unknown): boolean {
  return status === 'QUEUED' || status === 'RUNNING'
}

/** Whether a cancel ended only the run that it names. An earlier cancel may end its own run late. */
function endsNoOther(cancel: Exchange, seen: Observations): Shown {
  const named = ownCancels(seen)
    .filter(({ index }) => index <= cancel.index)
    .map(({ runId }) => runId)
  const changed = around(seen, cancel).filter(({ before, after }) => isOpen(before) && after === 'CANCELLED')
  const ended = changed.filter(({ run }) => !named.includes(run.id)).map(({ run }) => run.id)
  return ended.length === 0 || `${show(ended)} became CANCELLED`
}

/** If there is no run to cancel, the document allows a refusal, and also a success with an empty list. */
function cancelsNothing(cancel: Exchange, seen: Observations): Shown {
  const ends = endsNoOther(cancel, seen)
  if (ends !== true) return ends
  if (!isAccepted(cancel)) return refused(cancel)
  return cancelledIn(cancel).length === 0 || `it lists ${show(cancelledIn(cancel))}`
}

function cancelOf(status: string): Judge {
  return (seen) =>
    ownCancels(seen).flatMap((cancel) => {
      const run = around(seen, cancel).find(({ run: { id } }) => id === cancel.runId)
      if (run?.before !== status || (isAccepted(cancel) && !hasList(cancel))) return []
      if (cancelledIn(cancel).includes(run.run.id)) return finding(cancel, true)
      // If the run finished by itself before the cancel, the cancel shows nothing.
      if (!isOpen(run.after) && run.after !== 'CANCELLED') return []
      return finding(cancel, isAccepted(cancel) ? 'the run is not in "cancelled"' : accepted(cancel))
    })
}

function hasList(cancel: Exchange): boolean {
  const { cancelled } = jsonOf(cancel)
  return (
    isAccepted(cancel) && Array.isArray(cancelled) && cancelled.every((entry) => isObject(entry) && isText(entry.runId))
  )
}
