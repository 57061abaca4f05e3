import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ReportReader } from '../../src/frameworks/report-reader.ts'
import { temporaryFolder } from '../support/a-local-service.ts'

const NONE = { total: undefined, passed: 0, failed: 0, flaky: 0, skipped: 0 }

const line = (event: object) => `${JSON.stringify(event)}\n`
const finished = (id: string, state: string, others: object = {}) =>
  line({ event: 'test-finished', test: { id, state }, ...others })

function aReader() {
  const file = join(temporaryFolder(), 'report')
  return { reader: new ReportReader(file), write: (text: string | Buffer) => appendFileSync(file, text) }
}

describe('the reader of a report', () => {
  it('counts the tests of the whole lines that are written so far, and reads on where it was', () => {
    const { reader, write } = aReader()
    expect(reader.readProgress()).toEqual(NONE)
    const bytes = Buffer.from(finished('€', 'skipped'))
    const inCharacter = bytes.indexOf('€') + 1
    write(`${line({ event: 'total', total: 3 })}${finished('1', 'failed')}`)
    write(line({ event: 'said', message: 'ERROR: no' }))
    write(bytes.subarray(0, inCharacter))
    for (const _ of [1, 2]) expect(reader.readProgress()).toEqual({ ...NONE, total: 3, failed: 1 })
    write(bytes.subarray(inCharacter))
    write(finished('3', 'passed', { test: { id: '3', state: 'passed', isFlaky: true } }))
    write(finished('1', 'timedOut').slice(0, -9))
    expect(reader.readProgress()).toEqual({ total: 3, passed: 1, failed: 1, flaky: 1, skipped: 1 })
    const { tests, said } = reader.readAll()
    expect(tests).toMatchObject([{ id: '1', state: 'failed' }, { id: '€' }, { id: '3' }])
    expect(said).toEqual(['ERROR: no'])
  })

  it('counts no test that is tried again', () => {
    const { reader, write } = aReader()
    write(finished('1', 'failed', { isTriedAgain: true }))
    expect(reader.readProgress()).toEqual(NONE)
    expect(reader.readAll().tests).toEqual([{ id: '1', state: undefined }])
  })

  it.each([
    'noise',
    '{"event":"test-finished"',
    '{"event":"other"}',
    '7',
    '',
  ])('throws for %j, and counts the tests before it', (noise) => {
    const { reader, write } = aReader()
    write(`${finished('1', 'passed')}${noise}\n${finished('2', 'passed')}`)
    for (const _ of [1, 2]) expect(reader.readProgress()).toEqual({ ...NONE, passed: 1 })
    expect(() => reader.readAll()).toThrow()
  })
})
