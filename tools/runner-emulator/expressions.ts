// GitHub's expression language, evaluated as the runner does it
// (docs.github.com: "Evaluate expressions in workflows and actions").

import {
  allOf,
  areEqual,
  at,
  type ExpressionValue,
  FUNCTIONS,
  isOrdered,
  isTruthy,
  sameText,
  toNumber,
  toText,
} from './expression-values.ts'

export type Contexts = Readonly<Record<string, ExpressionValue>>

export type JobStatus = 'success' | 'failure' | 'cancelled'

interface Scope {
  readonly contexts: Contexts
  /** Present in conditions alone: `always()` and its siblings exist nowhere else. */
  readonly jobStatus?: JobStatus
}

type Evaluate = (scope: Scope) => ExpressionValue

/** The value of one expression, written without `${{ }}`. */
export function evaluateExpression(expression: string, contexts: Contexts): ExpressionValue {
  return new Parser(expression).parse().evaluate({ contexts })
}

/** A text with `${{ }}` in it, as an input's default is; text without any stands as written. */
export function renderTemplate(template: string, contexts: Contexts): string {
  let text = ''
  let from = 0
  for (;;) {
    const start = template.indexOf('${{', from)
    if (start === -1) return text + template.slice(from)
    const end = endOfExpression(template, start + 3)
    text += template.slice(from, start) + toText(evaluateExpression(template.slice(start + 3, end), contexts))
    from = end + 2
  }
}

/** Whether an `if` or `post-if` lets its step run. Without a status function, `success()` is implied. */
export function conditionHolds(condition: string, contexts: Contexts, jobStatus: JobStatus): boolean {
  const { evaluate, functions } = new Parser(condition.replace(/^\s*\$\{\{(.*)\}\}\s*$/s, '$1')).parse()
  const asksForStatus = [...functions].some((name) => STATUS_FUNCTIONS.has(name))
  if (!asksForStatus && jobStatus !== 'success') return false
  return isTruthy(evaluate({ contexts, jobStatus }))
}

function endOfExpression(template: string, from: number): number {
  let quoted = false
  for (let at = from; at < template.length; at++) {
    if (template[at] === "'") quoted = !quoted
    else if (!quoted && template.startsWith('}}', at)) return at
  }
  throw new Error(`The expression in ${JSON.stringify(template)} is not closed: add "}}".`)
}

interface Token {
  readonly kind: 'string' | 'number' | 'operator' | 'mark' | 'word' | 'end'
  readonly text: string
  readonly at: number
}

const TOKEN =
  /(?<string>'(?:[^']|'')*')|(?<number>(?:[-+]|\.?\d)[^\s()[\],!<>=&|]*)|(?<operator>&&|\|\||[=!<>]=|[!<>])|(?<mark>[()[\],.*])|(?<word>[A-Za-z_][\w-]*)/y

class Parser {
  readonly #expression: string
  readonly #tokens: Token[]
  readonly #functions = new Set<string>()
  #next = 0

  constructor(expression: string) {
    this.#expression = expression
    this.#tokens = this.#tokenize()
  }

  parse(): { readonly evaluate: Evaluate; readonly functions: ReadonlySet<string> } {
    const evaluate = this.#or()
    if (this.#peek().kind !== 'end') throw this.#unexpected(this.#peek())
    return { evaluate, functions: this.#functions }
  }

  #tokenize(): Token[] {
    const tokens: Token[] = []
    const pattern = new RegExp(TOKEN)
    let at = 0
    for (;;) {
      while (/\s/.test(this.#expression[at] ?? '')) at++
      if (at === this.#expression.length) return [...tokens, { kind: 'end', text: 'the end', at }]
      pattern.lastIndex = at
      const groups = pattern.exec(this.#expression)?.groups ?? {}
      const [kind, text] = Object.entries(groups).find(([, matched]) => matched !== undefined) ?? []
      if (kind === undefined || text === undefined) {
        throw this.#unexpected({ kind: 'mark', text: this.#expression[at] ?? '', at })
      }
      tokens.push({ kind: kind as Token['kind'], text, at })
      at += text.length
    }
  }

  #or(): Evaluate {
    let left = this.#and()
    while (this.#take('operator', '||')) {
      const [first, second] = [left, this.#and()]
      left = (scope) => {
        const value = first(scope)
        return isTruthy(value) ? value : second(scope)
      }
    }
    return left
  }

  #and(): Evaluate {
    let left = this.#equality()
    while (this.#take('operator', '&&')) {
      const [first, second] = [left, this.#equality()]
      left = (scope) => {
        const value = first(scope)
        return isTruthy(value) ? second(scope) : value
      }
    }
    return left
  }

  #equality(): Evaluate {
    let left = this.#comparison()
    for (let operator = this.#take('operator', '==', '!='); operator; operator = this.#take('operator', '==', '!=')) {
      const [first, second, wanted] = [left, this.#comparison(), operator.text === '==']
      left = (scope) => areEqual(first(scope), second(scope)) === wanted
    }
    return left
  }

  #comparison(): Evaluate {
    let left = this.#unary()
    const operators = ['<', '<=', '>', '>=']
    for (
      let operator = this.#take('operator', ...operators);
      operator;
      operator = this.#take('operator', ...operators)
    ) {
      const [first, second, { text }] = [left, this.#unary(), operator]
      left = (scope) => isOrdered(text, first(scope), second(scope))
    }
    return left
  }

  #unary(): Evaluate {
    if (!this.#take('operator', '!')) return this.#postfix()
    const operand = this.#unary()
    return (scope) => !isTruthy(operand(scope))
  }

  #postfix(): Evaluate {
    let left = this.#primary()
    for (;;) {
      const of = left
      if (this.#take('mark', '.')) {
        if (this.#take('mark', '*')) left = (scope) => allOf(of(scope))
        else {
          const { text } = this.#expect('word')
          left = (scope) => at(of(scope), text)
        }
      } else if (this.#take('mark', '[')) {
        if (this.#take('mark', '*')) left = (scope) => allOf(of(scope))
        else {
          const key = this.#or()
          left = (scope) => at(of(scope), key(scope))
        }
        this.#expect('mark', ']')
      } else return left
    }
  }

  #primary(): Evaluate {
    const token = this.#peek()
    this.#next++
    switch (token.kind) {
      case 'string': {
        const value = token.text.slice(1, -1).replaceAll("''", "'")
        return () => value
      }
      case 'number': {
        const value = toNumber(token.text)
        if (Number.isNaN(value)) throw this.#unexpected(token)
        return () => value
      }
      case 'word':
        if (LITERALS.has(token.text)) return () => LITERALS.get(token.text) ?? null
        return this.#take('mark', '(') ? this.#call(token) : this.#context(token)
      case 'mark': {
        if (token.text !== '(') throw this.#unexpected(token)
        const inner = this.#or()
        this.#expect('mark', ')')
        return inner
      }
      default:
        throw this.#unexpected(token)
    }
  }

  #context({ text, at: position }: Token): Evaluate {
    return ({ contexts }) => {
      const name = Object.keys(contexts).find((known) => sameText(known, text))
      if (name !== undefined) return contexts[name] ?? null
      throw this.#problem(`there is no context "${text}" here`, position)
    }
  }

  #call({ text, at: position }: Token): Evaluate {
    const parameters: Evaluate[] = []
    if (!this.#take('mark', ')')) {
      do parameters.push(this.#or())
      while (this.#take('mark', ','))
      this.#expect('mark', ')')
    }
    const name = text.toLowerCase()
    this.#functions.add(name)
    const status = STATUS_FUNCTIONS.get(name)
    if (status !== undefined && parameters.length === 0) {
      return ({ jobStatus }) => {
        if (jobStatus === undefined) throw this.#problem(`${text}() exists in conditions alone`, position)
        return status(jobStatus)
      }
    }
    const known = FUNCTIONS.get(name)
    if (known === undefined) throw this.#problem(`there is no function "${text}" here`, position)
    if (parameters.length < known.least || parameters.length > known.most) {
      throw this.#problem(`${text}() does not take ${parameters.length} parameters`, position)
    }
    return (scope) => known.apply(parameters.map((parameter) => parameter(scope)))
  }

  #peek(): Token {
    return this.#tokens[this.#next] as Token
  }

  #take(kind: Token['kind'], ...texts: readonly string[]): Token | undefined {
    const token = this.#peek()
    if (token.kind !== kind || !texts.includes(token.text)) return undefined
    this.#next++
    return token
  }

  #expect(kind: Token['kind'], text?: string): Token {
    const token = this.#peek()
    if (token.kind !== kind || (text !== undefined && token.text !== text)) throw this.#unexpected(token)
    this.#next++
    return token
  }

  #unexpected(token: Token): Error {
    return this.#problem(`unexpected ${token.kind === 'end' ? 'end' : JSON.stringify(token.text)}`, token.at)
  }

  #problem(what: string, position: number): Error {
    return new Error(`The expression ${JSON.stringify(this.#expression)} is wrong at position ${position}: ${what}.`)
  }
}

const LITERALS: ReadonlyMap<string, ExpressionValue> = new Map<string, ExpressionValue>([
  ['null', null],
  ['true', true],
  ['false', false],
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
])

const STATUS_FUNCTIONS: ReadonlyMap<string, (jobStatus: JobStatus) => boolean> = new Map<
  string,
  (jobStatus: JobStatus) => boolean
>([
  ['always', () => true],
  ['success', (status) => status === 'success'],
  ['failure', (status) => status === 'failure'],
  ['cancelled', (status) => status === 'cancelled'],
])
