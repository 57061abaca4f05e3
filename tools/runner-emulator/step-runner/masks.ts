import { trim } from './text.ts'

/** What the runner hides: every secret, each of its lines, and their usual encodings. */
export class SecretMasks {
  readonly #needles = new Set<string>()

  add(secret: string): void {
    if (trim(secret) === '') return
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

/** What the runner masks for a secret: the secret, its lines, and both in the encodings that it knows. */
export function secretForms(secret: string): readonly string[] {
  const lines = secret.split(/[\r\n]+/).map(trim)
  const forms = [secret, ...lines].flatMap((text) => [text, ...encodingsOf(text)])
  return [...new Set(forms)].filter((form) => form !== '')
}

function encodingsOf(text: string): string[] {
  const bytes = Buffer.from(text)
  return [
    // In a base64 text, the secret can begin at one of three offsets. The text before the secret decides at which one.
    ...[0, 1, 2].map((offset) => bytes.subarray(offset).toString('base64')),
    JSON.stringify(text)
      .slice(1, -1)
      .replace(/[\u0085\u2028\u2029]/g, toJsonEscape),
    encodeURIComponent(text.toWellFormed()).replace(/[!'()*]/g, (sign) => `%${hex(sign, 2)}`),
    text.replace(/[<>&"']/g, (sign) => XML_ENTITIES[sign] ?? sign),
    text.replaceAll('"', '\\"'),
    text.replaceAll("'", "''"),
    text.length > 8 && /^".*"$/s.test(text) ? text.slice(1, -1) : '',
  ]
}

function toJsonEscape(sign: string): string {
  return `\\u${hex(sign, 4).toLowerCase()}`
}

function hex(sign: string, digits: number): string {
  return sign.charCodeAt(0).toString(16).toUpperCase().padStart(digits, '0')
}

const XML_ENTITIES: Readonly<Record<string, string>> = {
  '<': '&lt;',
  '>': '&gt;',
  '&': '&amp;',
  '"': '&quot;',
  "'": '&apos;',
}
