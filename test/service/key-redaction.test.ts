import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ctrf } from '../../src/report/ctrf.ts'
import { verdictSentences } from '../../src/report/ending.ts'
import { jobSummary } from '../../src/report/job-summary.ts'
import { junit } from '../../src/report/junit.ts'
import { openService } from '../../src/service/client.ts'
import type { Connections } from '../../src/service/connection.ts'
import { decodeRun } from '../../src/service/decode.ts'
import { keyRedaction } from '../../src/service/key-redaction.ts'
import { createSendJson } from '../../src/service/requests.ts'
import { type Fragment, render } from '../../src/text/safe-text.ts'
import { anOutcome } from '../support/builders.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { recordingServer } from '../support/recording-server.ts'
import { patient } from '../support/service-requests.ts'

/** Keys as services make them, and as hostile as ASCII allows. */
const anyKey = fc.oneof(fc.stringMatching(/^[!-~]{8,80}$/), fc.stringMatching(/^["\\/%+u0-9a-f]{8,20}$/))

/** How each character of a key is written in JSON, by chance. */
const anyForm = fc.array(fc.nat(3), { minLength: 1, maxLength: 80 }).map((choices) => (key: string) => {
  const written = [...key].map((character, index) => formsOf(character)[choices[index % choices.length] ?? 0])
  return written.join('')
})

function formsOf(character: string): readonly string[] {
  const plain = written(character)
  const digits = character.charCodeAt(0).toString(16).padStart(4, '0')
  return [plain, `\\u${digits}`, `\\u${digits.toUpperCase()}`, character === '/' ? '\\/' : plain]
}

const around = fc.string({ unit: 'grapheme' })

const written = (text: string) => JSON.stringify(text).slice(1, -1)

it.each<[string, (json: string) => string, (json: string) => string]>([
  ['a string of JSON', (json) => json, (json) => json],
  ['JSON that stands in a string of JSON', (json) => JSON.stringify({ error: json }), (json) => JSON.parse(json).error],
])('the key is redacted in %s, each of its characters escaped or not, and nothing else is', (_, quoted, unquoted) => {
  fc.assert(
    fc.property(anyKey, anyForm, around, around, (key, form, before, after) => {
      const titled = (middle: string) => `{"title":"${written(before)} ${middle} ${written(after)}"}`
      const rest = `${before} *** ${after}`
      fc.pre(![rest, titled('***'), quoted(titled('***'))].some((text) => text.includes(key)))
      const redacted = unquoted(keyRedaction(key)(quoted(titled(form(key)))))
      expect(JSON.parse(redacted)).toEqual({ title: rest })
    }),
    { numRuns: 1_000 },
  )
})

it.each([
  ['as it is', 'a.b"c/d=', 'a.b"c/d= axb"c/d= a.b"c/d=a.b"c/d=', '*** axb"c/d= ******'],
  [
    'behind letters that are no escape sequence',
    'abcdefgh12',
    String.raw`"xu005cabcdefgh12 \n"`,
    String.raw`"xu005c*** \n"`,
  ],
  ['as PHP writes it', 'a.b"c/d=', String.raw`"a.b\"c\/d="`, '"***"'],
  ['as .NET writes it', 'a.b"c/d=', String.raw`"a.b\u0022c/d\u003D"`, '"***"'],
  ['as Go writes it', 'a.b"c/d=', String.raw`"a.b\"c/d\u003d"`, '"***"'],
  ['as JSON within JSON has it', 'a.b"c/d=', String.raw`"a.b\\\"c\\/d\\u003d"`, '"***"'],
  ['as .NET quotes what PHP wrote', 'a.b"c/d=', String.raw`"a.b\\\u0022c\\\\\/d\\u003D"`, '"***"'],
  ['together with the backslash that would make JSON of it invalid', 'nabcdefg', String.raw`"\nabcdefg"`, '"***"'],
  [
    'so that JSON stays valid if the key ends with a backslash',
    'abcdefg\\',
    String.raw`["abcdefg\\","abcdefg\\\""]`,
    String.raw`["***","***\""]`,
  ],
  ['not at all if it is so short that other words contain it', 'status', '{"status":"PASSED"}', '{"status":"PASSED"}'],
  ['not at all if it is empty', '', 'text', 'text'],
])('the key is redacted %s', (_, key, text, redacted) => {
  expect(keyRedaction(key)(text)).toBe(redacted)
})

// An expression that looks again at each backslash from each backslash before it never ends here.
it.each<[string, string, string]>([
  ['backslashes', 'sk_live_0123456789abcdef', '\\'],
  ['backslashes', `${'a'.repeat(511)}\\`, '\\'],
  ['backslashes', '\\\\\\\\\\\\\\\\x', '\\'],
  ['escaped backslashes', 'a+b/c=d\\e', '\\u005c'],
  ['the beginning of the key', 'sk_live_0123456789abcdef', 'sk_live_0123456789'],
  ['the beginning of the key in escape sequences', 'a+b/c=d\\e', '\\u0061\\u002B'],
])('16 MiB of %s are searched in one go (%#)', (_, key, part) => {
  const text = part.repeat((16 * 1024 * 1024) / part.length)
  expect(keyRedaction(key)(text) === text).toBe(true)
})

describe('the client', () => {
  const key = 'sk-live-0123456789'
  const escaped = String.raw`sk\u002Dlive-0123456789`

  /** What the client makes of the response to a start and to a poll, and its debug lines. */
  async function outcomesAt(origin: string): Promise<unknown[]> {
    const lines: string[] = []
    const debug = (line: Fragment) => void lines.push(render(line))
    const target = { kind: 'project', id: 'shop' } as const
    const address = { baseUrl: new URL(origin), apiKey: key, target, proxies: {} }
    const service = await openService(address, new FakeClock(), { debug })
    return [await service.get('r-1', patient()), await service.start({}, patient()), lines]
  }

  it('redacts the key in the message of a connection that fails', async () => {
    const reason = expect.stringContaining('***.invalid')
    expect((await outcomesAt(`https://${key}.invalid`))[0]).toMatchObject({ kind: 'not-sent', reason })
  })

  it('redacts the key in the message of a connection that breaks', async () => {
    const connections: Connections = {
      async request(_, _signal, onSent) {
        onSent()
        throw new Error(`the proxy has lost ${key}`)
      },
      renew() {},
    }
    const redact = keyRedaction(key)
    const baseUrl = new URL('https://tests.example.com')
    const settings = { baseUrl, apiKey: key, redact, userAgent: 'a-test/1', connections, clock: new FakeClock() }
    const request = { method: 'GET', path: ['v1'] } as const
    expect(await createSendJson(settings)(request, patient(), String)).toMatchObject({
      kind: 'no-response',
      reason: expect.stringContaining('the proxy has lost ***'),
    })
  })

  it('redacts the key before it truncates anything', async () => {
    const server = await recordingServer((response) => response.writeHead(500).end(`${'x'.repeat(490)}${key}`))
    expect((await outcomesAt(server.origin))[0]).toMatchObject({ body: `${'x'.repeat(490)}***` })
  })

  const FINISHED = { status: 'FAILED', finishedAt: '2026-03-01T10:03:04.000Z' }
  const testCases = [{ title: 'pays with KEY twice: KEY', status: 'KEY', durationMs: 1, KEY: ['KEY'] }]

  it.each<[number, Readonly<Record<string, string>>, string]>([
    [200, {}, JSON.stringify({ ...FINISHED, branchName: 'KEY', message: 'KEY', results: { testCases } })],
    [200, {}, JSON.stringify({ ...FINISHED, status: 'KEY', results: { KEY: { deep: [[{ KEY: 'KEY' }]] } } })],
    [200, {}, '{"runId":"KEY KEY"}'],
    [200, {}, '{"runId":["KEY"], "x":'],
    [200, {}, '"KEY'],
    [422, {}, '{"error":"a branch of KEY is needed"}'],
    [422, {}, '{"error":{"KEY":["KEY"]}}'],
    [502, {}, '<html>"KEY"</html>'],
    [200, { 'content-type': 'text/KEY' }, '{}'],
    [200, { 'content-encoding': 'KEY' }, 'KEY'],
    [302, { location: 'https://KEY/KEY' }, ''],
    [503, { 'retry-after': 'KEY' }, 'KEY'],
  ])('makes nothing that has the key of the response %i, %j, %s', async (status, headers, body) => {
    const ofKey = Object.entries(headers).map(([name, value]) => [name, value.replaceAll('KEY', key)])
    const server = await recordingServer((response) => {
      // The reason phrase is the key too.
      response.writeHead(status, key, { 'content-type': 'application/json', ...Object.fromEntries(ofKey) })
      response.end(body.replaceAll('KEY', escaped))
    })
    const outcomes = JSON.stringify(await outcomesAt(server.origin))
    expect(outcomes.includes('***')).toBe(/KEY/.test(body + headers['content-type']))
    for (const form of [key, escaped, written(escaped)]) expect(outcomes).not.toContain(form)
  })
})

const key = 'sk_live_0123456789abcdef'

it('a message with the key in it shows no key in any report, whatever the reports remove from the message', () => {
  // If a sequence is removed from the middle of another one, what is left is a sequence too.
  const removed = ['\u001b[31m', '\u001b\u001b[0m[0m', '\u001b]0;t\u0007', '\u001b', '\u009b1m', '\u200b', '\0', '\r']
  const part = fc.tuple(fc.nat(key.length), fc.array(fc.constantFrom(...removed), { minLength: 1, maxLength: 3 }))
  fc.assert(
    fc.property(fc.array(part, { maxLength: 3 }), (parts) => {
      let message = key
      for (const [at, texts] of parts) message = message.slice(0, at) + texts.join('') + message.slice(at)
      const json = {
        status: 'FAILED',
        finishedAt: '2026-03-01T10:03:04.000Z',
        message,
        results: { testCases: [{ title: 'pays', status: 'FAILED', message }] },
      }
      const redact = keyRedaction(key)
      const run = decodeRun(json, '', redact)
      const outcome = anOutcome({ run })
      const reports = [
        render(verdictSentences(outcome)),
        render(jobSummary(outcome, 0)),
        junit(outcome).toString(),
        ctrf(outcome),
      ]
      for (const report of reports) expect(report).not.toContain(key)
    }),
  )
})
