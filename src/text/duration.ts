import { type Fragment, fragment } from './safe-text.ts'

export function durationText(ms: number): Fragment {
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
