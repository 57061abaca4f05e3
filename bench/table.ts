/** A table in Markdown. Columns of numbers stand at the right. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const alignment = head.map((_, column) => (rows.every((row) => /^(\d|$)/.test(row[column] ?? '')) ? '---:' : '---'))
  return [head, alignment, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

/** What issue or contract asks for, and what came out. */
export interface Finding {
  readonly what: string
  readonly goal: string
  readonly result: string
  readonly isReached: boolean
}

/** One part of the bench: what it found, and the numbers behind it. */
export interface Part {
  readonly title: string
  readonly findings: readonly Finding[]
  /** Markdown. */
  readonly details: string
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[sorted.length >> 1] ?? Number.NaN
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
