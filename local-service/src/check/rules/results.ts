import { isObject } from '../../frameworks/framework.ts'
import { STATUSES, show } from '../observations.ts'
import { everyPair, everyRead, type Fields, field, fieldShown, isFinal, isText } from './judging.ts'
import { documented, type Judge, noted, reliedOn, type Shown } from './rule.ts'

/** A case with one of these statuses did run, so it took some time. */
const STATUSES_THAT_RAN: readonly unknown[] = ['PASSED', 'FLAKY', 'FAILED', 'TIMEDOUT', 'INTERRUPTED', 'ERROR']
const CASE_STATUSES: readonly unknown[] = [...STATUSES, ...STATUSES_THAT_RAN, 'SKIPPED', 'RETRYING']

/** The rules about the results of a run. */
export const RESULTS = {
  results: documented(
    'Results.testCases',
    '"results" is an object with the array "testCases".',
    field('results', (value) => isObject(value) && Array.isArray(value.testCases)),
    'a read with "results"',
  ),
  'running-results': documented(
    'Run.results',
    'A run that is RUNNING has no "results".',
    everyRead(({ status, results }) =>
      status === 'RUNNING' ? results === undefined || 'there are results' : undefined,
    ),
    'a read of a RUNNING run',
  ),
  'results-passed': reliedOn(
    'Run.results',
    'A PASSED run has "results".',
    everyRead((body) => (body.status === 'PASSED' ? hasResults(body) : undefined)),
    'a run that becomes PASSED',
  ),
  'results-there': noted(
    'Run.results',
    'A run that finishes, but not as PASSED, has "results".',
    everyRead((body) => (isFinal(body) && body.status !== 'PASSED' ? hasResults(body) : undefined)),
    'such a run',
  ),
  'results-stay': noted(
    'Run.results',
    '"results" of a finished run do not change.',
    everyPair((before, after) =>
      isFinal(before) && before.results !== undefined
        ? show(before.results) === show(after.results) || 'the results are other ones'
        : undefined,
    ),
    'two reads of results',
  ),
  'case-object': documented(
    'TestCase',
    'A test case is an object.',
    everyEntry((testCase) => isObject(testCase) || `it is ${show(testCase)}`),
    'a run with test cases that finishes in time',
  ),
  'case-title': documented(
    'TestCase.title',
    'The "title" of a test case is a string.',
    caseField('title', isText),
    'a test case with "title"',
  ),
  'case-title-there': reliedOn(
    'TestCase.title',
    'A test case has a "title" that is not empty.',
    everyCase(({ title }) => (title !== undefined && title !== '') || `"title" is ${show(title)}`),
    'a test case',
  ),
  'case-status': documented(
    'TestCase.status',
    'The "status" of a test case is a string.',
    caseField('status', isText),
    'a test case with "status"',
  ),
  'case-status-there': reliedOn(
    'TestCase.status',
    'A test case has a "status".',
    everyCase(({ status }) => status !== undefined || 'there is no "status"'),
    'a test case',
  ),
  'case-status-known': noted(
    'TestCase.status',
    'The action knows the "status" of a test case.',
    caseField('status', (value) => CASE_STATUSES.includes(value)),
    'a test case with "status"',
  ),
  'case-duration': documented(
    'TestCase.durationMs',
    'The "durationMs" of a test case is an integer.',
    caseField('durationMs', Number.isInteger),
    'a test case with "durationMs"',
  ),
  'case-duration-there': noted(
    'TestCase.durationMs',
    'A test case that ran has "durationMs".',
    everyCase(({ status, durationMs }) =>
      STATUSES_THAT_RAN.includes(status) ? durationMs !== undefined || 'there is no "durationMs"' : undefined,
    ),
    'a test case that ran',
  ),
  'case-duration-sign': noted(
    'TestCase.durationMs',
    '"durationMs" is not negative.',
    caseField('durationMs', (value) => !(Number(value) < 0)),
    'a test case with "durationMs"',
  ),
  'case-message': noted(
    'TestCase.message',
    'The "message" of a test case, if there is one, is a string.',
    caseField('message', isText),
    'a test case with "message"',
  ),
  'case-file-path': noted(
    'TestCase.filePath',
    'The "filePath" of a test case, if there is one, is a relative path with "/" and without "..".',
    caseField('filePath', (value) => isText(value) && isRelative(value)),
    'a test case with "filePath"',
  ),
  'case-line': noted(
    'TestCase.line',
    'The "line" of a test case, if there is one, is a whole number from 1.',
    caseField('line', (value) => Number.isInteger(value) && Number(value) >= 1),
    'a test case with "line"',
  ),
}

function hasResults({ results }: Fields): Shown {
  return results !== undefined || 'there are no "results"'
}

function everyEntry(judge: (testCase: unknown) => Shown): Judge {
  return everyRead(({ results }) => {
    const entries = isObject(results) && Array.isArray(results.testCases) ? results.testCases : []
    const shown = entries.map(judge)
    return shown.find((one) => typeof one === 'string') ?? (shown.includes(true) || undefined)
  })
}

function everyCase(judge: (testCase: Fields) => Shown): Judge {
  return everyEntry((entry) => (isObject(entry) ? judge(entry) : undefined))
}

function caseField(name: string, isRight: (value: unknown) => boolean): Judge {
  return everyCase((testCase) => fieldShown(testCase, name, isRight))
}

function isRelative(path: string): boolean {
  return !/^(\/|[a-z]:|file:)|\\/i.test(path) && !path.split('/').includes('..')
}
