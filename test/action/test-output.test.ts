import { stripVTControlCharacters } from 'node:util'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { waitForRun } from '../../src/action/wait-for-run.ts'
import type { Failure } from '../../src/model/failure.ts'
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
} from '../support/fake-service.ts'
import { FakeWorld } from '../support/fake-world.ts'

const MIB = 1024 * 1024
const BUSY: Failure = { kind: 'status', status: 503 }

interface Setting {
  /** What the tests have written at a time of the clock. */
  readonly textAt?: (atMs: number) => string
  readonly output?: (from: number) => Reply<OutputPart>
  /** What the polls say, if not the length of the text. */
  readonly outputBytes?: number | ((atMs: number) => number)
  readonly runMs?: number
  readonly pollIntervalMs?: number | undefined
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
    const text = bytesNow()
      .subarray(from, from + 262_144)
      .toString('utf8')
      .replace(/\uFFFD+$/, '')
    return { text: untrusted(text), next: from + Buffer.byteLength(text) }
  }
  const output = setting.output ?? ((from: number) => giving(() => part(from)))
  const { outputBytes = () => bytesNow().byteLength } = setting
  const run = (): Run => ({
    ...(clock.now() >= runMs ? PASSED : RUNNING),
    outputBytes: typeof outputBytes === 'number' ? outputBytes : outputBytes(clock.now()),
  })
  const service = new FakeService(clock, { get: () => giving(run), output })
  if (setting.redact !== undefined) Object.assign(service, { redact: setting.redact })
  const world = new FakeWorld(clock, service)
  if (setting.signalAtMs !== undefined) world.signalAt(setting.signalAtMs)
  const { showOutput = true } = setting
  const options = { stepBeganMs: 0, waitLimitMs: 3_600_000, pollIntervalMs, showOutput, onStatus: () => {} }
  const { ending } = await clock.run(waitForRun({ id: 'run-1', startedMs: 0 }, options, world))
  const lines = world.effects.map(({ atMs, text }) => ({ atMs, text: text.replace(/^info /, '') }))
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
  }
}

const everySecond = (atMs: number) =>
  Array.from({ length: Math.floor(atMs / 1_000) }, (_, n) => `test ${n + 1}\n`).join('')

describe('the output of a run', () => {
  test('is in the log while the run is running, once and in order', async () => {
    const { lines, output } = await watch({ textAt: everySecond, runMs: 20_000 })
    expect(output).toBe(everySecond(20_000).trimEnd())
    expect(lines.filter(({ text }) => text.includes('test'))).toMatchObject([
      { atMs: 5_000, text: 'test 1\ntest 2\ntest 3\ntest 4\ntest 5' },
      { atMs: 10_000 },
      { atMs: 15_000 },
      { atMs: 20_000 },
    ])
  })

  test('is read only after a poll that says that there is more', async () => {
    const { readsMs } = await watch({ textAt: (atMs) => (atMs >= 8_000 ? 'one line\n' : ''), runMs: 30_000 })
    expect(readsMs).toEqual([10_000])
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

  test('keeps a key and a character whole that are in the middle of a long part', async () => {
    const lines = `${'x'.repeat(999)}\n`.repeat(40)
    const redact = (text: string) => text.replaceAll('sk-live-0123456789', '***')
    for (const [middle, shown] of [
      ['😀', '😀'],
      ['sk-live-0123456789', '***'],
    ] as const) {
      // Each place of a line in turn, so that the middle is at each place where main may cut the part.
      for (let before = 740; before < 780; before++) {
        const [first, last] = [lines.slice(0, 32_000), `${'y'.repeat(before)}`]
        const { output } = await watch({ textAt: () => `${first}${last}${middle}\n${lines}`, redact })
        expect(output).toBe(`${first}${last}${shown}\n${lines}`.trimEnd())
      }
    }
  })

  test('has its colours in all lines, except in a line that has the key between colours', async () => {
    const redact = (text: string) => text.replaceAll('sk-live-0123456789', '***')
    const lines = ['plain', '\u001b[31mred', 'a\u001b[32mgreen', '\u001b[1m::error::x']
    const shown = ['plain', '\u001b[31mred\u001b[0m', 'a\u001b[32mgreen\u001b[0m', '\u001b[1m: :error::x\u001b[0m']
    const { output } = await watch({ textAt: () => `${lines.join('\n')}\n`, redact })
    expect(output.split('\n')).toEqual(shown)
    const withKey = ['\u001b[1msk-live-\u001b[31m0123456789', ...lines]
    const { output: redacted } = await watch({ textAt: () => `${withKey.join('\n')}\n`, redact })
    expect(redacted.split('\n')).toEqual(['***', ...shown])
  })

  test('has a line also if a sequence of a terminal begins before it and ends after it', async () => {
    const { output } = await watch({ textAt: () => 'a\u001b]0;\nline\n\u0007b\n' })
    expect(output).toBe('a ]0;\nline\n b')
  })

  test('is not read with show-output: false', async () => {
    const { readsMs, output } = await watch({ textAt: everySecond, showOutput: false })
    expect([readsMs, output]).toEqual([[], ''])
  })

  test('has at most 16 MiB in the log. Then one line says how many bytes there are', async () => {
    const line = `${'x'.repeat(1_023)}\n`
    const text = line.repeat(17 * 1_024)
    const { output, said, readsMs } = await watch({ textAt: () => text })
    expect(output.length).toBe(16 * MIB - 1)
    expect(said).toEqual([
      'Run run-1: there is more output. The log shows the first 16 MiB. So far there are 17,825,792 bytes in all.',
    ])
    expect(readsMs).toHaveLength(65)
  })

  test('does not show the key, also if it is split over two parts or has a colour or another sequence inside', async () => {
    const redact = (text: string) => text.replaceAll('sk-live-0123456789', '***')
    for (const between of ['', '\u001b[31m', '\u001b[2K']) {
      const parts = [`key sk-live-`, `${between}0123456789.\n`]
      const output = (from: number) => response({ text: untrusted(parts[from] ?? ''), next: from + 1 })
      const { output: shown } = await watch({ output, outputBytes: 2, redact })
      expect(shown).toBe('key ***.')
    }
    // The key is at the place at which a long line is cut, and at the place at which the log ends.
    const parts = [`${'x'.repeat(9_986)}sk-live-`, '0123456789, and more\n']
    const output = (from: number) => response({ text: untrusted(parts[from] ?? ''), next: from + 1 })
    const { output: cut } = await watch({ output, outputBytes: 2, redact })
    expect(cut).toBe(`${'x'.repeat(9_986)}***, and more`)
    const whole = `${'x'.repeat(1_023)}\n`.repeat(16 * 1_024 - 1)
    const text = Buffer.from(`${whole}${'x'.repeat(1_010)}sk-live-0123456789\n`).toString()
    const { output: limited } = await watch({
      textAt: () => text,
      redact,
    })
    expect(limited).toBe(whole.trimEnd())
  })
})

describe('a service whose output is at fault', () => {
  test.each<[string, Setting]>([
    ['has no end', { output: (from) => response({ text: untrusted('a line\n'), next: from + 7 }), outputBytes: 1e15 }],
    [
      'comes one byte at a time',
      { output: (from) => response({ text: untrusted('.'), next: from + 1 }), outputBytes: 1e15 },
    ],
    [
      'is less than the polls say',
      { output: (from) => response({ text: untrusted(''), next: from }), outputBytes: 1e15 },
    ],
    [
      'goes beyond what the polls say',
      { output: (from) => response({ text: untrusted('x\n'), next: from + 1e6 }), outputBytes: 9 },
    ],
    ['cannot be read', { output: () => failure(BUSY), outputBytes: 9 }],
  ])('whose output %s costs only the output: polls and verdict are the same, and the end is at most 10 s later', async (_, setting) => {
    const undisturbed = await watch({})
    const { ending, pollsMs, endedMs } = await watch({ outputBytes: 9, ...setting })
    expect(ending).toBe('finished')
    expect(pollsMs).toEqual(undisturbed.pollsMs)
    expect(endedMs).toBeLessThanOrEqual(undisturbed.endedMs + 10_001)
  })

  test('whose output is late delays each poll by at most a second, and the end by at most 10 s', async () => {
    const { ending, pollsMs, endedMs, said } = await watch({ output: () => noResponse, outputBytes: 9, runMs: 30_000 })
    expect(ending).toBe('finished')
    expect(pollsMs).toEqual([0, 6_000, 12_000, 18_000, 24_000, 30_000])
    expect(endedMs).toBe(40_000)
    expect(said).toEqual(['Run run-1: the end of the output is missing, because 9 bytes could not be read in time.'])
  })

  test('has a second more for a response than until the next poll, and a read that had too little time is tried again', async () => {
    const timesMs = [5_900, 6_100, 6_100, 6_100, 6_100, 0]
    const output = (from: number) =>
      response({ text: untrusted(`from ${from}\n`), next: from + 7 }, timesMs.shift() ?? 0)
    const { output: shown, said, readsMs } = await watch({ output, outputBytes: 14, runMs: 60_000 })
    expect(readsMs).toEqual([0, 5_900, 11_900, 17_900, 23_900, 29_900])
    expect([shown, said]).toEqual(['from 0\nfrom 7', []])
  })

  test('whose output does not come within 10 s has failed', async () => {
    const { readsMs, said } = await watch({ output: () => noResponse, outputBytes: 9, pollIntervalMs: 9_000 })
    expect(readsMs).toEqual([0, 10_000, 20_000])
    expect(said).toEqual([expect.stringMatching(/not shown any more\. .*did not respond/)])
  })

  test('delays the end by at most 10 s, also if a read hangs and the run says that there is no more output', async () => {
    const outputBytes = (atMs: number) => (atMs < 5_000 ? 9 : 0)
    const { endedMs } = await watch({ output: () => noResponse, outputBytes, runMs: 5_000 })
    expect(endedMs).toBeLessThanOrEqual(15_001)
  })

  test('is read again after the next poll. After three failures in a row, one line says that it is not shown any more', async () => {
    const { said, readsMs } = await watch({ output: () => failure(BUSY), outputBytes: 9 })
    expect(readsMs).toEqual([0, 5_000, 10_000])
    expect(said).toEqual([expect.stringMatching(/^Run run-1: the output of the tests is not shown any more\. .*503/)])
  })

  test('counts only failures without a success between them', async () => {
    let reads = 0
    const output = (from: number) =>
      ++reads % 3 === 0 ? response({ text: untrusted(`line ${reads}\n`), next: from + 7 }) : failure(BUSY)
    const { said, output: shown } = await watch({ output, outputBytes: 50, runMs: 80_000 })
    expect(said).toEqual([])
    expect(shown).toContain('line 3\nline 6')
  })

  test('is read a last time after the run has finished', async () => {
    let reads = 0
    const output = () => (++reads === 1 ? failure(BUSY) : response({ text: untrusted('the end'), next: 7 }))
    const { output: shown, endedMs } = await watch({ output, outputBytes: 7, runMs: 0 })
    expect(shown).toBe('the end')
    expect(endedMs).toBeLessThan(1_000)
  })
})

test('on a signal, no more output is read, and the wait ends at once', async () => {
  const { ending, endedMs, readsMs, output } = await watch({
    textAt: (atMs) => `${everySecond(atMs)}half`,
    signalAtMs: 12_000,
  })
  expect([ending, endedMs]).toEqual(['aborted', 12_000])
  expect(readsMs.every((atMs) => atMs < 12_000)).toBe(true)
  expect(output).toContain('half')
})

test('a signal ends a read that hangs', async () => {
  const { ending, endedMs } = await watch({ output: () => noResponse, outputBytes: 9, signalAtMs: 2_000 })
  expect([ending, endedMs]).toEqual(['aborted', 2_000])
})

describe('a value that the tests mask', () => {
  test('is hidden from then on, also if it is split over two parts or has a colour inside', async () => {
    const parts = ['token s3cret\n::add-mask::s3c', 'ret\ntoken s3', 'cret\n', 's3\u001b[31mcret\n']
    const output = (from: number) => response({ text: untrusted(parts[from] ?? ''), next: from + 1 })
    const { output: shown } = await watch({ output, outputBytes: 4 })
    expect(shown).toBe('token s3cret\n: :add-mask::***\ntoken ***\n***')
  })

  test('is hidden also at the place at which a long line is cut', async () => {
    const text = `::add-mask::a long value\n${'x'.repeat(9_995)}a long value\n`
    expect((await watch({ textAt: () => text })).output.split('\n')[1]).toBe(`${'x'.repeat(9_995)}***`)
  })

  test('is one of at most 1,000. With more values, the output is not shown any more', async () => {
    const values = Array.from({ length: 1_002 }, (_, index) => `::add-mask::value ${index}\nline ${index}\n`)
    const text = values.join('') + 'line 1000\n'.repeat(10_000)
    const { output: shown, said } = await watch({ textAt: () => text })
    expect(shown).toContain('line 999')
    expect(shown).not.toContain('line 1000')
    expect(said).toEqual([expect.stringContaining('is not shown any more, because it masks too many values')])
  })
})

test('any output in any parts gives the same lines, and no line of it is a command', async () => {
  const piece = fc.constantFrom(
    '::error::x',
    '##[group]',
    '##',
    '[',
    ':',
    '\n',
    '\r',
    '\r\n',
    ' ',
    'é',
    '😀',
    '\u001b[31m',
    '\u001b[',
    'm',
    '\u001b]0;t\u0007',
    '\u001b]',
    '\u0007',
    '\u0000',
    'word',
  )
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 60 }), fc.integer({ min: 1, max: 20 }), async (pieces, size) => {
      const bytes = Buffer.from(pieces.join(''))
      const output = (from: number) => {
        let end = Math.min(bytes.length, from + size)
        while (end < bytes.length && ((bytes[end] ?? 0) & 0xc0) === 0x80) end++
        return response({ text: untrusted(bytes.toString('utf8', from, end)), next: end })
      }
      const inParts = await watch({ output, outputBytes: bytes.length, runMs: 600_000 })
      const whole = await watch({ textAt: () => bytes.toString(), runMs: 5_000 })
      expect(inParts.output).toBe(whole.output)
      for (const line of whole.output.split('\n')) {
        // As the runner reads it, and as a viewer without colours shows it.
        const plain = stripVTControlCharacters(line)
        for (const seen of [line, plain]) expect(seen).not.toMatch(/^\s*::|##\[/)
        expect(plain.replaceAll('\t', '')).not.toMatch(/\p{Cc}/u)
        if (line.includes('\u001b')) expect(line.endsWith('\u001b[0m')).toBe(true)
      }
    }),
    { numRuns: 300 },
  )
})

test('a line of more than 10,000 characters is cut, and costs no memory for its rest', async () => {
  const { output } = await watch({ textAt: () => `${'x'.repeat(2 * MIB)}\nnext` })
  expect(output).toBe(`${'x'.repeat(9_999)}…\nnext`)
})
