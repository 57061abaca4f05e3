import type { Exchange } from '../exchange.ts'
import { isAccepted, isAnswered, isReadOf, runsIn, STATUSES, show } from '../observations.ts'
import { accepted, everyPair, everyRead, everySuccess, field, isFinal, isText, probes, refused } from './judging.ts'
import { documented, finding, type Judge, noted, reliedOn } from './rule.ts'

/** The rules about a run's status and branch. */
export const READS = {
  'run-read': documented(
    'getRun',
    'A run that was started can be read.',
    // If only the first reads are refused, the service breaks the rule `read-at-once`, not this rule.
    chosenReads((reads) => reads.slice(Math.max(0, reads.findIndex(isAccepted)))),
  ),
  'run-status': documented(
    'Run.status',
    'A read returns an object with one of the seven statuses.',
    everySuccess('read', ({ status }, { probe }) =>
      probe === undefined ? STATUSES.includes(status) || `"status" is ${show(status)}` : undefined,
    ),
  ),
  'branch-name': documented(
    'Run.branchName',
    '"branchName" is a string.',
    field('branchName', isText),
    'a read with "branchName"',
  ),
  'read-unknown': documented('NotFound', 'A read of a run that does not exist is refused: 4xx.', probes(refused)),
  'read-project': documented(
    'NotFound',
    'A read of the run in a project that does not exist is refused: 4xx.',
    probes(refused),
  ),
  'read-other-project': documented(
    'NotFound',
    'A read of the run in another project is refused: 4xx.',
    probes(refused),
    '--other-project',
  ),
  'read-at-once': reliedOn(
    'getRun',
    'A run can be read as soon as the start has returned.',
    chosenReads((reads) => reads.slice(0, 1)),
  ),
  'final-stays': reliedOn(
    'Run.status',
    'A final status does not change.',
    everyPair((before, after) =>
      isFinal(before) ? after.status === before.status || `${before.status} became ${show(after.status)}` : undefined,
    ),
    'two reads of a finished run',
  ),
  'status-forward': noted(
    'Run.status',
    'A run that is RUNNING does not become QUEUED.',
    everyPair((before, after) => {
      if (isFinal(before) || isFinal(after)) return undefined
      return before.status !== 'RUNNING' || after.status !== 'QUEUED' || 'RUNNING became QUEUED'
    }),
    'two reads of an unfinished run',
  ),
  'branch-name-there': noted(
    'Run.branchName',
    'A finished run has "branchName".',
    everyRead((body) => (isFinal(body) ? body.branchName !== undefined || 'there is no "branchName"' : undefined)),
    'a run that finishes',
  ),
  'run-message': noted(
    'Run.message',
    'The "message" of a run, if there is one, is a string.',
    field('message', isText),
    'a read with "message"',
  ),
}

/** Chooses some reads of each run. The service must accept them. */
function chosenReads(choose: (reads: Exchange[]) => Exchange[]): Judge {
  return ({ exchanges }) =>
    runsIn(exchanges).flatMap(({ id }) =>
      choose(exchanges.filter((one) => isReadOf(id, one) && isAnswered(one))).flatMap((one) =>
        finding(one, accepted(one)),
      ),
    )
}
