import type { styleText } from 'node:util'

export type Style = (format: Extract<Parameters<typeof styleText>[0], string>, text: string) => string

/** Turns the lines of a step's log, as the runner keeps them, into what GitHub's log view shows, for a terminal. */
export class LogPainter {
  readonly #style: Style
  #isInGroup = false

  constructor(style: Style) {
    this.#style = style
  }

  /** Undefined if GitHub shows nothing. */
  paint(line: string): string | undefined {
    const [, command, text = ''] = /^##\[(\w+)\](.*)$/s.exec(line) ?? []
    switch (command) {
      case 'group':
        this.#isInGroup = true
        return this.#style('bold', `▼ ${text}`)
      case 'endgroup':
        this.#isInGroup = false
        return undefined
      case 'error':
        return this.#indent(this.#style('red', `Error: ${text}`))
      case 'warning':
        return this.#indent(this.#style('yellow', `Warning: ${text}`))
      case 'notice':
        return this.#indent(this.#style('blue', `Notice: ${text}`))
      case 'debug':
        return this.#indent(this.#style('magenta', `Debug: ${text}`))
      default:
        return this.#indent(line)
    }
  }

  #indent(text: string): string {
    return this.#isInGroup ? `  ${text}` : text
  }
}
