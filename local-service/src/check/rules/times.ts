import { STATUSES, show } from '../observations.ts'
import { everyPair, everyRead, field, isFinal } from './judging.ts'
import { documented, noted } from './rule.ts'

const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i
const ISO_8601 =
  /^(?<year>\d{4})-?(?<month>\d\d)-?(?<day>\d\d)([T ](?<hour>\d\d)(:?(?<minute>\d\d)(:?(?<second>\d\d)([.,]\d+)?)?)?([.,]\d+)? ?(?<zone>Z|[+-]\d\d(:?\d\d)?)?)?$/i

/** The rules about `startedAt` and `finishedAt`. */
export const TIMES = {
  'started-at': documented(
    'Run.startedAt',
    '"startedAt" is an ISO timestamp or null.',
    field('startedAt', (value) => value === null || isTime(value)),
    'a read with "startedAt"',
  ),
  'finished-at': documented(
    'Run.finishedAt',
    '"finishedAt" is an ISO timestamp.',
    // If a run is not finished, the document allows null here, and also no field.
    everyRead((body) =>
      body.finishedAt === undefined || (body.finishedAt === null && !isFinal(body))
        ? undefined
        : isTime(body.finishedAt) || `"finishedAt" is ${show(body.finishedAt)}`,
    ),
    'a read with "finishedAt"',
  ),
  'queued-started-at': documented(
    'Run.startedAt',
    '"startedAt" is null while the run is QUEUED.',
    everyRead(({ status, startedAt }) =>
      status === 'QUEUED' ? startedAt === null || `it is ${show(startedAt)}` : undefined,
    ),
    'a read of a QUEUED run',
  ),
  'started-when': noted(
    'Run.startedAt',
    '"startedAt" is set while the run is RUNNING.',
    everyRead(({ status, startedAt }) =>
      status === 'RUNNING' ? isTime(startedAt) || `it is ${show(startedAt)}` : undefined,
    ),
    'a read of a RUNNING run',
  ),
  'finished-when': noted(
    'Run.finishedAt',
    '"finishedAt" is set if, and only if, the run is finished.',
    everyRead((body) => {
      const isSet = body.finishedAt !== undefined && body.finishedAt !== null
      return STATUSES.includes(body.status) ? isSet === isFinal(body) || `it is ${show(body.finishedAt)}` : undefined
    }),
  ),
  'times-order': noted(
    'Run.finishedAt',
    '"finishedAt" is not before "startedAt".',
    everyRead(({ startedAt, finishedAt }) => {
      if (!isTime(startedAt) || !isTime(finishedAt)) return undefined
      const isInOrder = timeOf(startedAt) <= timeOf(finishedAt)
      return isInOrder || `"startedAt" is ${show(startedAt)}, "finishedAt" ${show(finishedAt)}`
    }),
    'a read with "startedAt" and "finishedAt"',
  ),
  'times-stay': noted(
    'Run.startedAt, Run.finishedAt',
    '"startedAt" and "finishedAt" do not change.',
    everyPair((before, after) => {
      const set = ['startedAt', 'finishedAt'].filter((name) => isTime(before[name]))
      const changed = set.find((name) => before[name] !== after[name])
      if (changed !== undefined) return `"${changed}" was ${show(before[changed])} and is ${show(after[changed])}`
      return set.length > 0 || undefined
    }),
    'two reads with "startedAt" or "finishedAt"',
  ),
  'times-spelling': noted(
    'Run.startedAt, Run.finishedAt',
    'Times are written as in RFC 3339, with a zone.',
    everyRead(({ startedAt, finishedAt }) => {
      const times = [startedAt, finishedAt].filter(isTime)
      const other = times.find((time) => !RFC_3339.test(time))
      return other === undefined ? times.length > 0 || undefined : `it is ${show(other)}`
    }),
    'a read with a time',
  ),
}

function isTime(value: unknown): value is string {
  return typeof value === 'string' && !Number.isNaN(timeOf(value))
}

/** NaN if the text is no ISO timestamp. Every spelling of ISO 8601 is accepted, with or without a time zone. */
function timeOf(text: string): number {
  const { year, month, day, hour = '00', minute = '00', second = '00', zone = 'Z' } = ISO_8601.exec(text)?.groups ?? {}
  const digits = zone.replace(':', '')
  const offset = /^z$/i.test(zone) ? 'Z' : `${digits.slice(0, 3)}:${digits.slice(3) || '00'}`
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}${offset}`)
}
