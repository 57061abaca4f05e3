import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readEvents, readProgress } from '../../src/frameworks/report-reader.ts'
import { progressFileOf } from '../../src/reporters/report-writer.ts'
import { temporaryFolder } from '../support/a-local-service.ts'

function reportWith(...lines: readonly string[]): string {
  const file = join(temporaryFolder(), 'report')
  writeFileSync(file, lines.join('\n'))
  return file
}

const test = (id: string, status: string) => JSON.stringify({ event: 'test', test: { id, status } })

describe('a report', () => {
  it('has what was written last of each test, and no line that was cut off', () => {
    const said = JSON.stringify({ event: 'said', message: 'ERROR: no' })
    const file = reportWith(test('€', 'INTERRUPTED'), test('1', 'FAILED'), said, test('€', 'PASSED'), '{"event":"te')
    const tests = [
      { id: '€', status: 'PASSED' },
      { id: '1', status: 'FAILED' },
    ]
    expect(readEvents(file)).toMatchObject({ tests, said: ['ERROR: no'], isComplete: false })
  })

  it.each(['noise', '{"event":"test"', '{"event":"other"}', '7', ''])('with %j cannot be read', (noise) => {
    const file = reportWith(test('1', 'PASSED'), noise, test('2', 'PASSED'))
    expect(() => readEvents(file)).toThrow()
  })
})

describe('the progress', () => {
  it.each([
    ['{"total":4,"passed":2,"failed":0}   ', { total: 4, passed: 2, failed: 0 }],
    ['{"total":-1,"passed":"2","failed":0.5,"skipped":null,"other":7}', {}],
    ['[]', {}],
    ['{"total"', undefined],
    ['', undefined],
  ])('of a file with %j is %j', (text, progress) => {
    const file = reportWith()
    writeFileSync(progressFileOf(file), text)
    expect(readProgress(file)).toEqual(progress)
  })

  it('is not read through a link', () => {
    const file = reportWith('{"passed":1}')
    symlinkSync(file, progressFileOf(file))
    expect(readProgress(file)).toBeUndefined()
  })
})
