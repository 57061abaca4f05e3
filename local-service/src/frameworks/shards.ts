import { quote } from '../text.ts'

// Which shards of a run there are. Reports are counted by their numbers, because nothing else says whether one is missing.

export interface Shard {
  /** What the shards of one run have in common. One folder can hold the shards of several systems. */
  readonly set: string
  readonly index: number
  readonly total: number
}

/** A report of a shard. Without a number, `shard` is undefined. */
export interface Counted {
  readonly file: string
  readonly shard?: Shard | undefined
}

/**
 * Which shards are missing or are there too often, as the rest of a sentence. Empty if each number from 1 to the total is there
 * equally often. Reports of several projects or systems of one kind may all have the same numbers.
 */
export function whyIncomplete(reports: readonly Counted[]): string[] {
  const problems = [...setsOf(reports).values()].flatMap((reportsOfSet) => whySetIncomplete(reportsOfSet) ?? [])
  const next = 'A job may have been cancelled, or may have failed before a report was written or uploaded'
  return problems.length === 0 ? [] : [`${problems.join(', and ')}. ${next}`]
}

/** The reports of shards, by what the shards have in common. */
export function setsOf<T extends Counted>(reports: readonly T[]) {
  const shards = reports.flatMap(({ shard, ...report }) => (shard === undefined ? [] : [{ ...report, shard }]))
  return Map.groupBy(shards, ({ shard }) => JSON.stringify([shard.set, shard.total]))
}

function whySetIncomplete(reports: readonly Required<Counted>[]): string | undefined {
  // The comments say what each line has if there is one report of shard 1/3 and two of shard 2/3.
  const total = reports[0]?.shard?.total ?? 0
  // 1/3 has one file, 2/3 has two, and 3/3 has none.
  const numbers = Array.from({ length: total }, (_, at) => {
    const files = reports.filter(({ shard }) => shard?.index === at + 1).map(({ file }) => quote(file))
    return { name: `${at + 1}/${total}`, files }
  })
  // Once: 1/3 is there once, and 3/3 must be there at least once.
  const expected = expectedCounts(numbers.map(({ files }) => files.length))
  // 3/3
  const missing = numbers.filter(({ files }) => files.length < Math.max(...expected)).map(({ name }) => name)
  // 2/3
  const tooMany = numbers.filter(({ files }) => files.length > Math.min(...expected))
  const sentences = tooMany.map(({ name, files }) => {
    const often = files.length === 2 ? 'twice' : `${files.length} times`
    return `shard ${name} is there ${often}: an earlier attempt? Its reports are ${files.join(' and ')}`
  })
  // The report tells these shards from those of another system.
  if (missing.length > 0) sentences.unshift(`${shardsAre(missing)} missing beside ${quote(reports[0]?.file)}`)
  // If 1/2 is there once and 2/2 is there twice, both counts may be right. Then 1/2 is missing, or 2/2 is there twice.
  const isUnclear = expected.length > 1 && numbers.every(({ files }) => files.length > 0)
  return sentences.join(isUnclear ? ', or ' : ', and ') || undefined
}

/** How often each number must be there: as often as most numbers are, and at least once. If there is a tie, several counts may be right. */
function expectedCounts(counts: readonly number[]): number[] {
  const numbersByCount = [...Map.groupBy(counts, (count) => Math.max(1, count))]
  const most = Math.max(...numbersByCount.map(([, { length }]) => length))
  return numbersByCount.filter(([, { length }]) => length === most).map(([count]) => count)
}

function shardsAre(names: readonly string[]): string {
  return names.length === 1 ? `shard ${names[0]} is` : `shards ${names.slice(0, -1).join(', ')} and ${names.at(-1)} are`
}

/** Nobody can check how many reports there must be if no name says it. Undefined for a single report, which is of the whole. */
export function whyUncounted(reports: readonly Counted[]): string | undefined {
  const { length } = reports.filter(({ shard }) => shard === undefined)
  if (length < 2) return undefined
  return `the names of ${length} reports do not say how many there must be, so nobody could check whether one is missing. A name such as blob-1-4.json says it`
}
