import type { SecretMasks } from './masks.ts'
import { SPACE, trim } from './text.ts'

export type AnnotationLevel = 'error' | 'warning' | 'notice'

export interface Annotation {
  readonly level: AnnotationLevel
  /** Not masked, because GitHub does not mask titles. Empty if the command has no title. */
  readonly title: string
  /** Masked, and truncated as GitHub does it. */
  readonly message: string
  /** The command's other properties, such as `file` and `line`. */
  readonly properties: Readonly<Record<string, string>>
}

/** How many annotations of each level GitHub keeps for one step. */
const ANNOTATIONS_PER_LEVEL = 10
/** Longer messages are truncated, in the log too. */
const ANNOTATION_MESSAGE_LENGTH = 4096
/** At this length the runner's telemetry truncates the first errors and warnings of a step. */
const TELEMETRY_MESSAGE_LENGTH = 256
const TELEMETRY_MESSAGES = 3

interface WorkflowCommand {
  /** In lower case, because names are compared without case. */
  readonly name: string
  readonly properties: ReadonlyMap<string, string>
  readonly data: string
}

interface CommandForm {
  readonly pattern: RegExp
  readonly separator: string
  readonly inProperties: readonly string[]
  readonly inData: readonly string[]
}

const COMMAND_FORMS: readonly CommandForm[] = [
  // `::name property=value,property=value::data`, at the line's start or after spaces.
  {
    pattern: new RegExp(`^${SPACE}*::(.*?)::(.*)$`, 's'),
    separator: ',',
    inProperties: ['\r', '\n', ':', ',', '%'],
    inData: ['\r', '\n', '%'],
  },
  // `##[name property=value;property=value]data`, anywhere in the line.
  {
    pattern: /##\[(.*?)\](.*)$/s,
    separator: ';',
    inProperties: [';', '\r', '\n', ']', '%'],
    inData: [';', '\r', '\n', ']', '%'],
  },
]

/** The command in a line, in either form. Undefined if the line is only text. */
function parseWorkflowCommand(line: string, isName: (name: string) => boolean): WorkflowCommand | undefined {
  for (const { pattern, separator, inProperties, inData } of COMMAND_FORMS) {
    const [, head = '', data = ''] = pattern.exec(line) ?? []
    const [first = '', ...rest] = head.split(' ')
    const name = toLowerCase(first)
    if (!isName(name)) continue
    const properties = new Map<string, string>()
    for (const property of trim(rest.join(' ')).split(separator)) {
      const [, key, value] = /^=*([^=]+)=+(.+)$/s.exec(property) ?? []
      if (key !== undefined && value !== undefined) properties.set(toLowerCase(key), decode(value, inProperties))
    }
    return { name, properties, data: decode(data, inData) }
  }
  return undefined
}

/** Changes only ASCII letters. For JavaScript the Kelvin sign is a K, and for the runner it is not. */
function toLowerCase(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
}

/** Decodes `%25` last, as the runner does. So `%250A` becomes the text `%0A`, and not a line break. */
function decode(text: string, signs: readonly string[]): string {
  return signs.reduce((result, sign) => {
    const code = `%${sign.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`
    return result.replaceAll(code, sign)
  }, text)
}

/** What came of a step's lines so far: the log and the annotations. */
export class StepLog {
  /** As GitHub shows them: masked, commands turned into `##[…]` lines. */
  readonly lines: string[] = []
  readonly annotations: Annotation[] = []
  /** True if the runner could not execute a command. The step then fails, whatever its exit code is. */
  commandFailed = false
  /** The message at which the runner's worker would abort. The job would then have no result. */
  fatalMessage: string | undefined

  readonly #masks: SecretMasks
  readonly #isDebug: boolean
  readonly #onLine: (line: string) => void
  readonly #counts: Record<AnnotationLevel, number> = { error: 0, warning: 0, notice: 0 }

  constructor(masks: SecretMasks, isDebug: boolean, onLine: (line: string) => void) {
    this.#masks = masks
    this.#isDebug = isDebug
    this.#onLine = onLine
  }

  read(line: string): void {
    const isName = (name: string) => Object.hasOwn(this.#commands, name) || NOT_OURS.has(name)
    const command = parseWorkflowCommand(line, isName)
    if (command === undefined) this.write(line)
    else if (NOT_OURS.has(command.name)) this.#refuse(line)
    else this.#commands[command.name]?.(command.data, command)
  }

  write(text: string): void {
    for (const line of this.#masks.apply(text).split('\n')) {
      this.lines.push(line)
      this.#onLine(line)
    }
  }

  /** What the runner reports about the action. */
  reportError(message: string): void {
    this.#annotate('error', message)
  }

  warn(message: string): void {
    this.#annotate('warning', message)
  }

  readonly #commands: Readonly<Record<string, (data: string, command: WorkflowCommand) => void>> = {
    error: (message, command) => this.#annotate('error', message, command),
    warning: (message, command) => this.#annotate('warning', message, command),
    notice: (message, command) => this.#annotate('notice', message, command),
    debug: (text) => {
      if (this.#isDebug) this.write(`##[debug]${text.replaceAll('\n', '\n##[debug]')}`)
    },
    group: (title) => this.write(`##[group]${title}`),
    endgroup: () => this.write('##[endgroup]'),
    'add-mask': (secret) => this.#addMask(secret),
  }

  #annotate(level: AnnotationLevel, unmasked: string, command?: WorkflowCommand): void {
    const { title = '', ...properties } = Object.fromEntries(command?.properties ?? [])
    const whole = this.#masks.apply(unmasked)
    const message = whole.slice(0, ANNOTATION_MESSAGE_LENGTH)
    if (message !== '') this.write(`##[${level}]${message}`)
    const count = ++this.#counts[level]
    const isInTelemetry = level !== 'notice' && this.#counts.error + this.#counts.warning <= TELEMETRY_MESSAGES
    const cuts = isInTelemetry ? [TELEMETRY_MESSAGE_LENGTH, ANNOTATION_MESSAGE_LENGTH] : [ANNOTATION_MESSAGE_LENGTH]
    if (cuts.some((length) => isCutInPair(whole, length))) this.fatalMessage ??= message
    if (trim(message) === '' || count > ANNOTATIONS_PER_LEVEL) return
    this.annotations.push({ level, title, message, properties })
  }

  #addMask(secret: string): void {
    if (trim(secret) === '') this.warn("Can't add secret mask for empty string in ##[add-mask] command.")
    this.#masks.add(secret)
  }

  #refuse(line: string): void {
    this.reportError(`No action of ours writes the command '${line}'.`)
    this.commandFailed = true
  }
}

/** The runner's other commands. If one is in a log, it comes from a test or from the service, and it fails the step. */
const NOT_OURS = new Set(
  'add-matcher add-path echo remove-matcher save-state set-env set-output stop-commands'.split(' '),
)

function isCutInPair(text: string, length: number): boolean {
  return /^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(length - 1, length + 1))
}
