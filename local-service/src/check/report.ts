import type { Exchange } from './exchange.ts'
import { excerptWithoutKey } from './key.ts'
import type { RuleResult } from './rules.ts'

export type Format = 'text' | 'json' | 'junit'

/** What a check found, or why it could not check. */
interface Report {
  readonly url: string
  readonly project: string
  /** 0 if no rule is broken, 1 if a rule is broken, 2 if the check was not possible, 130 if it was stopped. */
  readonly exitCode: number
  /** Why the check was not possible or was stopped. */
  readonly message?: string | undefined
  readonly startedAtMs: number
  readonly finishedAtMs: number
  readonly rules: readonly RuleResult[]
  /** One sentence for each run that the check started and whose end it did not see. */
  readonly left: readonly string[]
}

const SHOWN_CHARS = 500

/**
 * Makes text from outside safe to print. Removes the key, escapes what terminals and GitHub's runner take as commands and
 * what XML forbids, and truncates the text.
 */
export function shown(text: string, key: string): string {
  return excerptWithoutKey(text, key, SHOWN_CHARS)
    .toWellFormed()
    .replace(/[\p{C}\p{Zl}\p{Zp}\uFFFE\uFFFF]/gu, escapeOf)
    .replace(/##(?=\w*\[)|^\s*::/g, (found) => `${found.slice(0, -1)}${escapeOf(found.slice(-1))}`)
}

export function render(report: Report, format: Format, key: string): string {
  const safe = toSafeReport(report, key)
  if (format === 'json') return JSON.stringify(safe, undefined, 2)
  return format === 'junit' ? toJunit(safe) : toText(safe)
}

function toSafeReport(report: Report, key: string) {
  const safe = <T extends string | undefined>(text: T) => (text === undefined ? text : shown(text, key)) as T
  const rules = report.rules.map((rule) => ({
    ...rule,
    detail: safe(rule.detail),
    exchange: rule.exchange && safeExchange(rule.exchange, safe),
  }))
  const having = (verdict: string) => rules.filter((rule) => rule.verdict === verdict).length
  return {
    url: safe(report.url),
    project: safe(report.project),
    exitCode: report.exitCode,
    message: safe(report.message),
    startedAt: iso(report.startedAtMs),
    finishedAt: iso(report.finishedAtMs),
    summary: {
      ...{ holds: having('holds'), broken: having('broken') },
      ...{ differs: having('differs'), notObserved: having('not observed') },
    },
    rules,
    left: report.left.map(safe),
  }
}

function safeExchange(exchange: Exchange, safe: (text: string) => string) {
  const { method, path, body = '', credentials, atMs, durationMs, response, failure = 'no response' } = exchange
  return {
    at: iso(atMs),
    durationMs: durationMs === undefined ? undefined : Math.round(durationMs),
    request: safe(`${method} ${path} ${body}`.trim()),
    credentials: credentials?.name,
    response: safe(response === undefined ? failure : `${response.status} ${response.text}`),
  }
}

type SafeExchange = ReturnType<typeof safeExchange>

type SafeReport = ReturnType<typeof toSafeReport>

function linesOf(exchange: SafeExchange | undefined): string[] {
  if (exchange === undefined) return []
  const { request, credentials, response, at } = exchange
  return [`${request}${credentials === undefined ? '' : ` (${credentials})`}`, `${response} (${at})`]
}

function toText({ summary, rules }: SafeReport): string {
  const lines = rules.flatMap(({ id, request, kind, place, sentence, verdict, detail, exchange }, index) => [
    ...(rules[index - 1]?.request === request ? [] : ['', request]),
    `  ${(verdict === 'broken' ? 'BROKEN' : verdict).padEnd(13)} ${id.padEnd(21)} ${kind.padEnd(9)} ${sentence} (${place})`,
    ...[detail ?? [], linesOf(exchange)].flat().map((line) => `${' '.repeat(16)}${line}`),
  ])
  const { holds, broken, differs, notObserved } = summary
  const counts = `${rules.length} rules: ${holds} hold, ${broken} broken, ${differs} notes differ, ${notObserved} not observed.`
  return [...lines.slice(1), '', counts].join('\n')
}

function toJunit({
  message,
  startedAt,
  finishedAt,
  summary: { broken, differs, notObserved },
  rules,
}: SafeReport): string {
  const cases = rules.map(({ id, request, kind, place, sentence, verdict, detail = '', exchange }) => {
    const failure = `<failure message="${escaped(detail)}">${escaped(linesOf(exchange).join('\n'))}</failure>`
    const skipped = `<skipped message="${escaped(detail)}"/>`
    const outcome = { holds: '', broken: failure, differs: skipped, 'not observed': skipped }[verdict]
    const name = escaped(`${id} (${kind}, ${place}): ${sentence}`)
    const seconds = (exchange?.durationMs ?? 0) / 1000
    return `<testcase classname="${escaped(request)}" name="${name}" time="${seconds}">${outcome}</testcase>\n`
  })
  const errors =
    message === undefined ? [] : [`<testcase name="the check"><error message="${escaped(message)}"/></testcase>\n`]
  const tests = cases.length + errors.length
  const counts = `tests="${tests}" failures="${broken}" errors="${errors.length}" skipped="${differs + notObserved}"`
  const seconds = (Date.parse(finishedAt) - Date.parse(startedAt)) / 1000
  const totals = `name="Conformance" ${counts} time="${seconds}" timestamp="${startedAt}"`
  const suite = `<testsuite ${totals}>\n${[...cases, ...errors].join('')}</testsuite>`
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites ${totals}>\n${suite}\n</testsuites>`
}

function iso(epochMs: number): string {
  return new Date(epochMs).toISOString()
}

function escapeOf(character: string): string {
  return `\\u{${character.codePointAt(0)?.toString(16)}}`
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (one) => `&#${one.codePointAt(0)};`)
}
