import type { Endpoint, Exchange, Response } from '../exchange.ts'
import {
  FINAL_STATUSES,
  isAccepted,
  isAnswered,
  isRefused,
  jsonOf,
  type Observations,
  type Read,
  type Run,
  runsIn,
  show,
} from '../observations.ts'
import { finding, type Judge, type Shown } from './rule.ts'

// What several rules are made of.

export type Fields = Read['body']

/** Judges every response, also redirects and 429. */
export function everyResponse(judge: (response: Response) => Shown): Judge {
  return ({ exchanges }) =>
    exchanges.flatMap((one) => (one.response === undefined ? [] : finding(one, judge(one.response))))
}

/** Judges every response except redirects and 429, which say nothing about other rules. */
export function everyAnswer(judge: (exchange: Exchange) => Shown): Judge {
  return ({ exchanges }) => exchanges.filter(isAnswered).flatMap((exchange) => finding(exchange, judge(exchange)))
}

/** Judges the JSON of every successful response of an endpoint. */
export function everySuccess(endpoint: Endpoint, judge: (body: Fields, exchange: Exchange) => Shown): Judge {
  return everyAnswer((one) =>
    one.endpoint === endpoint && isAccepted(one) && one.response?.json !== undefined
      ? judge(jsonOf(one), one)
      : undefined,
  )
}

/** Judges the responses to the requests that were sent to test this rule. */
export function probes(judge: (exchange: Exchange, seen: Observations) => Shown): Judge {
  return (seen, id) =>
    seen.exchanges
      .filter((exchange) => exchange.probe === id && isAnswered(exchange))
      .flatMap((exchange) => finding(exchange, judge(exchange, seen)))
}

export function everyRead(judge: (body: Fields, run: Run) => Shown): Judge {
  return ({ exchanges }) =>
    runsIn(exchanges).flatMap((run) => run.reads.flatMap(({ exchange, body }) => finding(exchange, judge(body, run))))
}

/** Judges each read of a run together with the read before it. */
export function everyPair(judge: (before: Fields, after: Fields) => Shown): Judge {
  const ofRun = ({ reads }: Run) =>
    reads.flatMap((after, index) => {
      const before = reads[index - 1]
      return before === undefined ? [] : finding(after.exchange, judge(before.body, after.body))
    })
  return ({ exchanges }) => runsIn(exchanges).flatMap(ofRun)
}

/** Judges a field in every read. A read without the field shows nothing. */
export function field(name: string, isRight: (value: unknown) => boolean): Judge {
  return everyRead((body) => fieldShown(body, name, isRight))
}

export function fieldShown(fields: Fields, name: string, isRight: (value: unknown) => boolean): Shown {
  const { [name]: value } = fields
  return value === undefined ? undefined : isRight(value) || `"${name}" is ${show(value)}`
}

export function gets(status: number) {
  return ({ response }: Exchange): Shown => response?.status === status || `expected ${status}, got ${response?.status}`
}

export function accepted(one: Exchange): Shown {
  return isAccepted(one) || `expected 200, got ${one.response?.status}`
}

export function refused(one: Exchange): Shown {
  return isRefused(one) || `expected a status from 400 to 499, got ${one.response?.status}`
}

export function isText(value: unknown): value is string {
  return typeof value === 'string'
}

export function isFinal({ status }: Fields): boolean {
  return FINAL_STATUSES.includes(status)
}
