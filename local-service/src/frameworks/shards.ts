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
 * equally often. Several projects on one system count together, so each number may be there several times. This cannot see that all
 * shards of a project are missing, or all shards of a system.
 */
export function whyIncomplete(reports: readonly Counted[]): string[] {
  const counted = reports.filter(({ shard }) => shard !== undefined)
  const sets = Map.groupBy(counted, ({ shard }) => JSON.stringify([shard?.set, shard?.total]))
  const problems = [...sets.values()].flatMap(whySetIncomplete)
  const next = 'A job may have been cancelled, or may have failed before a report was written or uploaded'
  return problems.length === 0 ? [] : [`${problems.join(', and ')}. ${next}`]
}

/** With files for 1/3, 2/3, 2/3: `usual` is 1, `missing` is [3/3], and `tooMany` is [2/3]. */
function whySetIncomplete(reports: readonly Counted[]): string[] {
  const total = reports[0]?.shard?.total ?? 0
  const numbers = Array.from({ length: total }, (_, at) => {
    const files = reports.filter(({ shard }) => shard?.index === at + 1).map(({ file }) => quote(file))
    return { name: `${at + 1}/${total}`, files }
  })
  // The usual count is the one in the middle of all counts: of 0, 1 and 2, it is 1.
  const counts = numbers.map(({ files }) => files.length).sort((one, other) => one - other)
  const usual = Math.max(1, counts[Math.floor((total - 1) / 2)] ?? 0)
  const missing = numbers.filter(({ files }) => files.length < usual).map(({ name }) => name)
  const list = new Intl.ListFormat('en-GB').format(missing)
  const shardsAre = missing.length === 1 ? `shard ${list} is` : `shards ${list} are`
  const tooMany = numbers.filter(({ files }) => files.length > usual)
  return [
    // The file says which system the shard is of.
    ...(missing.length === 0 ? [] : [`${shardsAre} missing beside ${quote(reports[0]?.file)}`]),
    ...tooMany.map(({ name, files }) => {
      const often = files.length === 2 ? 'twice' : `${files.length} times`
      return `shard ${name} is there ${often}: an earlier attempt? Its reports are ${files.join(' and ')}`
    }),
  ]
}

/** What the log says of several reports without a number. Undefined for a single report, because it is of the whole. */
export function whyUncounted(reports: readonly Counted[], whatSaysIt: string): string | undefined {
  const { length } = reports.filter(({ shard }) => shard === undefined)
  if (length < 2) return undefined
  return `${length} reports do not say how many there must be, so nobody could check whether one is missing. ${whatSaysIt}`
}
