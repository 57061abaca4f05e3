import { isObject } from '../../../src/text/json.ts'

/** A project that cannot be served or run, or results that cannot be read. */
export interface Unusable {
  readonly isUnusable: true
  /** `over-limit` means that tests wrote more than the service reads. So the run has failed. */
  readonly kind: 'unusable' | 'over-limit'
  /** One or more sentences. */
  readonly reason: string
}

export function unusable(reason: string, kind: Unusable['kind'] = 'unusable'): Unusable {
  return { isUnusable: true, kind, reason }
}

export function isUnusable(value: unknown): value is Unusable {
  return isObject(value) && value.isUnusable === true
}
