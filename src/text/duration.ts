import { type Fragment, fragment } from './safe-text.ts'

/** More than a year: no clock here runs so long, but a service can name any number. */
const LONGEST_HOURS = 10_000

/** A length of time as people say it: `340 ms`, `1.2 s`, `3 min 4 s`, `2 h 5 min`. */
export function durationText(ms: number): Fragment {
  if (!(ms <= LONGEST_HOURS * 3_600_000)) return fragment`more than ${LONGEST_HOURS} h`
  const wholeMs = Math.round(Math.max(0, ms))
  if (wholeMs < 1000) return fragment`${wholeMs} ms`
  const tenths = Math.round(wholeMs / 100)
  if (tenths < 600) return fragment`${tenths / 10} s`
  const seconds = Math.round(wholeMs / 1000)
  if (seconds < 3600) return twoUnits(Math.floor(seconds / 60), fragment`min`, seconds % 60, fragment`s`)
  const minutes = Math.round(seconds / 60)
  return twoUnits(Math.floor(minutes / 60), fragment`h`, minutes % 60, fragment`min`)
}

function twoUnits(large: number, largeUnit: Fragment, small: number, smallUnit: Fragment): Fragment {
  return small === 0 ? fragment`${large} ${largeUnit}` : fragment`${large} ${largeUnit} ${small} ${smallUnit}`
}
