import { readRegularFile } from '../workspace/files.ts'
import { parseJson } from './framework.ts'
import { playwright } from './playwright.ts'
import { vitest } from './vitest.ts'

// A program that prints the report or the list in a file of a framework as JSON, or why it cannot be read. Tests may have
// put anything in place of a report, and reading it may take all time and memory of a process. So it is not the service's.

/** What 100,000 test cases need: 130 MB in a report of Playwright, 41 MB in one of Vitest. */
const LIMITS_BYTES = { vitest: 64 * 1024 * 1024, playwright: 160 * 1024 * 1024 }

function read(what = '', name = '', file = '', folder = ''): unknown {
  const framework = name === vitest.name ? vitest : playwright
  try {
    const text = readRegularFile(file, LIMITS_BYTES[framework.name])
    const found = what === 'list' ? framework.readList(parseJson(text)) : framework.readReport(text, folder)
    return { kind: 'read', found }
  } catch (error) {
    return { kind: 'unreadable', reason: (error as Error).message }
  }
}

process.stdout.write(JSON.stringify(read(...process.argv.slice(2))))
