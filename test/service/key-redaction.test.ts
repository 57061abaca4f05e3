import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { reportFiles } from '../../src/action/publish.ts'
import { performStep, type StepSettings } from '../../src/action/step.ts'
import { commentBody } from '../../src/report/comment-body.ts'
import { openService } from '../../src/service/client.ts'
import { keyRedaction } from '../../src/service/key-redaction.ts'
import { render } from '../../src/text/safe-text.ts'
import { randomRuns } from '../setup/seed.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { FakeWorld } from '../support/fake-world.ts'
import { anyForm, anyKey } from '../support/key-forms.ts'
import { recordingServer } from '../support/recording-server.ts'

const around = fc.string({ unit: 'grapheme' })

// What SECURITY.md promises.
it('the key is redacted as it is, whatever stands around it', () => {
  fc.assert(
    fc.property(anyKey, around, around, (key, before, after) => {
      fc.pre(!`${before}${after}***`.includes(key))
      const redacted = keyRedaction(key)(`${before} ${key} ${after}`)
      expect(redacted).toContain('***')
      expect(redacted).not.toContain(key)
    }),
    { numRuns: 300 },
  )
})

it('the key is redacted in a string of JSON, each of its characters escaped or not, and nothing else is', () => {
  fc.assert(
    fc.property(anyKey, anyForm, around, around, (key, form, before, after) => {
      const rest = `${before} *** ${after}`
      fc.pre(!rest.includes(key))
      const written = [before, after].map((text) => JSON.stringify(text).slice(1, -1))
      fc.pre(!written.join(' *** ').includes(key))
      const redacted = keyRedaction(key)(`{"title":"${written.join(` ${form(key)} `)}"}`)
      expect(JSON.parse(redacted)).toEqual({ title: rest })
    }),
    { numRuns: 1_000 },
  )
})

it.each([
  ['as it is', 'a.b"c/d= axb"c/d= a.b"c/d=a.b"c/d=', '*** axb"c/d= ******'],
  ['as PHP writes it', String.raw`"a.b\"c\/d="`, '"***"'],
  ['as .NET writes it', String.raw`"a.b\u0022c/d\u003D"`, '"***"'],
  ['as Go writes it', String.raw`"a.b\"c/d\u003d"`, '"***"'],
  [
    'only if a backslash in it begins an escape, and is not escaped itself',
    String.raw`"a.b\\u0022c/d="`,
    String.raw`"a.b\\u0022c/d="`,
  ],
  ['after its own beginning', 'a.b"c/da.b"c/d=', 'a.b"c/d***'],
])('the key is redacted %s', (_, text, redacted) => {
  expect(keyRedaction('a.b"c/d=')(text)).toBe(redacted)
})

it.each([
  ['a key without quotation marks', 'n/234567+', String.raw`"n\/234567\u002B"`, '"***"'],
  ['with an escaped letter only', 'n/234567+', String.raw`"\u006e/234567+"`, '"***"'],
  ['with an escaped slash only', 'n/234567+', String.raw`"n\/234567+"`, '"***"'],
])('the key is redacted in JSON: %s', (_, key, text, redacted) => {
  expect(keyRedaction(key)(text)).toBe(redacted)
})

it('the key is found also at the end of its own beginning, in every form', () => {
  const redact = keyRedaction('abababac')
  expect(redact('ababababac abababab')).toBe('ab*** abababab')
  expect(redact(String.raw`"ab\u0061b\u0061b\u0061bac"`)).toBe('"ab***"')
})

it('a key ends with a backslash, and the rest of the JSON stays valid', () => {
  const key = 'abcdefgh\\'
  expect(keyRedaction(key)(JSON.stringify([key, `${key}"`, `${key}\\`]))).toBe(JSON.stringify(['***', '***"', '***\\']))
})

it('a key is not looked for if it is so short that other words contain it', () => {
  expect(keyRedaction('status')('{"status":"PASSED"}')).toBe('{"status":"PASSED"}')
  expect(keyRedaction('')('text')).toBe('text')
})

describe('a step at a service that sends the key back', () => {
  const STEP: StepSettings = {
    subject: {
      target: { kind: 'project', id: 'shop' },
      ownsRun: true,
      parameters: { branch: 'main' },
      labels: [],
    },
    wait: true,
    waitLimitMs: 60_000,
    cancelOnAbort: true,
    passWithNoTests: false,
    strict: false,
    showOutput: false,
    runUrlOf: () => undefined,
    reports: { summary: 'always', annotations: true },
  }
  const testCases = [{ title: 'pays with KEY twice: KEY', status: 'FAILED', durationMs: 1, KEY: ['KEY'] }]
  const FINISHED = { finishedAt: '2026-03-01T10:03:04.000Z' }

  /** The responses to the start and to the poll. The key stands wherever they say KEY. */
  const RESPONSES: readonly (readonly [status: number, body: string])[][] = [
    { status: 'FAILED', branchName: 'KEY', results: { testCases } },
    { status: 'KEY', ...FINISHED, results: { KEY: { deep: [[{ KEY: 'KEY' }]] }, testCases } },
    { status: 'FAILED', results: { testCases: [{ title: 'a', status: 'KEY' }, ...testCases] } },
  ]
    .map((run): (readonly [number, string])[] => [
      [200, '{"runId":"r-1","KEY":1}'],
      [200, JSON.stringify(run)],
    ])
    .concat([
      [[200, '{"runId":"KEY KEY"}']],
      [[422, '{"error":"a branch of KEY is needed"}']],
      [[422, '{"error":{"KEY":["KEY"]}}']],
      [[502, '<html>"KEY"</html>']],
      [[200, '{"runId":["KEY"], "x":']],
      [[200, '"KEY']],
    ])

  /** Everything that the step shows or leaves behind. */
  async function outputsOf(origin: string, apiKey: string): Promise<string[]> {
    const clock = new FakeClock()
    const { target } = STEP.subject
    const service = await openService({ baseUrl: new URL(origin), apiKey, target, proxies: {} }, clock)
    const world = new FakeWorld(clock, service)
    const outcome = await performStep(STEP, world)
    const files = reportFiles(outcome).map(({ name, text }) => {
      if (name === 'results.json') expect(JSON.stringify(JSON.parse(String(text())))).not.toContain(apiKey)
      return String(text())
    })
    const comment = render(commentBody(outcome, { marker: '<!-- m -->', hasSummary: true }))
    return [...world.effects.map(({ text }) => text), ...files, comment]
  }

  it('shows it in no output, in whatever form it comes', async () => {
    let responses: readonly (readonly [status: number, body: string])[] = []
    let form = (key: string) => key
    let apiKey = ''
    let requests = 0
    const server = await recordingServer((response) => {
      const [status, body] = responses[Math.min(requests++, responses.length - 1)] ?? [500, '']
      response.writeHead(status, { 'content-type': 'application/json' }).end(body.replaceAll('KEY', () => form(apiKey)))
    })
    const key = fc.stringMatching(/^[!-~]{8,40}$/)
    await fc.assert(
      fc.asyncProperty(key, anyForm, fc.constantFrom(...RESPONSES), async (drawnKey, drawnForm, drawn) => {
        ;[apiKey, form, responses, requests] = [drawnKey, drawnForm, drawn, 0]
        const outputs = await outputsOf(server.origin, apiKey)
        expect(outputs.join('\n')).toContain('***')
        const inPages = apiKey.replace(/[&<>]/g, (character) => ({ '&': '&amp;', '<': '&lt;' })[character] ?? '&gt;')
        const shown = [apiKey, inPages, JSON.stringify(apiKey).slice(1, -1)]
        for (const text of outputs) for (const secret of shown) expect(text).not.toContain(secret)
      }),
      randomRuns(150),
    )
  })
})
