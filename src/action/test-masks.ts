import { withoutTerminalSequences } from '../text/visible-text.ts'
import type { World } from './world.ts'

const MASKS_LIMIT = 1_000
/** A shorter value would hide parts of many words. */
const SHORTEST_MASK_CHARS = 4
/** GitHub's runner (its ActionCommand) obeys a command at the start of a line, after what .NET takes for white space. */
const MASK_COMMAND = /^[\s\u0085]*::add-mask(?: .*?)?::(.*)/is

/** What stands behind the command. Undefined if the line is no such command. */
function maskDataIn(line: string): string | undefined {
  return MASK_COMMAND.exec(withoutTerminalSequences(line))?.[1]
}

export function isMaskCommand(line: string): boolean {
  return maskDataIn(line) !== undefined
}

/**
 * The values that tests hide with the command `add-mask`, the only command of the output that reaches the runner. A value is not masked if
 * it is too short. If main itself may write the value, only parts of it are masked.
 */
export class TestMasks {
  readonly #world: Pick<World, 'mask' | 'programText'>
  /** The values that the runner got. It masks them. */
  readonly #masked = new Set<string>()
  /** Read only if a test masks a value. */
  #programText: string | undefined

  constructor(world: Pick<World, 'mask' | 'programText'>) {
    this.#world = world
  }

  /**
   * If the line is such a command, gives its values to the runner, which hides them in all that comes later. Returns whether the log must
   * not show the line, because one of its values is secret.
   */
  take(line: string): boolean {
    const data = maskDataIn(line) ?? ''
    // Of a value with several lines, the runner would also mask each line, even one of a single letter. So it gets the lines one by one, and none
    // of the short ones.
    const lines = data
      .replaceAll('%0D', '\r')
      .replaceAll('%0A', '\n')
      .replaceAll('%25', '%')
      .split(/[\r\n]/)
    // `some` stops at the first secret value, but the runner must get all of them. So `map` comes first.
    return lines.map((value) => this.#maskWholeOrParts(value.trim())).some((isSecret) => isSecret)
  }

  /**
   * The summary may have `<b>Kd8f9x2mQ7`. If the runner masked `>Kd8f9x2mQ7`, it would destroy the tag. So only the parts of such a value between the
   * signs of tags are masked, here `Kd8f9x2mQ7`. Returns whether the value is secret.
   */
  #maskWholeOrParts(value: string): boolean {
    if (this.#maskIfSecret(value)) return true
    const parts = value.split(/[<>"]/)
    return parts.length > 1 && parts.map((part) => this.#maskIfSecret(part.trim())).some((isSecret) => isSecret)
  }

  #maskIfSecret(value: string): boolean {
    if ([...value].length < SHORTEST_MASK_CHARS) return false
    // At the limit, nothing more can be masked. So the line is hidden without the search below, which takes long.
    if (this.#masked.has(value) || this.#masked.size === MASKS_LIMIT) return true
    this.#programText ??= this.#world.programText()
    if (isWrittenByMain(value, this.#programText)) return false
    this.#masked.add(value)
    this.#world.mask(value)
    return true
  }
}

/**
 * Whether main itself may write the value in the summary. The runner replaces a masked value everywhere, so it could destroy main's tags.
 * For example, the summary has the title `<code>pays</code>`, and a test masks `de>pays</co`. The runner would write `<co***de>`, and the
 * text behind it would become live Markdown. All words and tags of main stand in the text of its own program. So what the program does not
 * contain, main does not write.
 */
export function isWrittenByMain(value: string, programText: string): boolean {
  return maskedForms(value).some((form) => canMatchMain(form, programText))
}

/** GitHub's runner masks no shorter part of a value. */
const SHORTEST_PART_CHARS = 6

/**
 * The value, and its other forms that GitHub's runner masks too. Each has an encoder in the runner's `ValueEncoders.cs`. The encoders that are not
 * here make forms that main never writes.
 */
function maskedForms(value: string): string[] {
  // `TrimDoubleQuotes`: of `"details"`, the runner also masks `details`.
  const inQuotes = value.replace(/^"(.*)"$/, '$1')
  const parts = [inQuotes, ...powerShellParts(value)].filter((one) => one.length >= SHORTEST_PART_CHARS)
  // `Base64StringEscape` and its shifted forms. Base64 encodes three bytes at a time, and the value may begin at the first, the second or the
  // third byte of a group. So the runner also masks the base64 of the value without its first bytes. For example, `aj)l` without its first byte
  // is `j)l`, whose base64 is `ails`, a part of `<details>`.
  const bytes = Buffer.from(value)
  const base64 = [0, 1, 2].map((leftOut) => bytes.subarray(leftOut).toString('base64'))
  return [value, ...parts, ...base64]
}

/**
 * PowerShell may show a value with `&` in two parts, and the runner masks each (`PowerShellPreAmpersandEscape` and
 * `PowerShellPostAmpersandEscape`). For example, `secret&value1` has the parts `secret&` and `value1`.
 */
function powerShellParts(value: string): string[] {
  // PowerShell colours the letter behind `&+`, so no part has this letter: `secret&+Xvalue1` has the parts `secret&+` and `value1`.
  const plus = value.indexOf('&+')
  if (plus !== -1) return [value.slice(0, plus + 2), value.slice(plus + 3)]
  const ampersand = value.lastIndexOf('&')
  return ampersand === -1 ? [] : [value.slice(0, ampersand + 1), value.slice(ampersand + 1)]
}

/** Whether the value can match text that main writes. */
function canMatchMain(value: string, programText: string): boolean {
  if (programText.includes(value)) return true
  // Main escapes `<` and `>` in texts of others, and `"` inside attributes. So in a page, a `<` or `>` is a part of a tag that main wrote, and a `"`
  // may be.
  //
  // For example, `.ts#L12"` may be the end of a link's address. Without its last quotation mark, the address would go on to the next one in the page,
  // and hide what is between them.
  if (/^[^"]+"$/.test(value)) return true
  // A value with `<` or `>` is cut where a text of a test can stand: behind a tag, before the next tag, and at the quotation marks of an attribute.
  // For example, `de>pays</co` has the pieces `de>` and `</co`, and `<a href="https://x">` has `<a href=` and `>`. A piece without `<` and `>`
  // may be a test's text, so it says nothing. If one of the others is not in the program, main never writes the value.
  const piecesOfTags = value.split(/(?=<)|(?<=>)|"/).filter((piece) => piece.startsWith('<') || piece.endsWith('>'))
  return piecesOfTags.length > 0 && piecesOfTags.every((piece) => programText.includes(piece))
}
