import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../../test/support/temporary-folder.ts'
import { findProgram } from '../by-hand.ts'
import { readPlaywrightReport, readVitestReport } from '../report.ts'

// gate.test.ts compares the reports of the frameworks with the results of the service.

it('a report may be missing, because the framework did not start', () => {
  const file = join(temporaryFolder(), 'report.json')
  expect([readVitestReport(file, '/shop'), readPlaywrightReport(file, '/shop')]).toEqual([undefined, undefined])
})

describe("the framework's command", () => {
  it('is in the nearest node_modules/.bin', () => {
    const root = temporaryFolder()
    const [inner, empty] = [join(root, 'packages/a'), join(root, 'packages/b')]
    for (const folder of [root, inner, empty]) mkdirSync(join(folder, 'node_modules/.bin'), { recursive: true })
    for (const folder of [root, inner]) writeFileSync(join(folder, 'node_modules/.bin/vitest'), '', { mode: 0o755 })
    expect(findProgram(inner, 'vitest')).toBe(join(inner, 'node_modules/.bin/vitest'))
    expect(findProgram(empty, 'vitest')).toBe(join(root, 'node_modules/.bin/vitest'))
  })

  it('may be missing, and a sentence says what to do', () => {
    const folder = temporaryFolder()
    expect(() => findProgram(folder, 'playwright')).toThrow(
      `There is no node_modules/.bin/playwright in ${folder} or in a folder above it. Install the packages first.`,
    )
  })
})
