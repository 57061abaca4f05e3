import { readRegularFile } from '../workspace/files.ts'
import { parseJson } from './framework.ts'
import { playwright } from './playwright.ts'
import { readReport } from './report.ts'
import { vitest } from './vitest.ts'

// This program prints the report or the list in a framework's file as JSON, or why the file cannot be read. It is a process of
// its own, because tests may have written a file that takes all its time and memory to read.

/** What 100,000 failing test cases with short messages need, if each is tried twice. */
const LIMIT_BYTES = 160 * 1024 * 1024

function read(what = '', file = '', ...further: string[]): unknown {
  try {
    const text = readRegularFile(file, { limitBytes: LIMIT_BYTES })
    const [first = '', second = ''] = further
    if (what === 'report') return { kind: 'read', found: readReport(text, { root: first, folder: second }) }
    const framework = first === vitest.name ? vitest : playwright
    return { kind: 'read', found: framework.readList(parseJson(text)) }
  } catch (error) {
    return { kind: 'unreadable', reason: (error as Error).message }
  }
}

process.stdout.write(JSON.stringify(read(...process.argv.slice(2))))
