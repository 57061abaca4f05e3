import { readRegularFile } from '../workspace/files.ts'
import { parseJson } from './framework.ts'
import { playwright } from './playwright.ts'
import { vitest } from './vitest.ts'

// This program prints the report or the list in a framework's file as JSON, or why the file cannot be read. It is a process of
// its own, because tests may have written a file that takes all its time and memory to read.

/** What 100,000 test cases need: 130 MB in a report of Playwright, 41 MB in one of Vitest. */
const LIMITS_BYTES = { vitest: 64 * 1024 * 1024, playwright: 160 * 1024 * 1024 }

function read(what = '', name = '', file = '', folder = ''): unknown {
  const framework = name === vitest.name ? vitest : playwright
  try {
    const text = readRegularFile(file, { limitBytes: LIMITS_BYTES[framework.name] })
    const found = what === 'list' ? framework.readList(parseJson(text)) : framework.readReport(text, folder)
    return { kind: 'read', found }
  } catch (error) {
    return { kind: 'unreadable', reason: (error as Error).message }
  }
}

process.stdout.write(JSON.stringify(read(...process.argv.slice(2))))
