import { quote } from '../text.ts'

// Which shards of a run there are. Their blobs are counted by their numbers, because nothing else says whether one is missing.

export interface Shard {
  /** What the shards of one run have in common, such as `blob-linux-`. If all shards run on Linux and on Windows, one folder has two sets. */
  readonly set: string
  readonly index: number
  readonly total: number
}

/** The blob of a shard. If nothing says which shard it is, `shard` is undefined. */
export interface CountedBlob {
  readonly file: string
  readonly shard?: Shard | undefined
}

/**
 * Which shards are missing or are there too often, as sentences. Undefined if each number from 1 to the total is there equally often. A set may
 * have each number several times, for example once for each version of Node. This cannot see that all shards of a set are missing.
 */
export function whyIncomplete(blobs: readonly CountedBlob[]): string | undefined {
  const counted = blobs.filter(({ shard }) => shard !== undefined)
  const sets = Map.groupBy(counted, ({ shard }) => JSON.stringify([shard?.set, shard?.total]))
  const problems = [...sets.values()].flatMap(findProblemsOfSet)
  const next = 'A job may have been cancelled, or may have failed before a report was written or uploaded.'
  return problems.length === 0 ? undefined : [...problems, next].join(' ')
}

/** With files for 1/3, 2/3, 2/3: `usual` is 1, `missing` is [3/3], and `tooMany` is [2/3]. */
function findProblemsOfSet(blobs: readonly CountedBlob[]): string[] {
  const total = blobs[0]?.shard?.total ?? 0
  const numbers = Array.from({ length: total }, (_, at) => {
    const files = blobs.filter(({ shard }) => shard?.index === at + 1).map(({ file }) => quote(file))
    return { name: `${at + 1}/${total}`, files }
  })
  // The usual count is the one in the middle of all counts: of 0, 1 and 2, it is 1.
  const counts = numbers.map(({ files }) => files.length).sort((one, other) => one - other)
  const usual = Math.max(1, counts[Math.floor((total - 1) / 2)] ?? 0)
  const missing = numbers.filter(({ files }) => files.length < usual).map(({ name }) => name)
  const list = new Intl.ListFormat('en-GB').format(missing)
  const shardsAre = missing.length === 1 ? `Shard ${list} is` : `Shards ${list} are`
  const tooMany = numbers.filter(({ files }) => files.length > usual)
  return [
    // The file says which system the shard is of.
    ...(missing.length === 0 ? [] : [`${shardsAre} missing beside ${quote(blobs[0]?.file)}.`]),
    ...tooMany.map(({ name, files }) => {
      const often = files.length === 2 ? 'twice' : `${files.length} times`
      return `Shard ${name} is there ${often}: an earlier attempt? Its reports are ${files.join(' and ')}.`
    }),
  ]
}

/** What the log says of several blobs without a number, as sentences. Undefined for a single blob, because it is of the whole. */
export function remarkOnUncounted(blobs: readonly CountedBlob[], whatSaysIt: string): string | undefined {
  const { length } = blobs.filter(({ shard }) => shard === undefined)
  if (length < 2) return undefined
  return `${length} reports do not say how many there must be, so nobody could check whether one is missing. ${whatSaysIt}`
}
