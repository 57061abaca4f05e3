import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * The text of main's program, as ncc has written it to dist/. There it is in two files: index.js has what main loads first, and the file
 * that contains this module has the rest, for example the reports.
 */
export function programText(): string {
  return [join(import.meta.dirname, 'index.js'), import.meta.filename]
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n')
}
