import { count } from '../text.ts'
import type { Exchange } from './client.ts'
import type { RuleResult } from './rules.ts'
import type { Report } from './session.ts'

const SHOWN_CHARS = 500

/** Text from outside: without the key in any of its forms, short, and with nothing that a terminal obeys or XML forbids. */
export function shown(text: string, key: string): string {
  const forms = [key, JSON.stringify(key).slice(1, -1), encodeURIComponent(key)]
  const safe = forms.reduce((redacted, form) => redacted.replaceAll(form, '***'), text)
  const short = safe.length > SHOWN_CHARS ? `${safe.slice(0, SHOWN_CHARS)}…` : safe
  return short.toWellFormed().replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (one) => `\\u{${one.codePointAt(0)?.toString(16)}}`)
}

export type Format = 'text' | 'json' | 'junit'

export function render(report: Report, format: Format, key: string): string {
  const having = (verdict: string) => report.rules.filter((rule) => rule.verdict === verdict).length
  const summary = { holds: having('holds'), broken: having('broken'), notObserved: having('not observed') }
  const rules = report.rules.map(({ exchange, detail, ...rule }) => ({
    ...rule,
    detail: detail && shown(detail, key),
    exchange: exchange && linesOf(exchange, key).map((line) => shown(line, key)),
  }))
  const shownReport = { summary, rules, notes: report.notes.map((line) => shown(line, key)) }
  if (format === 'json') return JSON.stringify(shownReport, undefined, 2)
  return format === 'junit' ? toJunit(shownReport) : toText(shownReport)
}

/** The request and its response, with the one header that tells requests apart. */
function linesOf({ method, path, authorization, body = '', response, failure }: Exchange, key: string): string[] {
  const header = authorization === `Bearer ${key}` ? [] : [`Authorization: ${authorization ?? '(none)'}`]
  return [`${method} ${path} ${body}`, ...header, response ? `${response.status} ${response.text}` : `${failure}`]
}

interface ShownReport {
  readonly summary: { readonly holds: number; readonly broken: number; readonly notObserved: number }
  readonly rules: readonly (Omit<RuleResult, 'exchange'> & { readonly exchange: readonly string[] | undefined })[]
  readonly notes: readonly string[]
}

function toText({ summary: { holds, broken, notObserved }, rules, notes }: ShownReport): string {
  const lines = rules.flatMap(({ group, section = '', sentence, verdict, detail, exchange = [] }, index) => [
    ...(rules[index - 1]?.group === group ? [] : ['', group]),
    `  ${(verdict === 'broken' ? 'BROKEN' : verdict).padEnd(13)} ${section.padEnd(9)} ${sentence}`,
    ...[detail ?? [], exchange].flat().map((line) => `${' '.repeat(26)}${line}`),
  ])
  const open = ['', 'What the document leaves open', ...notes.map((line) => `  ${line}`), '']
  const counts = `${count(rules.length, 'rule')}: ${holds} hold, ${broken} broken, ${notObserved} not observed.`
  return [...lines.slice(1), ...open, counts].join('\n')
}

function toJunit({ summary: { broken, notObserved }, rules }: ShownReport): string {
  const cases = rules.map(({ id, group, section = 'beyond', sentence, verdict, detail = '', exchange = [] }) => {
    const problem = `<failure message="${escaped(detail)}">${escaped(exchange.join('\n'))}</failure>`
    const outcome = { holds: '', broken: problem, 'not observed': `<skipped message="${escaped(detail)}"/>` }[verdict]
    const name = escaped(`${id} (${section}): ${sentence}`)
    return `<testcase classname="${escaped(group)}" name="${name}">${outcome}</testcase>\n`
  })
  const totals = `name="Conformance" tests="${rules.length}" failures="${broken}" errors="0" skipped="${notObserved}"`
  const suite = `<testsuite ${totals}>\n${cases.join('')}</testsuite>`
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites ${totals}>\n${suite}\n</testsuites>`
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (one) => `&#${one.codePointAt(0)};`)
}
