import fc from 'fast-check'

/** Keys as services make them, and as hostile as ASCII allows. */
export const anyKey = fc.oneof(fc.stringMatching(/^[!-~]{8,80}$/), fc.stringMatching(/^["\\/%+u0-9a-f]{8,20}$/))

/** How each character of a key is written in JSON, by chance. */
export const anyForm = fc.array(fc.nat(3), { minLength: 1, maxLength: 80 }).map((choices) => (key: string) => {
  const written = [...key].map((character, index) => formsOf(character)[choices[index % choices.length] ?? 0])
  return written.join('')
})

function formsOf(character: string): readonly string[] {
  const plain = JSON.stringify(character).slice(1, -1)
  const digits = character.charCodeAt(0).toString(16).padStart(4, '0')
  return [plain, `\\u${digits}`, `\\u${digits.toUpperCase()}`, character === '/' ? '\\/' : plain]
}
