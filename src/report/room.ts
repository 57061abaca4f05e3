import type { CaseRow } from './case-table.ts'
import { sizeBytes } from './page.ts'

// test/report/job-summary.test.ts and test/report/comment-body.test.ts test it.

/** The rows that a page has room for. When a row does not fit, no later row does, so that a page stops between two rows. */
export class Room {
  #rows: number
  #bytes: number

  constructor(limit: { readonly rows: number; readonly bytes: number }) {
    this.#rows = limit.rows
    this.#bytes = limit.bytes
  }

  /** The rows of the first items that fit. */
  take<Item>(items: readonly Item[], rowOf: (item: Item, index: number) => CaseRow): readonly CaseRow[] {
    const rows: CaseRow[] = []
    for (const [index, item] of items.entries()) {
      if (this.#rows === 0) break
      const row = rowOf(item, index)
      this.#bytes -= rowBytes(row)
      this.#rows = this.#bytes < 0 ? 0 : this.#rows - 1
      if (this.#bytes >= 0) rows.push(row)
    }
    return rows
  }

  /** Larger rows of the first items, in place of rows that `take` has returned. When one does not fit, no later one does. */
  replace<Item>(taken: readonly CaseRow[], items: readonly Item[], rowOf: (item: Item) => CaseRow): readonly CaseRow[] {
    const rows: CaseRow[] = []
    for (const item of items) {
      const [row, old] = [rowOf(item), taken[rows.length]]
      const moreBytes = rowBytes(row) - (old === undefined ? 0 : rowBytes(old))
      if (moreBytes > this.#bytes) break
      this.#bytes -= moreBytes
      rows.push(row)
    }
    return rows
  }
}

function rowBytes({ row, below }: CaseRow): number {
  return sizeBytes(row) + (below === undefined ? 0 : sizeBytes(below))
}
