import { stripVTControlCharacters } from 'node:util'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { TestOutput } from '../../src/action/test-output.ts'
import { waitForRun } from '../../src/action/wait-for-run.ts'
import type { Run } from '../../src/model/run.ts'
import type { OutputPart } from '../../src/service/decode.ts'
import { untrusted } from '../../src/text/untrusted.ts'
import { FakeClock } from '../support/fake-clock.ts'
import {
  FakeService,
  failure,
  giving,
  noResponse,
  PASSED,
  type Reply,
  RUNNING,
  response,
  statusFailure,
} from '../support/fake-service.ts'
import { FakeWorld, sourceText } from '../support/fake-world.ts'

const BUSY = statusFailure(503)

interface Setting {
  /** What the tests have written at a time of the clock. */
  readonly textAt?: (atMs: number) => string
  readonly output?: (from: number) => Reply<OutputPart>
  /** What the polls say, if not the length of the text. */
  readonly outputBytes?: number
  readonly runMs?: number
  readonly pollIntervalMs?: number | undefined
  readonly waitLimitMs?: number
  readonly signalAtMs?: number
  readonly showOutput?: boolean
  readonly redact?: (text: string) => string
}

/** Waits for a run whose tests write output. A part of the output ends between two characters, and has at most 256 KiB. */
async function watch({ textAt = () => '', runMs = 60_000, pollIntervalMs = 5_000, ...setting }: Setting) {
  const clock = new FakeClock()
  let encoded = { text: '', bytes: Buffer.alloc(0) }
  const bytesNow = () => {
    const text = textAt(clock.now())
    // Some texts are long, and are read in many parts.
    if (text !== encoded.text) encoded = { text, bytes: Buffer.from(text) }
    return encoded.bytes
  }
  const part = (from: number): OutputPart => {
    const bytes = bytesNow().subarray(from, from + 262_144)
    const text = bytes.toString('utf8').replace(/\uFFFD+$/, '')
    return { text: untrusted(text), next: from + Buffer.byteLength(text) }
  }
  const { output = (from: number) => giving(() => part(from)), outputBytes, waitLimitMs = 3_600_000 } = setting
  const run = (): Run => ({
    ...(clock.now() >= runMs ? PASSED : RUNNING),
    outputBytes: outputBytes ?? bytesNow().byteLength,
  })
  const service = new FakeService(clock, { get: () => giving(run), output })
  if (setting.redact !== undefined) Object.assign(service, { redact: setting.redact })
  const world = new FakeWorld(clock, service)
  if (setting.signalAtMs !== undefined) world.signalAt(setting.signalAtMs)
  const testOutput = new TestOutput('run-1', setting.showOutput ?? true, world)
  const handle = { id: 'run-1', knownSinceMs: 0 }
  const waitAndReadRest = async () => {
    const wait = { handle, deadlineMs: waitLimitMs, waitLimitMs, pollIntervalMs, output: testOutput }
    const waited = await waitForRun(wait, world)
    await testOutput.readRest(waited.run)
    return waited
  }
  const { ending } = await clock.run(waitAndReadRest())
  const lines = world.effects
    .filter(({ text }) => /^info /.test(text))
    .map(({ atMs, text }) => ({ atMs, text: text.replace(/^info /, '') }))
  return {
    ending: ending.kind,
    endedMs: clock.now(),
    pollsMs: service.timesMs('get'),
    readsMs: service.timesMs('output'),
    lines,
    output: lines
      .filter(({ text }) => !text.startsWith('Run run-1: '))
      .map(({ text }) => text)
      .join('\n'),
    said: lines.filter(({ text }) => /^Run run-1: (the output|the end|there is)/.test(text)).map(({ text }) => text),
    masks: world.texts('mask '),
    effects: world.effects.map(({ text }) => text),
  }
}

const everySecond = (atMs: number) =>
  Array.from({ length: Math.floor(atMs / 1_000) }, (_, n) => `test ${n + 1}\n`).join('')

/** Gives one part for each byte. */
const inParts =
  (...parts: readonly string[]) =>
  (from: number) =>
    response({ text: untrusted(parts[from] ?? ''), next: from + 1 })

describe('the output of a run', () => {
  test('is in the log while the run is running, once and in order, and is read only after a poll that says there is more', async () => {
    const { lines, output, readsMs } = await watch({
      textAt: (atMs) => everySecond(Math.min(atMs, 12_000)),
      runMs: 30_000,
    })
    expect(output).toBe(everySecond(12_000).trimEnd())
    expect(lines.filter(({ text }) => text.includes('test'))).toMatchObject([
      { atMs: 5_000, text: 'test 1\ntest 2\ntest 3\ntest 4\ntest 5' },
      { atMs: 10_000 },
      { atMs: 15_000 },
    ])
    expect(readsMs).toEqual([5_000, 10_000, 15_000])
  })

  test('is written in whole lines. The last line needs no end', async () => {
    const { lines } = await watch({
      textAt: (atMs) => (atMs < 5_000 ? 'hal' : 'half a line\r\nand the rest'),
      runMs: 10_000,
    })
    expect(lines.map(({ text }) => text)).toEqual(['Run run-1: RUNNING', 'half a line', 'and the rest'])
  })

  test('is read to its end before the step goes on, in several parts', async () => {
    const text = `${'x'.repeat(99)}\n`.repeat(20_000)
    const { output, readsMs, endedMs } = await watch({ textAt: (atMs) => (atMs >= 60_000 ? text : '') })
    expect(output.length).toBe(text.length - 1)
    expect(readsMs).toHaveLength(Math.ceil(text.length / 262_144))
    expect(endedMs).toBeLessThan(60_100)
  })

  test('keeps its colours, each line with a reset at its end', async () => {
    const lines = ['plain', '\u001b[31mred', 'a\u001b[32mgreen', '\u001b[1m::error::x', 'a\u001b]0;', 't\u0007b']
    const shown = ['plain', '\u001b[31mred\u001b[0m', 'a\u001b[32mgreen\u001b[0m', '\u001b[1m::error::x\u001b[0m']
    const { output } = await watch({ textAt: () => `${lines.join('\n')}\n` })
    expect(output.split('\n')).toEqual([...shown, 'a ]0;', 't b'])
  })

  test('has lines of at most 10,000 characters, and the rest of a longer line costs no memory', async () => {
    const { output } = await watch({ textAt: () => `${'x'.repeat(2 * 1024 * 1024)}\nnext` })
    expect(output).toBe(`${'x'.repeat(9_999)}…\nnext`)
  })

  test('is not read with show-output: false', async () => {
    const { readsMs, output, said } = await watch({ textAt: everySecond, showOutput: false })
    expect([readsMs, output, said]).toEqual([[], '', []])
  })

  test('has at most 16 MiB in the log. Then one line says how many bytes there are', async () => {
    const line = `${'x'.repeat(1_023)}\n`
    const [fits, tooMuch] = [line.repeat(16 * 1_024).trimEnd(), line.repeat(17 * 1_024)]
    const whole = await watch({ textAt: () => fits })
    expect([whole.output.length, whole.said]).toEqual([16 * 1024 * 1024 - 1, []])
    const { output, said, readsMs } = await watch({ textAt: () => tooMuch })
    expect(output.length).toBe(16 * 1024 * 1024 - 1)
    expect(said).toEqual([
      'Run run-1: there is more output. The log shows at most 16 MiB. So far there are 17,825,792 bytes in all.',
    ])
    expect(readsMs).toHaveLength(65)
  })

  test('does not show the key, also if it is split over two parts or is where a long line is cut', async () => {
    const redact = (text: string) => text.replaceAll('sk-live-0123456789', '***')
    for (const before of ['key ', 'x'.repeat(9_986)]) {
      const output = inParts(`${before}sk-live-`, '0123456789.\n')
      expect((await watch({ output, outputBytes: 2, redact })).output).toBe(`${before}***.`)
    }
    const withRemovedSequence = inParts('key sk-live-\u001B[K0123456789.\n')
    expect((await watch({ output: withRemovedSequence, outputBytes: 1, redact })).output).toBe('key ***.')
  })

  test('is shown up to its last line, even without an end, when the wait is over', async () => {
    const textAt = (atMs: number) => `${everySecond(atMs)}a prompt that waits?`
    const limit = await watch({ textAt, waitLimitMs: 12_000, runMs: 60_000 })
    expect([limit.ending, limit.output.endsWith('\na prompt that waits?')]).toEqual(['wait-timeout', true])
    const { ending, endedMs, readsMs, output } = await watch({ textAt, signalAtMs: 12_000 })
    expect([ending, endedMs]).toEqual(['aborted', 12_000])
    expect(readsMs.every((atMs) => atMs < 12_000)).toBe(true)
    expect(output.endsWith('\na prompt that waits?')).toBe(true)
  })
})

describe('a service whose output is at fault', () => {
  const endless = { outputBytes: 1e15 }

  test.each<[string, Setting]>([
    ['has no end', { ...endless, output: (from) => response({ text: untrusted('a\n'), next: from + 2 }, 10) }],
    ['is less than the polls say', { ...endless, output: (from) => response({ text: untrusted(''), next: from }) }],
    [
      'goes beyond what the polls say',
      { output: (from) => response({ text: untrusted('x\n'), next: from + 1e6 }), outputBytes: 9 },
    ],
    ['cannot be read', { output: () => failure(BUSY), outputBytes: 9 }],
    ['never comes', { output: () => noResponse, outputBytes: 9 }],
  ])('whose output %s makes each poll at most 5 s late, and the end at most 10 s', async (_, setting) => {
    const { ending, pollsMs, endedMs } = await watch({ pollIntervalMs: 4_000, runMs: 60_000, ...setting })
    expect(ending).toBe('finished')
    for (const [index, atMs] of pollsMs.slice(1).entries())
      expect(atMs - (pollsMs[index] ?? 0)).toBeLessThanOrEqual(5_011)
    expect(endedMs).toBeLessThanOrEqual(60_000 + 5_011 + 10_011)
  })

  test('leaves the line of each minute in the log, although a read takes the whole pause', async () => {
    const { lines } = await watch({ output: () => noResponse, outputBytes: 9, pollIntervalMs: 2_000, runMs: 150_000 })
    const minutes = lines
      .filter(({ text }) => text.includes('still RUNNING'))
      .map(({ atMs }) => Math.floor(atMs / 60_000))
    expect(minutes).toEqual([1, 2])
  })

  test('is asked again after the next poll, and at the end one line says how many bytes are missing', async () => {
    let reads = 0
    const output = (from: number) =>
      ++reads === 3 ? response({ text: untrusted('line\n'), next: from + 5 }) : failure(BUSY)
    const { readsMs, said, output: shown } = await watch({ output, outputBytes: 14, runMs: 20_000 })
    expect(readsMs.slice(0, 6)).toEqual([0, 5_000, 10_000, 10_000, 15_000, 20_000])
    expect(shown).toBe('line')
    expect(said).toEqual([
      'Run run-1: the end of the output is missing, because 9 bytes could not be read. The last read failed, because the service responded with 503 Service Unavailable.',
    ])
  })

  test('is asked again when the run has finished and no poll follows, for up to 10 s', async () => {
    for (const failures of [1, 2, 3]) {
      let reads = 0
      const output = () => (++reads > failures ? response({ text: untrusted('whole'), next: 5 }) : failure(BUSY))
      const { output: shown, said, readsMs } = await watch({ output, outputBytes: 5, runMs: 0 })
      expect([shown, said]).toEqual(['whole', []])
      expect(readsMs).toHaveLength(failures + 1)
    }
    const never = await watch({ output: () => failure(BUSY), outputBytes: 5, runMs: 0 })
    expect(never.readsMs.length).toBeGreaterThan(3)
    expect(never.endedMs).toBeLessThanOrEqual(10_000)
    const asked = await watch({ output: () => failure(statusFailure(503, 60_000)), outputBytes: 5, runMs: 0 })
    expect([asked.readsMs, asked.endedMs]).toEqual([[0], 0])
    const signal = await watch({ output: () => failure(BUSY), outputBytes: 5, runMs: 0, signalAtMs: 3_000 })
    expect(signal.endedMs).toBe(3_000)
  })

  test('does not make the step late at the limit of the wait, or on a signal', async () => {
    const limit = await watch({ output: () => noResponse, outputBytes: 9, waitLimitMs: 12_000 })
    expect([limit.ending, limit.endedMs]).toEqual(['wait-timeout', 12_000])
    const signal = await watch({ output: () => noResponse, outputBytes: 9, signalAtMs: 2_000 })
    expect([signal.ending, signal.endedMs]).toEqual(['aborted', 2_000])
  })

  test('never ends the wait, even if a fault of our own comes while a part of a line is held', async () => {
    const textAt = (atMs: number) => (atMs < 5_000 ? 'half' : 'half a line\nnext\n')
    const redact = (text: string) => {
      if (text.includes('next')) throw new Error('a fault of our own')
      return text
    }
    const { ending, said, output } = await watch({ textAt, runMs: 30_000, redact })
    expect([ending, output]).toEqual(['finished', ''])
    expect(said).toEqual(['Run run-1: the output of the tests is not shown any more: a fault of our own.'])
  })
})

describe('a line that masks a value', () => {
  test('gives the value to the runner before any later line, and is not shown itself', async () => {
    const output = inParts('before\n::add-mask::s3c', 'ret\ntoken s3cret\n')
    const { effects } = await watch({ output, outputBytes: 2, runMs: 0 })
    expect(effects.slice(1)).toEqual(['info before', 'mask s3cret', 'info token s3cret'])
  })

  // The runner reads these forms.
  test.each([
    ['  ::add-mask::s3cret', 's3cret'],
    ['\u0085\t::ADD-MASK::s3cret', 's3cret'],
    ['::add-mask name=x::s3cret', 's3cret'],
    ['\u001b[2m::add-mask::s3cret\u001b[0m', 's3cret'],
    ['::add-mask::100 %25 sure%250A', '100 % sure%0A'],
    ['::add-mask::😀😀😀😀', '😀😀😀😀'],
  ])('may be “%s”', async (line, value) => {
    const { masks, output } = await watch({ textAt: () => `${line}\n` })
    expect([masks, output]).toEqual([[value], ''])
  })

  test.each([
    'x ::add-mask::s3cret',
    '::add-masks::s3cret',
    ': :add-mask::s3cret',
    '::add-mask::abc',
    '::add-mask:: 😀😀😀',
  ])('is not “%s”, which is data like any other line', async (line) => {
    const { masks, output } = await watch({ textAt: () => `${line}\n` })
    expect([masks, output]).toEqual([[], line.replace(/^::/, ': :')])
  })

  // GitHub's runner would replace them in the summary, and a title behind a broken tag would be live Markdown.
  test.each([
    ...['code', 'details', '<p>', '</p>', ' failed', 'Tests failed', 'PASSED', '&#10;', 'finished as', 'ails><sum'],
    ...['d><b><code', '#L3"><code>'],
    // The runner masks a part of these values too, or their base64.
    ...['"details"', 'x&details', '&+details', '&+xdetails', '<b><code>&<x', 'aj)l', 'aajx'],
  ])('is data if main itself may write the value “%s”', async (value) => {
    const { masks, output } = await watch({ textAt: () => `::add-mask::${value}\n` })
    expect([masks, output]).toEqual([[], `: :add-mask::${value}`])
  })

  test.each([
    ['>q7Wv2zL9', ['q7Wv2zL9']],
    ['q7Wv2zL9<', ['q7Wv2zL9']],
    ['q7Wv2zL9"', ['q7Wv2zL9']],
    ['"><code>q7Wv', ['q7Wv']],
    ['q7Wv</code>', ['q7Wv']],
    ['<a href="https://q7Wv', ['https://q7Wv']],
    // The runner also masks the part before `&` alone.
    ['<code>&q7Wv<zz', ['&q7Wv']],
    ['<code>&+Xq7Wv<zz', ['&+Xq7Wv']],
  ])('is masked without what is like a tag of main, if it has the value “%s”', async (value, parts) => {
    const { masks, output } = await watch({ textAt: () => `::add-mask::${value}\n` })
    expect([masks, output]).toEqual([parts, ''])
  })

  const PASSWORDS = [
    'p<4ssw0rd',
    'a<b8Kq',
    's3cr3t>',
    '<k3y>',
    '<p>a<q7Wv',
    'x"y\'z&lt',
    'Passw0rd!',
    '"code"',
    'x&code',
    'a&b&c&d',
    '"s3cret!"',
  ]
  test.each(PASSWORDS)('may have the value “%s”', async (value) => {
    const { masks } = await watch({ textAt: () => `::add-mask::${value}\n` })
    expect(masks).toEqual([value])
  })

  test('may have a value of several lines. Those of at least 4 characters are values of their own', async () => {
    // The runner would hide each line of a value, however short it is.
    const line = '::add-mask::-----BEGIN%0D%0A  abcd %0Ae%0A-----END\n'
    const { masks, output } = await watch({ textAt: () => line })
    expect([masks, output]).toEqual([['-----BEGIN', 'abcd', '-----END'], ''])
  })

  test('may have the values of a whole file, which is far longer than a line of the log', async () => {
    const values = Array.from({ length: 900 }, (_, index) => `line ${index} of the certificates of this job`)
    const { masks, output } = await watch({ textAt: () => `::add-mask::${values.join('%0A')}\n` })
    expect([masks, output]).toEqual([values, ''])
  })

  test('counts once for each value, and 1,000 times in all', async () => {
    const command = (index: number) => `::add-mask::value ${index}\n`
    const text = command(0).repeat(2_000) + Array.from({ length: 1_001 }, (_, index) => command(index)).join('')
    const { masks, output } = await watch({ textAt: () => `${text}the last line\n` })
    expect(masks).toHaveLength(1_000)
    expect(output).toBe('the last line')
  })

  test('is masked also after 1,000 values that are data', async () => {
    const words = [...new Set(sourceText().match(/[a-zA-Z]{4,}/g))].slice(0, 1_000)
    const text = [...words, 's3cret'].map((value) => `::add-mask::${value}\n`).join('')
    const { masks } = await watch({ textAt: () => text })
    expect([words.length, masks]).toEqual([1_000, ['s3cret']])
  })
})

test('any output in any parts gives the same lines, and no line of it is a command', async () => {
  const words = ['::error::x', '##[group]', '##', '[', ':', '\n', '\r', '\r\n', ' ', 'é', '😀', '\u0000', 'word']
  const sequences = ['\u001b[31m', '\u001b[', 'm', '\u001b]0;t\u0007', '\u001b]', '\u0007']
  const piece = fc.constantFrom(...words, ...sequences)
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 60 }), fc.integer({ min: 1, max: 20 }), async (pieces, size) => {
      const bytes = Buffer.from(pieces.join(''))
      const output = (from: number) => {
        let end = Math.min(bytes.length, from + size)
        while (end < bytes.length && ((bytes[end] ?? 0) & 0xc0) === 0x80) end++
        return response({ text: untrusted(bytes.toString('utf8', from, end)), next: end })
      }
      const split = await watch({ output, outputBytes: bytes.length, runMs: 600_000 })
      const whole = await watch({ textAt: () => bytes.toString(), runMs: 5_000 })
      expect(split.output).toBe(whole.output)
      for (const line of whole.output.split('\n')) {
        expect(line).not.toMatch(/^\s*::|##\[/)
        expect(stripVTControlCharacters(line).replaceAll('\t', '')).not.toMatch(/\p{Cc}/u)
        if (line.includes('\u001b')) expect(line.endsWith('\u001b[0m')).toBe(true)
      }
    }),
    { numRuns: 300 },
  )
})
