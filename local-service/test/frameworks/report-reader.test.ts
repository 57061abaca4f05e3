import { execFileSync } from 'node:child_process'
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ReportReader } from '../../src/frameworks/report-reader.ts'
import { temporaryFolder } from '../support/a-local-service.ts'

const NONE = { total: undefined, passed: 0, failed: 0, flaky: 0, skipped: 0 }

const line = (event: object) => `${JSON.stringify(event)}\n`
const finished = (id: string, state: string, others: object = {}) =>
  line({ event: 'test-finished', test: { id, state }, ...others })

async function aReader() {
  const file = join(temporaryFolder(), 'report')
  const reader = new ReportReader(file)
  return { reader, file, write: (text: string | Buffer) => appendFileSync(file, text) }
}

describe('the reader of a report', () => {
  it('counts the tests of the whole lines that are written so far', async () => {
    const { reader, write } = await aReader()
    expect(reader.readProgress()).toEqual(NONE)
    const bytes = Buffer.from(finished('€', 'skipped'))
    const inCharacter = bytes.indexOf('€') + 1
    write(`${line({ event: 'total', total: 3 })}${finished('1', 'passed')}`)
    write(bytes.subarray(0, inCharacter))
    expect(reader.readProgress()).toEqual({ ...NONE, total: 3, passed: 1 })
    write(bytes.subarray(inCharacter))
    write(finished('3', 'timedOut'))
    expect(reader.readProgress()).toEqual({ total: 3, passed: 1, failed: 1, flaky: 0, skipped: 1 })
    expect(reader.readAll().tests.map(({ id }) => id)).toEqual(['1', '€', '3'])
  })

  it('counts no test that is tried again', async () => {
    const { reader, write } = await aReader()
    write(finished('1', 'failed', { isTriedAgain: true }))
    expect(reader.readProgress()).toEqual(NONE)
    expect(reader.readAll().tests).toEqual([{ id: '1', state: 'pending' }])
  })

  it('stops at the first line that is not an event, for the progress and for the result', async () => {
    for (const noise of ['noise', '{"event":"test-finished"', '{"event":"other"}', '7', '']) {
      const { reader, write } = await aReader()
      write(`${finished('1', 'passed')}${noise}\n${finished('2', 'passed')}`)
      expect(reader.readProgress(), noise).toEqual({ ...NONE, passed: 1 })
      write(line({ event: 'finished', tests: [] }))
      expect(reader.readAll(), noise).toMatchObject({ tests: [{ id: '1' }], finished: undefined })
    }
  })

  it('reads on where the progress ended, up to a last line without an end', async () => {
    const { reader, write } = await aReader()
    write(`${finished('1', 'failed')}${finished('1', 'passed').slice(0, -1)}`)
    expect(reader.readProgress()).toEqual({ ...NONE, failed: 1 })
    expect(reader.readProgress()).toEqual({ ...NONE, failed: 1 })
    write('\n{"event":"finished","tests":[1]}')
    expect(reader.readProgress()).toEqual({ ...NONE, passed: 1 })
    expect(reader.readAll().finished).toEqual({ event: 'finished', tests: [1] })
  })

  it('does not wait for a named pipe, and reads nothing of a huge file', async () => {
    for (const [make, problem] of [
      [['mkfifo'], 'is not a regular file'],
      [['truncate', '--size', '100G'], 'is larger than 256 MiB'],
    ] as const) {
      const { reader, file } = await aReader()
      const [program, ...args] = make
      execFileSync(program, [...args, file])
      for (const _ of [1, 2]) expect(reader.readProgress()).toEqual(NONE)
      expect(() => reader.readAll()).toThrow(problem)
    }
  })
})
