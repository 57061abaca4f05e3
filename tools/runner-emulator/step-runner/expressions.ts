import { data, Evaluator, Lexer, Parser } from '@actions/expressions'
import type { FunctionDefinition } from '@actions/expressions/funcs/info'
import { TokenType } from '@actions/expressions/lexer'
import { truthy } from '@actions/expressions/result'

// Adds to GitHub's own evaluator what only a runner knows: templates, conditions and the status functions.

export type ExpressionValue =
  | null
  | boolean
  | number
  | string
  | readonly ExpressionValue[]
  | { readonly [name: string]: ExpressionValue }

export type Contexts = Readonly<Record<string, ExpressionValue>>

export type JobStatus = 'success' | 'failure' | 'cancelled'

/** The text with the value of each `${{ }}` in its place, as in an input's default. */
export function renderTemplate(template: string, contexts: Contexts): string {
  // An expression ends at the first `}}` outside quotes.
  return template.replace(/\$\{\{((?:'[^']*'|[^'])*?)\}\}/g, (_, expression: string) =>
    evaluate(expression, contexts, []).coerceString(),
  )
}

/** Whether an `if` lets its step run. A condition without a status function implies `success()`. */
export function conditionHolds(condition: string, contexts: Contexts, jobStatus: JobStatus): boolean {
  const expression = condition.replace(/^\s*\$\{\{(.*)\}\}\s*$/s, '$1').trim() || 'success()'
  const { tokens } = new Lexer(expression).lex()
  const asksForStatus = tokens.some(
    ({ lexeme }, index) =>
      Object.hasOwn(STATUSES, lexeme.toLowerCase()) && tokens[index + 1]?.type === TokenType.LEFT_PAREN,
  )
  const functions = Object.entries(STATUSES).map(([name, statuses]) => ({
    name,
    minArgs: 0,
    maxArgs: 0,
    call: () => new data.BooleanData(statuses.includes(jobStatus)),
  }))
  return truthy(evaluate(asksForStatus ? expression : `success() && (${expression})`, contexts, functions))
}

/** The job's statuses for which each status function is true. */
const STATUSES: Readonly<Record<string, readonly JobStatus[]>> = {
  always: ['success', 'failure', 'cancelled'],
  success: ['success'],
  failure: ['failure'],
  cancelled: ['cancelled'],
}

function evaluate(
  expression: string,
  contexts: Contexts,
  functions: readonly FunctionDefinition[],
): data.ExpressionData {
  const parser = new Parser(new Lexer(expression).lex().tokens, Object.keys(contexts), [...functions])
  const values = JSON.parse(JSON.stringify(contexts), data.reviver) as data.Dictionary
  return new Evaluator(parser.parse(), values, new Map(functions.map((known) => [known.name, known]))).evaluate()
}
