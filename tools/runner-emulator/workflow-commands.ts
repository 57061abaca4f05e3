import type { SecretMasks } from './masks.ts'

export type AnnotationLevel = 'error' | 'warning' | 'notice'

export interface Annotation {
  readonly level: AnnotationLevel
  /** As written: GitHub does not mask titles. Empty if the command has none. */
  readonly title: string
  /** Masked, and truncated as GitHub does it. */
  readonly message: string
  /** Who reported it: the action, or the runner about the action. */
  readonly source: 'action' | 'runner'
  /** The command's other properties, such as `file` and `line`. */
  readonly properties: Readonly<Record<string, string>>
}

/** How many annotations of each level GitHub keeps for one step. */
export const ANNOTATIONS_PER_LEVEL = 10
/** Longer messages are truncated, in the log too. */
export const ANNOTATION_MESSAGE_LENGTH = 4096

export interface WorkflowCommand {
  /** In lower case, as names are compared without case. */
  readonly name: string
  readonly properties: ReadonlyMap<string, string>
  readonly data: string
}

const COMMANDS: ReadonlySet<string> = new Set([
  'add-mask',
  'add-matcher',
  'add-path',
  'debug',
  'echo',
  'endgroup',
  'error',
  'group',
  'notice',
  'remove-matcher',
  'save-state',
  'set-env',
  'set-output',
  'stop-commands',
  'warning',
])

/** The command in a line, in either of its two forms; undefined if the line is only text. */
export function parseWorkflowCommand(line: string, extraName = ''): WorkflowCommand | undefined {
  const isKnown = (name: string): boolean => COMMANDS.has(name) || (name !== '' && name === extraName.toLowerCase())
  return parseColonForm(line, isKnown) ?? parseBracketForm(line, isKnown)
}

/** `::name property=value,property=value::data`, at the line's start or after blanks. */
function parseColonForm(line: string, isKnown: (name: string) => boolean): WorkflowCommand | undefined {
  const match = /^\s*::(.*?)::(.*)$/s.exec(line)
  if (match === null) return undefined
  return toCommand(match[1] ?? '', ',', ['\r', '\n', ':', ',', '%'], match[2] ?? '', ['\r', '\n', '%'], isKnown)
}

/** `##[name property=value;property=value]data`, anywhere in the line. */
function parseBracketForm(line: string, isKnown: (name: string) => boolean): WorkflowCommand | undefined {
  const match = /##\[(.*?)\](.*)$/s.exec(line)
  if (match === null) return undefined
  const escaped = [';', '\r', '\n', ']', '%']
  return toCommand(match[1] ?? '', ';', escaped, match[2] ?? '', escaped, isKnown)
}

function toCommand(
  head: string,
  separator: string,
  escapedInProperties: readonly string[],
  data: string,
  escapedInData: readonly string[],
  isKnown: (name: string) => boolean,
): WorkflowCommand | undefined {
  const blank = head.indexOf(' ')
  const name = (blank === -1 ? head : head.slice(0, blank)).toLowerCase()
  if (!isKnown(name)) return undefined
  const properties = new Map<string, string>()
  if (blank > 0) {
    for (const property of head
      .slice(blank + 1)
      .trim()
      .split(separator)) {
      const equals = property.indexOf('=', 1)
      const value = property.slice(equals + 1)
      if (equals !== -1 && value !== '') {
        properties.set(property.slice(0, equals).toLowerCase(), decode(value, escapedInProperties))
      }
    }
  }
  return { name, properties, data: decode(data, escapedInData) }
}

/** One sign after the other and `%25` last, as the runner does it: `%250A` stays the text `%0A`. */
function decode(text: string, signs: readonly string[]): string {
  return signs.reduce((result, sign) => {
    const code = `%${sign.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`
    return result.replaceAll(code, sign)
  }, text)
}

/** What a step's lines amount to so far: the log, its annotations and what legacy commands set. */
export class StepLog {
  /** As GitHub shows them: masked, commands turned into `##[…]` lines. */
  readonly lines: string[] = []
  readonly annotations: Annotation[] = []
  readonly annotationCounts: Record<AnnotationLevel, number> = { error: 0, warning: 0, notice: 0 }
  readonly outputs = new Map<string, string>()
  readonly state = new Map<string, string>()
  /** The runner could not execute a command of the step; that fails the step whatever its exit code. */
  commandFailed = false

  readonly #masks: SecretMasks
  readonly #isDebug: boolean
  readonly #onLine: (line: string) => void
  #echo: boolean
  /** The name of the command that ends a stop of commands. */
  #resumeToken: string | undefined

  constructor(masks: SecretMasks, isDebug: boolean, onLine: (line: string) => void) {
    this.#masks = masks
    this.#isDebug = isDebug
    this.#echo = isDebug
    this.#onLine = onLine
  }

  /** One line of the step's standard output or standard error. */
  read(line: string): void {
    const command = parseWorkflowCommand(line, this.#resumeToken)
    if (command === undefined) this.write(line)
    else if (this.#resumeToken !== undefined) this.#readWhileStopped(command, line)
    else if (command.name === 'stop-commands') this.#stopCommands(command.data, line)
    else this.#execute(command, line)
  }

  /** A line of the runner's own. */
  write(text: string): void {
    for (const line of this.#masks.apply(text).split(/\r\n|\n|\r/)) {
      this.lines.push(line)
      this.#onLine(line)
    }
  }

  debug(text: string): void {
    if (this.#isDebug) this.write(`##[debug]${text}`)
  }

  annotate(annotation: Omit<Annotation, 'properties'> & { readonly properties?: Annotation['properties'] }): void {
    const message = this.#masks.apply(annotation.message).slice(0, ANNOTATION_MESSAGE_LENGTH)
    if (message !== '') this.write(`##[${annotation.level}]${message}`)
    this.annotationCounts[annotation.level]++
    if (this.annotationCounts[annotation.level] > ANNOTATIONS_PER_LEVEL) return
    this.annotations.push({ ...annotation, message, properties: annotation.properties ?? {} })
  }

  /** An error that the runner reports about the step. */
  reportError(message: string): void {
    this.annotate({ level: 'error', title: '', message, source: 'runner' })
  }

  #readWhileStopped(command: WorkflowCommand, line: string): void {
    this.write(line)
    if (command.name === this.#resumeToken) this.#resumeToken = undefined
  }

  #stopCommands(token: string, line: string): void {
    const name = token.toLowerCase()
    if (name === '' || name === 'pause-logging' || COMMANDS.has(name)) {
      this.#refuse(line, 'A stop token must not be empty, "pause-logging" or the name of a workflow command.')
      return
    }
    this.write(line)
    this.#resumeToken = name
  }

  #execute(command: WorkflowCommand, line: string): void {
    const { name, data } = command
    if (this.#echo && !NEVER_ECHOED.has(name)) this.write(line)
    switch (name) {
      case 'error':
      case 'warning':
      case 'notice': {
        const { title = '', ...properties } = Object.fromEntries(command.properties)
        this.annotate({ level: name, title, message: data, source: 'action', properties })
        break
      }
      case 'debug':
        this.debug(data)
        break
      case 'group':
        this.write(`##[group]${data}`)
        break
      case 'endgroup':
        this.write('##[endgroup]')
        break
      case 'add-mask':
        this.#addMask(data)
        break
      case 'echo':
        this.#setEcho(data, line)
        break
      case 'set-output':
        this.#setNamed(this.outputs, command, line)
        break
      case 'save-state':
        this.#setNamed(this.state, command, line)
        break
      case 'set-env':
      case 'add-path':
        this.#refuse(line, `The \`${name}\` command is disabled.`)
        break
      default:
        // Problem matchers are not modelled: their commands do nothing here.
        break
    }
  }

  #addMask(secret: string): void {
    if (secret.trim() === '') {
      const message = "Can't add secret mask for empty string in ##[add-mask] command."
      this.annotate({ level: 'warning', title: '', message, source: 'runner' })
      return
    }
    if (this.#echo) this.write('::add-mask::***')
    this.#masks.add(secret)
  }

  #setEcho(wanted: string, line: string): void {
    const value = wanted.trim().toLowerCase()
    if (value === 'on' || value === 'off') this.#echo = value === 'on'
    else this.#refuse(line, `Invalid echo command value. Possible values can be: 'on', 'off'.`)
  }

  #setNamed(target: Map<string, string>, { name, properties, data }: WorkflowCommand, line: string): void {
    const key = properties.get('name')
    if (key === undefined) this.#refuse(line, `Required field 'name' is missing in ##[${name}] command.`)
    else target.set(key, data)
  }

  #refuse(line: string, why: string): void {
    this.reportError(`Unable to process command '${line}' successfully.`)
    this.reportError(why)
    this.commandFailed = true
  }
}

const NEVER_ECHOED: ReadonlySet<string> = new Set(['add-mask', 'debug', 'error', 'warning', 'notice'])
