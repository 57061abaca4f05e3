import type { Exchange } from '../exchange.ts'
import { isAccepted, isRefused, jsonOf, type Observations, show, startedId } from '../observations.ts'
import { accepted, everyAnswer, everyRead, everySuccess, isText, probes, refused } from './judging.ts'
import { documented, finding, type Judge, noted, reliedOn, type Shown } from './rule.ts'

const OLD_NAMES = 'StartRunRequest.environmentName, StartRunRequest.runGroupName'
const ANY_BRANCH = 'a service that takes any branch'

export const STARTS = {
  'start-response': documented(
    'StartRunResponse.runId',
    'A start returns an object with "runId", a string.',
    everySuccess('start', ({ runId }) => isText(runId) || `"runId" is ${show(runId)}`),
  ),
  'start-id-new': documented(
    'StartRunResponse.runId',
    'Each start gets an id of its own.',
    ({ exchanges }) => {
      const starts = exchanges.filter((one) => startedId(one) !== undefined).slice(1)
      const isOld = (one: Exchange) =>
        exchanges.slice(0, one.index).some((earlier) => startedId(earlier) === startedId(one))
      return starts.flatMap((one) => finding(one, !isOld(one) || `${show(startedId(one))} came before`))
    },
    'two starts',
  ),
  'start-fields': documented(
    'StartRunRequest',
    'A start accepts all fields.',
    acceptsAll(['environment', 'frameworkProjectName', 'envOverrides', 'autofix', 'branch']),
    '--environment, --framework-project, --branch',
  ),
  'start-deprecated': documented(
    OLD_NAMES,
    'A start accepts the old names of fields.',
    acceptsAll(['environmentName', 'runGroupName']),
    '--environment, --framework-project',
  ),
  'start-types': documented('StartRunRequest', 'A field of the wrong type is refused: 4xx.', probes(refused)),
  'start-not-json': documented('startRun', 'A body that is not JSON is refused: 4xx.', probes(refused)),
  'start-array': documented('StartRunRequest', 'A body that is an array is refused: 4xx.', probes(refused)),
  'start-project': documented('NotFound', 'A start in a project that does not exist is refused: 4xx.', probes(refused)),
  'branch-0': documented('StartRunRequest.branch', 'A branch of 0 characters is refused: 4xx.', probes(refused)),
  'branch-1': documented(
    'StartRunRequest.branch',
    'A branch of 1 character is accepted.',
    probes((one, seen) => ofKnownLength(one, seen, 'branch-255')),
    ANY_BRANCH,
  ),
  'branch-255': documented(
    'StartRunRequest.branch',
    'A branch of 255 characters is accepted.',
    probes((one, seen) => ofKnownLength(one, seen, 'branch-1')),
    ANY_BRANCH,
  ),
  'branch-256': documented('StartRunRequest.branch', 'A branch of 256 characters is refused: 4xx.', probes(refused)),
  'run-id': reliedOn(
    'StartRunResponse.runId',
    'The id of a run has 1 to 256 characters of A-Z a-z 0-9 . _ ~ : = + / @ -. It is neither "." nor "..".',
    everyAnswer((one) => {
      const { runId, testSuiteRunId: id = runId } = jsonOf(one)
      if (!one.endpoint.endsWith('start') || !isAccepted(one) || typeof id !== 'string') return undefined
      return /^(?!\.{1,2}$)[\w.~:=+/@-]{1,256}$/.test(id) || `it is ${show(id)}`
    }),
  ),
  'branch-tested': reliedOn(
    'Run.branchName',
    '"branchName" is the branch that the start named.',
    everyRead(({ branchName }, { start }) => {
      const asked = sentFields(start).branch
      if (typeof asked !== 'string' || typeof branchName !== 'string' || branchName === '') return undefined
      return withoutPrefix(branchName) === withoutPrefix(asked) || `"branchName" is ${show(branchName)}`
    }),
    '--branch',
  ),
  'start-empty': noted('StartRunRequest', 'A start without any field is accepted.', probes(accepted)),
  'start-old-beside-new': noted(
    OLD_NAMES,
    'A start accepts old names of fields beside the new names.',
    probes(accepted),
    'an option with an old name',
  ),
  'start-not-utf8': noted('startRun', 'A body that is not UTF-8 is refused: 4xx.', probes(refused)),
  'branch-unicode': noted(
    'StartRunRequest.branch',
    'The characters of a branch are counted as Unicode code points.',
    probes(accepted),
    ANY_BRANCH,
  ),
}

/** If a start with only some of the fields is accepted, it shows nothing about the other fields. */
function acceptsAll(names: readonly string[]): Judge {
  return probes((one) =>
    isAccepted(one) && !names.every((name) => name in sentFields(one)) ? undefined : accepted(one),
  )
}

/**
 * A service may refuse a branch that it does not know. If it accepts the unknown branch of the other rule, its refusal of
 * this branch is about the length.
 */
function ofKnownLength(start: Exchange, { exchanges }: Observations, otherProbe: string): Shown {
  const isUnknown = isRefused(start) && !exchanges.some((one) => one.probe === otherProbe && isAccepted(one))
  return isUnknown ? undefined : accepted(start)
}

function sentFields({ body }: Exchange): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(String(body)))
  } catch {
    return {}
  }
}

function withoutPrefix(branch: string): string {
  return branch.replace(/^refs\/heads\//, '')
}
