import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseKeyValueFile, parsePathFile, readSummary, SUMMARY_LIMIT_BYTES } from '../file-commands.ts'
import { SecretMasks } from '../masks.ts'

function parse(file: string, platform: NodeJS.Platform = 'linux'): { entries: object; problem?: string | undefined } {
  const { entries, ...rest } = parseKeyValueFile(file, platform)
  return { entries: Object.fromEntries(entries), ...rest }
}

describe('a key-value file', () => {
  test('holds lines and blocks; the last of a name wins', () => {
    expect(parse('a=1\n\nb<<END\nx\ny\nEND\na=2')).toEqual({ entries: { a: '2', b: 'x\ny' } })
  })

  test('takes the sign that comes first', () => {
    expect(parse('a=b<<c\n')).toEqual({ entries: { a: 'b<<c' } })
    expect(parse('a<<b=c\nv\nb=c\n')).toEqual({ entries: { a: 'v' } })
    expect(parse('a==b=')).toEqual({ entries: { a: '=b=' } })
  })

  test('ends a block at a line that is the delimiter and nothing else', () => {
    expect(parse('a<<END\nEND \n END\nENDE\nEND\nb=1')).toEqual({ entries: { a: 'END \n END\nENDE', b: '1' } })
    expect(parse('a<<END\nEND\n')).toEqual({ entries: { a: '' } })
    expect(parse('a<<END\n\nEND\n')).toEqual({ entries: { a: '' } })
    expect(parse('a<<END\n\n\nEND')).toEqual({ entries: { a: '\n' } })
  })

  test('loses a block without an end, and what follows it', () => {
    expect(parse('a=1\nb<<END\nx\nc=3\n')).toEqual({
      entries: { a: '1' },
      problem: "Invalid value. Matching delimiter not found 'END'",
    })
    expect(parse('b<<END')).toMatchObject({ entries: {}, problem: expect.stringContaining('END') })
  })

  test.each(['nonsense', '# note', ' ', '<<END', 'a<<', '=1'])('stops at the line %j', (line) => {
    expect(parse(`a=1\n${line}\nb=2`)).toEqual({ entries: { a: '1' }, problem: expect.stringContaining(line) })
  })

  test('keeps a lone \\r, and the one of \\r\\n outside Windows', () => {
    expect(parse('a=1\r2\r\nb<<E\r\nx\r\nE\r\n')).toEqual({ entries: { a: '1\r2\r', b: 'x\r' } })
    expect(parse('a=1\r2\r\nb<<E\r\nx\r\ny\r\nE\r\n', 'win32')).toEqual({ entries: { a: '1\r2', b: 'x\r\ny' } })
  })

  test('may start with a byte order mark', () => {
    expect(parse('\uFEFFa=1')).toEqual({ entries: { a: '1' } })
  })

  test('brings back any entries that were written as the toolkit writes them', () => {
    const name = fc.string({ unit: 'binary', minLength: 1 }).filter((text) => !/[=<\n\uFEFF]/.test(text))
    fc.assert(
      fc.property(fc.array(fc.tuple(name, fc.string({ unit: 'binary' }))), (entries) => {
        const delimiter = 'ghadelimiter_b7f3'
        const file = entries.map(([key, value]) => `${key}<<${delimiter}\n${value}\n${delimiter}\n`).join('')
        const parsed = parseKeyValueFile(file, 'linux')
        expect(parsed.problem).toBeUndefined()
        expect([...parsed.entries]).toEqual([...new Map(entries)])
      }),
    )
  })
})

describe('a path file', () => {
  test('names folders, each once, at its last place', () => {
    expect(parsePathFile('/a\n\n/b\r\n/a\n')).toEqual(['/b', '/a'])
  })
})

describe('a summary', () => {
  const masks = new SecretMasks()
  masks.add('hush')

  test('is shown masked, with a line end at its end', () => {
    expect(readSummary(Buffer.from('# hush\r\nrest'), masks, 'linux')).toEqual({ kind: 'shown', text: '# ***\nrest\n' })
  })

  test('that is empty is none', () => {
    expect(readSummary(Buffer.alloc(0), masks)).toEqual({ kind: 'none' })
  })

  test('may have exactly the limit if it ends in a line end', () => {
    const file = Buffer.from(`${'é'.repeat(SUMMARY_LIMIT_BYTES / 2 - 1)}x\n`)
    expect(file.length).toBe(SUMMARY_LIMIT_BYTES)
    expect(readSummary(file, masks, 'linux').kind).toBe('shown')
  })

  test('of exactly the limit without a line end vanishes', () => {
    expect(readSummary(Buffer.alloc(SUMMARY_LIMIT_BYTES, 'x'), masks, 'linux')).toEqual({ kind: 'none' })
  })

  test('one byte larger is dropped', () => {
    const bytes = SUMMARY_LIMIT_BYTES + 1
    expect(readSummary(Buffer.alloc(bytes, 'x'), masks, 'linux')).toEqual({ kind: 'too-large', bytes })
  })

  test('is measured before its line ends grow on Windows', () => {
    const file = Buffer.from('x\n'.repeat(SUMMARY_LIMIT_BYTES / 2))
    expect(readSummary(file, masks, 'linux').kind).toBe('shown')
    expect(readSummary(file, masks, 'win32').kind).toBe('none')
  })
})
