import type { ProcessResult } from './action-process.ts'

/** What the runner hides: every secret, each of its lines, and their usual encodings. */
export class SecretMasks {
  readonly #secrets = new Set<string>()
  readonly #needles = new Set<string>()

  /** The secrets as they were given, without their lines and forms. */
  get secrets(): readonly string[] {
    return [...this.#secrets]
  }

  add(secret: string): void {
    if (secret.trim() === '' || this.#secrets.has(secret)) return
    this.#secrets.add(secret)
    for (const form of secretForms(secret)) this.#needles.add(form)
  }

  /** The text with `***` for each secret. Secrets that touch or overlap become one `***`. */
  apply(text: string): string {
    const spans: { start: number; end: number }[] = []
    for (const needle of this.#needles) {
      for (let start = text.indexOf(needle); start !== -1; start = text.indexOf(needle, start + 1)) {
        spans.push({ start, end: start + needle.length })
      }
    }
    if (spans.length === 0) return text
    let masked = ''
    let shownUpTo = 0
    let hiddenUpTo = -1
    for (const { start, end } of spans.sort((a, b) => a.start - b.start)) {
      if (start > hiddenUpTo) masked += `${text.slice(shownUpTo, start)}***`
      hiddenUpTo = Math.max(hiddenUpTo, end)
      shownUpTo = hiddenUpTo
    }
    return masked + text.slice(shownUpTo)
  }
}

/** Every text that gives the secret away: the secret, its lines, and both in the encodings that the runner knows. */
export function secretForms(secret: string): readonly string[] {
  const lines = secret.split(/[\r\n]+/).map((line) => line.trim())
  const forms = [secret, ...lines].flatMap((text) => [text, ...encodingsOf(text)])
  return [...new Set(forms)].filter((form) => form !== '')
}

function encodingsOf(text: string): string[] {
  const bytes = Buffer.from(text)
  // What precedes the secret in a base64 text decides at which of three offsets the secret's own bytes begin. Padding
  // is left out, because some encoders leave it out.
  const base64 = [0, 1, 2].flatMap((offset) => {
    const encoded = bytes.subarray(offset).toString('base64').replace(/=+$/, '')
    return [encoded, encoded.replaceAll('+', '-').replaceAll('/', '_')]
  })
  return [
    ...base64,
    JSON.stringify(text).slice(1, -1),
    encodeURIComponent(text.toWellFormed()).replace(
      /[!'()*]/g,
      (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
    ),
    text.replace(/[<>&"']/g, (sign) => XML_ENTITIES[sign] ?? sign),
    text.replaceAll('"', '\\"'),
    text.replaceAll("'", "''"),
    text.length > 8 && /^".*"$/s.test(text) ? text.slice(1, -1) : '',
    ...powerShellParts(text),
  ]
}

/** PowerShell colours part of a failed command: after the last `&`, or one character after the first `&+`. */
function powerShellParts(text: string): string[] {
  const plus = text.indexOf('&+')
  const endOfFirst = plus === -1 ? text.lastIndexOf('&') + 1 : plus + 2
  if (endOfFirst === 0) return []
  const parts = [text.slice(0, endOfFirst), text.slice(plus === -1 ? endOfFirst : endOfFirst + 1)]
  return parts.filter((part) => part.length >= 6)
}

const XML_ENTITIES: Readonly<Record<string, string>> = {
  '<': '&lt;',
  '>': '&gt;',
  '&': '&amp;',
  '"': '&quot;',
  "'": '&apos;',
}

/** Where the secret can be read, in any form that the runner would mask; empty if it is safe. */
export function placesThatShow(secret: string, { log, files, outputs, annotations }: ProcessResult): readonly string[] {
  const places: readonly (readonly [place: string, text: string])[] = [
    ...log.map((line, index) => [`log line ${index + 1}`, line] as const),
    ['summary', files.STEP_SUMMARY],
    ['state', files.STATE],
    ['env', files.ENV],
    ...Object.entries(outputs).map(([name, value]) => [`output ${name}`, value] as const),
    ...annotations.flatMap(({ title, message }, index) => [
      [`title of annotation ${index + 1}`, title] as const,
      [`message of annotation ${index + 1}`, message] as const,
    ]),
  ]
  const forms = secretForms(secret)
  return places.filter(([, text]) => forms.some((form) => text.includes(form))).map(([place]) => place)
}
