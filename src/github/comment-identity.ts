import { createHash } from 'node:crypto'

/** What one comment is about. Two steps that agree in all four share a comment. */
export interface CommentSubject {
  /** The workflow's file (or, on an old server, its name). */
  readonly workflow: string
  readonly job: string
  /** The matrix context as JSON; `null` or empty without a matrix. */
  readonly matrix: string
  /** The `comment-key` input. */
  readonly key: string
}

/** Where in the order of runs a text was written. Ids of runs only ever grow, and attempts of one run count up. */
export interface RunOrder {
  readonly runId: bigint
  readonly attempt: bigint
}

/** By what a comment is found again, and how old its text is. */
export interface CommentIdentity {
  /** What the comment's body starts with. An HTML comment, so that nobody sees it. */
  readonly marker: string
  /** The part of the marker that stays the same from run to run. */
  readonly markerPrefix: string
  readonly age: RunOrder
}

/**
 * The marker holds a digest of the subject, never its values: a matrix may hold names that do not belong on a pull
 * request, or `-->`. The run number is left out of the age on purpose: it starts again when a workflow's file is
 * renamed, and a comment written before would then never be updated again.
 */
export function commentIdentity(subject: CommentSubject, age: RunOrder): CommentIdentity {
  const parts = [subject.workflow, subject.job, canonicalMatrix(subject.matrix), subject.key]
  const digest = createHash('sha256').update(JSON.stringify(parts)).digest('hex')
  const markerPrefix = `<!-- test-run-action ${digest} `
  return { markerPrefix, age, marker: `${markerPrefix}run ${age.runId} attempt ${age.attempt} -->` }
}

/** A decimal number of the environment or of a marker; zero, older than all, for anything else. */
export function parseId(text: string | undefined): bigint {
  return text !== undefined && /^\d{1,20}$/.test(text) ? BigInt(text) : 0n
}

export function hasMarker(body: string, identity: CommentIdentity): boolean {
  return body.startsWith(identity.markerPrefix)
}

/** Whether the text of `body` comes from a later run, or a later attempt of the same run. */
export function isNewer(body: string, identity: CommentIdentity): boolean {
  const [, runId, attempt] = /^run (\d+) attempt (\d+) -->/.exec(body.slice(identity.markerPrefix.length)) ?? []
  const theirs: RunOrder = { runId: parseId(runId), attempt: parseId(attempt) }
  if (theirs.runId !== identity.age.runId) return theirs.runId > identity.age.runId
  return theirs.attempt > identity.age.attempt
}

/** The same text for the same matrix leg, in whatever order the workflow's file lists its keys. */
function canonicalMatrix(json: string): string {
  const text = json.trim()
  if (text === '' || text === 'null') return ''
  try {
    const canonical = JSON.stringify(JSON.parse(text), sortKeys)
    return canonical === '{}' ? '' : canonical
  } catch {
    return text
  }
}

function sortKeys(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}
