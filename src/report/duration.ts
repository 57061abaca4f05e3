import { type Phrase, phrase } from './inert.ts'

/** A length of time as people say it: `340 ms`, `1.2 s`, `3 min 4 s`, `2 h 5 min`. */
export function durationText(ms: number): Phrase {
  const wholeMs = Math.round(Math.max(0, ms))
  if (wholeMs < 1000) return phrase`${wholeMs} ms`
  const tenths = Math.round(wholeMs / 100)
  if (tenths < 600) return phrase`${tenths / 10} s`
  const seconds = Math.round(wholeMs / 1000)
  if (seconds < 3600) return twoUnits(Math.floor(seconds / 60), phrase`min`, seconds % 60, phrase`s`)
  const minutes = Math.round(seconds / 60)
  return twoUnits(Math.floor(minutes / 60), phrase`h`, minutes % 60, phrase`min`)
}

function twoUnits(large: number, largeUnit: Phrase, small: number, smallUnit: Phrase): Phrase {
  return small === 0 ? phrase`${large} ${largeUnit}` : phrase`${large} ${largeUnit} ${small} ${smallUnit}`
}
