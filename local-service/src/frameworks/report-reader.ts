import { text } from 'node:stream/consumers'
import { readRegularFile } from '../workspace/files.ts'
import { parseJson } from './framework.ts'
import { playwright } from './playwright.ts'
import { readReport } from './report.ts'
import { vitest } from './vitest.ts'

// This program prints the report or the list in a framework's file as JSON, or why the file cannot be read. It is a process of
// its own, because tests may have written a file that takes all its time and memory to read. Its input says what to read. If
// the input is empty, the service has died.

/** What 100,000 failing test cases with short messages need, if each is tried twice. */
const LIMIT_BYTES = 160 * 1024 * 1024

function read(what = '', file = '', ...further: string[]): unknown {
  try {
    const content = readRegularFile(file, { limitBytes: LIMIT_BYTES })
    const [first = '', second = ''] = further
    if (what === 'report') return { kind: 'read', found: readReport(content, { root: first, folder: second }) }
    const framework = first === vitest.name ? vitest : playwright
    return { kind: 'read', found: framework.readList(parseJson(content)) }
  } catch (error) {
    return { kind: 'unreadable', reason: (error as Error).message }
  }
}

const request = await text(process.stdin)
if (request !== '') process.stdout.write(JSON.stringify(read(...JSON.parse(request))))
