import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { LineSplitter, splitLines } from '../line-splitter.ts'
import { SecretMasks, secretForms } from '../masks.ts'
import { ANNOTATION_MESSAGE_LENGTH, parseWorkflowCommand, StepLog } from '../workflow-commands.ts'

function read(lines: readonly string[], { debug = false, secrets = [] as readonly string[] } = {}): StepLog {
  const masks = new SecretMasks()
  for (const secret of secrets) masks.add(secret)
  const log = new StepLog(masks, debug, () => {})
  for (const line of lines) log.read(line)
  return log
}

describe('a command in a line', () => {
  test('stands at the start, after spaces if any', () => {
    expect(parseWorkflowCommand('::error::no')).toMatchObject({ name: 'error', data: 'no' })
    expect(parseWorkflowCommand(' \t ::error::no')).toMatchObject({ name: 'error', data: 'no' })
    expect(parseWorkflowCommand('x ::error::no')).toBeUndefined()
  })

  test('stands anywhere in its bracket form', () => {
    expect(parseWorkflowCommand('Title ##[error]no')).toMatchObject({ name: 'error', data: 'no' })
    expect(parseWorkflowCommand('##[error no')).toBeUndefined()
    expect(parseWorkflowCommand('# #[error]no')).toBeUndefined()
  })

  test('is compared without case, and only known names are commands', () => {
    expect(parseWorkflowCommand('::ERROR::no')).toMatchObject({ name: 'error' })
    expect(parseWorkflowCommand('::errors::no')).toBeUndefined()
    expect(parseWorkflowCommand('::section::no')).toBeUndefined()
    expect(parseWorkflowCommand('::error:no')).toBeUndefined()
  })

  test('an unknown name in the first form does not hide the second', () => {
    expect(parseWorkflowCommand('::x:: ##[warning]no')).toMatchObject({ name: 'warning', data: 'no' })
  })

  test('has properties, decoded by the rules of its form', () => {
    const colon = parseWorkflowCommand('::error title=a%3Ab%2Cc%25, file = x ,empty=,=y,line=3::50%25%0Amore%3A')
    expect(Object.fromEntries(colon?.properties ?? [])).toEqual({ title: 'a:b,c%', ' file ': ' x ', line: '3' })
    expect(colon?.data).toBe('50%\nmore%3A')
    const bracket = parseWorkflowCommand('##[error title=a%3Bb%5D;line=3]50%25%3B')
    expect(Object.fromEntries(bracket?.properties ?? [])).toEqual({ title: 'a;b]', line: '3' })
    expect(bracket?.data).toBe('50%;')
  })

  test('%25 is decoded last, so that an escaped escape stays a text', () => {
    expect(parseWorkflowCommand('::error::%250A')?.data).toBe('%0A')
    expect(parseWorkflowCommand('::error title=%253A::')?.properties.get('title')).toBe('%3A')
    expect(parseWorkflowCommand('##[error title=%255D]%253B')?.properties.get('title')).toBe('%5D')
  })

  test('carries any message and title that were escaped as the toolkit escapes them', () => {
    const escapeData = (text: string): string =>
      text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
    const escapeProperty = (text: string): string => escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary', minLength: 1 }), (message, title) => {
        fc.pre(title.trim() === title)
        const line = `::error title=${escapeProperty(title)}::${escapeData(message)}`
        const command = parseWorkflowCommand(line)
        expect(command?.data).toBe(message)
        expect(command?.properties.get('title')).toBe(title)
      }),
    )
  })
})

describe('the log', () => {
  test('shows what GitHub shows', () => {
    const log = read([
      'hello',
      '',
      '::group::Setup',
      'inside',
      '::endgroup::ignored',
      '::error title=T::bad%0Aworse',
      '::debug::x',
      '::section::y',
    ])
    expect(log.lines).toEqual([
      'hello',
      '',
      '##[group]Setup',
      'inside',
      '##[endgroup]',
      '##[error]bad',
      'worse',
      '::section::y',
    ])
    expect(log.annotations).toEqual([
      { level: 'error', title: 'T', message: 'bad\nworse', source: 'action', properties: {} },
    ])
  })

  test('shows debug lines and echoes commands while debugging', () => {
    expect(read(['::debug::x', '::group::g'], { debug: true }).lines).toEqual([
      '##[debug]x',
      '::group::g',
      '##[group]g',
    ])
  })

  test('echoes commands on demand, but never a secret', () => {
    const log = read([
      '::echo::on',
      '::save-state name=a::1',
      '::add-mask::hush',
      '::echo::off',
      '::save-state name=b::2',
    ])
    expect(log.lines).toEqual(['::save-state name=a::1', '::add-mask::***', '::echo::off'])
    expect(Object.fromEntries(log.state)).toEqual({ a: '1', b: '2' })
  })

  test('takes the file and line of an annotation', () => {
    expect(read(['::warning file=a.ts,line=3::w']).annotations).toMatchObject([
      { level: 'warning', properties: { file: 'a.ts', line: '3' } },
    ])
  })

  test('keeps the first ten annotations of each level and counts the rest', () => {
    const lines = ['error', 'warning', 'notice'].flatMap((level) =>
      Array.from({ length: 12 }, (_, i) => `::${level}::${i}`),
    )
    const log = read(lines)
    expect(log.annotations).toHaveLength(30)
    expect(log.annotations.filter(({ level }) => level === 'error').map(({ message }) => message)).toEqual([
      ...'0123456789',
    ])
    expect(log.annotationCounts).toEqual({ error: 12, warning: 12, notice: 12 })
    expect(log.lines).toHaveLength(36)
  })

  test('truncates a long message, in the log too', () => {
    const log = read([`::error::${'x'.repeat(5000)}`])
    expect(log.annotations[0]?.message).toHaveLength(ANNOTATION_MESSAGE_LENGTH)
    expect(log.lines[0]).toHaveLength('##[error]'.length + ANNOTATION_MESSAGE_LENGTH)
  })

  test('executes nothing between a stop and its token', () => {
    const log = read(['::stop-commands::Token-1', '::error::no', '##[add-mask]no', '::token-1::', '::error::yes'])
    expect(log.annotations.map(({ message }) => message)).toEqual(['yes'])
    expect(log.lines).toEqual([
      '::stop-commands::Token-1',
      '::error::no',
      '##[add-mask]no',
      '::token-1::',
      '##[error]yes',
    ])
    expect(log.commandFailed).toBe(false)
  })

  test('takes no token that could be met by accident', () => {
    for (const token of ['', 'pause-logging', 'Error']) {
      const log = read([`::stop-commands::${token}`, '::warning::read'])
      expect(log.commandFailed).toBe(true)
      expect(log.annotations.at(-1)).toMatchObject({ message: 'read' })
    }
  })

  test('sets outputs and state by the old commands', () => {
    const log = read(['::set-output name=a::1%0A2', '::save-state name=b::3'])
    expect([...log.outputs]).toEqual([['a', '1\n2']])
    expect([...log.state]).toEqual([['b', '3']])
  })

  test('fails the step for a command that is invalid', () => {
    for (const line of [
      '::set-env name=A::1',
      '::add-path::/x',
      '::set-output::1',
      '::save-state::1',
      '::echo::maybe',
    ]) {
      const log = read([line])
      expect(log.commandFailed).toBe(true)
      expect(log.annotations[0]).toMatchObject({ level: 'error', source: 'runner' })
    }
  })
})

describe('masks', () => {
  test('hide a secret in the log and in messages, but not in titles', () => {
    const log = read(['::add-mask::hush', 'say hush', '::error title=hush::hush!'])
    expect(log.lines).toEqual(['say ***', '##[error]***!'])
    expect(log.annotations[0]).toMatchObject({ title: 'hush', message: '***!' })
  })

  test('hide only what comes after them', () => {
    expect(read(['hush', '::add-mask::hush', 'hush']).lines).toEqual(['hush', '***'])
  })

  test('hide each line of a secret with several', () => {
    expect(read(['::add-mask::first%0D%0A  second', 'a first', 'second b']).lines).toEqual(['a ***', '*** b'])
  })

  test('hide a secret that spans the lines of a message', () => {
    expect(read(['::add-mask::ab%0Acd', '::error::xab%0Acdy']).lines).toEqual(['##[error]x***y'])
  })

  test('refuse a secret of white space with a warning', () => {
    const log = read(['::add-mask::  ', 'a  b'])
    expect(log.lines.at(-1)).toBe('a  b')
    expect(log.annotations).toMatchObject([{ level: 'warning', source: 'runner' }])
  })

  test('merge what touches or overlaps', () => {
    const masks = new SecretMasks()
    masks.add('abcd')
    masks.add('cdef')
    expect(masks.apply('xabcdefy abcdabcd abcd abcd')).toBe('x***y *** *** ***')
    masks.add('pqpq')
    expect(masks.apply('pqpqpq')).toBe('***')
  })

  const masked = (secret: string, text: string): string => {
    const masks = new SecretMasks()
    masks.add(secret)
    return masks.apply(text)
  }
  const base64 = (text: string): string => Buffer.from(text).toString('base64')

  // What the runner's own tests expect of it.
  test.each([
    ['Password123!', '1Password123!1', '1***1'],
    ['Password123!', 'password123!', 'password123!'],
    ['Pass"word"123!', '1Pass\\"word\\"123!1', '1***1'],
    ['Pass word 123!', '1Pass%20word%20123%211', '1***1'],
    ['Pass<word>123!', '1Pass&lt;word&gt;123!1', '1***1'],
    ["Pass'word'123!", "1Pass''word''123!1", '1***1'],
    ["Pass'word'123!", '1Pass&apos;word&apos;123!1', '1***1'],
    ['"Password123!!"', '1Password123!!1', '1***1'],
    ['"short"', '1short1', '1short1'],
    ['tab\there', '1tab\\there1', '1***1'],
    ['Password123!', base64(':Password123!'), 'OlBh***=='],
    ['Password123!', base64('a:Password123!'), 'YTpQ***='],
    ['Password123!', base64('ab:Password123!'), 'YWI6***'],
    ['Password123!', base64('abcd:Password123!').replace('=', ''), 'YWJjZDpQ***'],
    ['TeLL? noboDy~ SEcreT?', 'VGVMTD8gbm9ib0R5fiBTRWNyZVQ/', '***'],
    ['TeLL? noboDy~ SEcreT?', 'VGVMTD8gbm9ib0R5fiBTRWNyZVQ_', '***'],
    ['TeLL? noboDy~ SEcreT?', '.ZUxMPyBub2JvRHl-IFNFY3JlVD8===', '.***==='],
    ['TeLL? noboDy~ SEcreT?', 'VGVMTD8gbm9ibTEw/IG5vYm9EeX4gU0VjcmVUPw', 'VGVMTD8gbm9ib***'],
    ['TeLL? noboDy~ SEcreT?', 'VGVMTD8gbm9ib0R5fiBTRWNyZV', 'VGVMTD8gbm9ib0R5fiBTRWNyZV'],
    ['secret&secret&secret', 'secret&secret&\u001b[96msecret\u001b[0m', '***\u001b[96m***\u001b[0m'],
    ['secret&secret+secret', 'secret&\u001b[96msecret+secret\u001b[0m', '***\u001b[96m***\u001b[0m'],
    ['secret&+secret&+secret', 'secret&+\u001b[96ms\u001b[0mecret&+secret', '***\u001b[96ms\u001b[0m***'],
    ['a&b', 'a& b', 'a& b'],
  ])('of %j turn %j into %j', (secret, text, shown) => {
    expect(masked(secret, text)).toBe(shown)
  })

  test('leave no form of any secret in any text', () => {
    const text = fc.string({ unit: 'binary' })
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1 }), text, text, (secret, before, after) => {
        // The mask itself is made of stars.
        fc.pre(secret.trim() !== '' && !secret.includes('*'))
        const masks = new SecretMasks()
        masks.add(secret)
        const masked = masks.apply(before + secret + after)
        expect(secretForms(secret).filter((form) => masked.includes(form) && !form.includes('*'))).toEqual([])
      }),
    )
  })
})

describe('lines', () => {
  test('end at \\n, \\r\\n and a lone \\r', () => {
    expect(splitLines('a\nb\r\nc\rd\n\ne')).toEqual(['a', 'b', 'c', 'd', '', 'e'])
    expect(splitLines('a\n')).toEqual(['a'])
    expect(splitLines('')).toEqual([])
  })

  test('are the same however the bytes arrive', () => {
    const text = fc.array(fc.constantFrom('a', 'ü', '😀', '\n', '\r', '\r\n', ' ')).map((parts) => parts.join(''))
    fc.assert(
      fc.property(text, fc.infiniteStream(fc.integer({ min: 1, max: 5 })), (whole, sizes) => {
        const lines: string[] = []
        const splitter = new LineSplitter((line) => lines.push(line))
        const bytes = Buffer.from(whole)
        for (let at = 0; at < bytes.length; ) {
          const size = sizes.next().value as number
          splitter.write(bytes.subarray(at, at + size))
          at += size
        }
        splitter.end()
        expect(lines).toEqual(splitLines(whole))
      }),
    )
  })

  test('are passed on as soon as they end', () => {
    const lines: string[] = []
    const splitter = new LineSplitter((line) => lines.push(line))
    splitter.write(Buffer.from('progress\rhalf'))
    expect(lines).toEqual(['progress'])
  })
})
