import type { Exchange } from '../exchange.ts'
import type { Observations } from '../observations.ts'

/** A broken rule of the kinds "document" and "action" fails the check. A note says what docs/openapi.yaml leaves open. */
type Kind = 'document' | 'action' | 'note'

export interface Rule {
  readonly kind: Kind
  /** The name in docs/openapi.yaml under which the rule stands, or to which it adds something. */
  readonly place: string
  readonly sentence: string
  /** What the check needs to observe the rule. */
  readonly needs?: string | undefined
  /** Everything that the observations show about the rule. The id is that of the rule. */
  readonly judge: Judge
}

export type Judge = (seen: Observations, id: string) => Finding[]

export interface Finding {
  readonly exchange: Exchange
  readonly problem?: string | undefined
}

/** What an exchange shows about a rule: `true` if it keeps the rule, a text if it breaks it, undefined if it shows nothing. */
export type Shown = true | string | undefined

export function finding(exchange: Exchange, shown: Shown): Finding[] {
  return shown === undefined ? [] : [{ exchange, problem: shown === true ? undefined : shown }]
}

const ruleOf =
  (kind: Kind) =>
  (place: string, sentence: string, judge: Judge, needs?: string): Rule => ({ kind, place, sentence, judge, needs })

export const documented = ruleOf('document')
export const reliedOn = ruleOf('action')
export const noted = ruleOf('note')
