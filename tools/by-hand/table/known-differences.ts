import type { KnownDifference } from './describe-table.ts'

/** The differences that stay, each with its reason. */
export const KNOWN_DIFFERENCES: readonly KnownDifference[] = []
