import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The text of main's program. Works in dist/ only: index.js has what main loads first, and the file of this module has the reports. */
export function programText(): string {
  return [join(import.meta.dirname, 'index.js'), import.meta.filename]
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n')
}
