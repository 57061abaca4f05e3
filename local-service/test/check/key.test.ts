import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import fc from 'fast-check'
import { XMLParser } from 'fast-xml-parser'
import { describe, expect, it, onTestFinished } from 'vitest'
import { randomRuns } from '../../../test/setup/seed.ts'
import { anyForm, anyKey } from '../../../test/support/key-forms.ts'
import { createSend, type Exchange, type Request } from '../../src/check/exchange.ts'
import { excerptWithoutKey, similarKeys } from '../../src/check/key.ts'
import { type Format, render } from '../../src/check/report.ts'
import { judge } from '../../src/check/rules.ts'

const around = fc.string({ unit: 'grapheme', maxLength: 100 })
const isClean = (text: string, key: string) => {
  const { shorter, otherCase } = similarKeys(key)
  return [shorter, otherCase, encodeURIComponent(key).slice(0, -1)].every((secret) => !text.includes(secret))
}

describe('an excerpt', () => {
  it('has *** for the key in a string of JSON, each of its characters escaped or not, and keeps the rest', () => {
    fc.assert(
      fc.property(anyKey, anyForm, around, around, (key, form, before, after) => {
        const written = [before, after].map((text) => JSON.stringify(text).slice(1, -1))
        fc.pre([`${before} *** ${after}`, written.join(' *** ')].every((text) => isClean(text, key)))
        const excerpt = excerptWithoutKey(`{"title":"${written.join(` ${form(key)} `)}"}`, key, 5000)
        expect(JSON.parse(excerpt)).toEqual({ title: `${before} *** ${after}` })
      }),
      { numRuns: 1000 },
    )
  })

  it('has no part of the key, wherever it ends', () => {
    fc.assert(
      fc.property(anyKey, anyForm, fc.nat(200), fc.nat(20), (key, form, limitChars, count) => {
        fc.pre(isClean('. ***…', key))
        const text = `. ${form(key)}`.repeat(count)
        const excerpt = excerptWithoutKey(text, key, limitChars)
        expect(`${'. ***'.repeat(count)}…`.startsWith(excerpt.replace(/…$/, ''))).toBe(true)
        expect(excerpt.length).toBeLessThanOrEqual(limitChars + 1)
      }),
      { numRuns: 1000 },
    )
  })

  it.each([
    ['as it is', 'a.b"c/d= axb"c/d= a.b"c/d=a.b"c/d=', '*** axb"c/d= ******'],
    ['as PHP writes it', String.raw`"a.b\"c\/d="`, '"***"'],
    ['as .NET writes it', String.raw`"a.b\u0022c/d\u003D"`, '"***"'],
    ['percent-encoded', 'a.b%22c%2Fd%3D', '***'],
    ['in the other case', 'A.B"C/D=', '***'],
    ['without its end', 'a.b"c/d', '***'],
    ['only if a backslash in it begins an escape', String.raw`"a.b\\u0022c/d="`, String.raw`"a.b\\u0022c/d="`],
  ])('has *** for the key %s', (_case, text, excerpt) => {
    expect(excerptWithoutKey(text, 'a.b"c/d=', 500)).toBe(excerpt)
  })

  it('says that it is not the whole text', () => {
    expect(excerptWithoutKey('x'.repeat(501), 'a-key-for-checks', 500)).toBe(`${'x'.repeat(500)}…`)
    expect(excerptWithoutKey('x'.repeat(500), 'a-key-for-checks', 500)).toBe('x'.repeat(500))
    expect(excerptWithoutKey(`a-key-for-checks${'x'.repeat(2000)}`, 'a-key-for-checks', 500)).toMatch(/^\*{3}x+…$/)
  })
})

describe('a report about a service that sends the key back', () => {
  const REQUESTS: readonly Request[] = [
    { endpoint: 'start', method: 'POST', path: '/v1/projects/shop/runs', body: '{}' },
    { endpoint: 'read', method: 'GET', path: '/v1/projects/shop/runs/r', runId: 'r' },
    { endpoint: 'cancel', method: 'POST', path: '/v1/projects/shop/runs/cancel', body: '{}', runId: 'r' },
  ]
  /** Each status breaks a rule, so that the report shows the response. */
  const RESPONSES: readonly (readonly [status: number, body: string])[] = [
    [201, '{"runId":"KEY KEY","KEY":["KEY"]}'],
    [201, '{"status":"KEY","startedAt":"KEY","branchName":{"KEY":"KEY"},"results":"KEY"}'],
    [201, '{"status":"PASSED","results":{"testCases":[{"title":["KEY"],"status":"KEY","durationMs":"KEY"}]}}'],
    [201, '{"cancelled":["KEY",{"runId":"KEY"}]}'],
    [418, '{"error":{"KEY":"KEY"}}'],
    [500, `<html>"${'KEY'.repeat(300)}`],
    [201, '"KEY'],
    [302, ''],
  ]

  const FORMATS: readonly Format[] = ['text', 'json', 'junit']
  const STARTED: Exchange = {
    ...(REQUESTS[0] as Request),
    ...{ index: 0, atMs: 0, response: { status: 200, headers: {}, text: '', json: { runId: 'r' } } },
  }

  it('shows it in no format, in whatever form it comes', async () => {
    let respond: RequestListener = () => {}
    const server = createServer((request, response) => respond(request, response))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => {
      server.close()
      server.closeAllConnections()
    })
    const { port } = server.address() as AddressInfo
    const url = new URL(`http://127.0.0.1:${port}`)
    const key = fc.stringMatching(/^[!-~]{8,40}$/)
    await fc.assert(
      fc.asyncProperty(
        key,
        anyForm,
        fc.constantFrom(...REQUESTS),
        fc.constantFrom(...RESPONSES),
        async (key, form, request, [status, body]) => {
          respond = (_, response) => {
            const headers = { 'content-type': 'application/json', location: `/${key}`, 'retry-after': `${key} s` }
            response.writeHead(status, headers).end(body.replaceAll('KEY', () => form(key)))
          }
          const reply = await createSend({ url, key })(request, new AbortController().signal)
          const rules = judge({ exchanges: [STARTED, { ...request, ...reply, index: 1, atMs: 0 }], cancelMs: 0 })
          const facts = { url: url.href, project: 'shop', exitCode: 1, startedAtMs: 0, finishedAtMs: 0, left: [] }
          const texts = FORMATS.flatMap((format) => textsIn(format, render({ ...facts, rules }, format, key)))
          expect(texts.join('\n')).toContain('***')
          const secrets = [key, form(key), JSON.stringify(key).slice(1, -1), encodeURIComponent(key)]
          for (const secret of secrets) expect(texts.filter((text) => text.includes(secret))).toEqual([])
        },
      ),
      randomRuns(100),
    )
  })
})

/** The report itself, and every text in it as programs read it. */
function textsIn(format: Format, report: string): string[] {
  const texts = [report]
  const collect = (_: string, value: unknown) => (typeof value === 'string' ? texts.push(value) : value)
  if (format === 'json') JSON.parse(report, collect)
  if (format === 'junit') JSON.stringify(new XMLParser({ ignoreAttributes: false }).parse(report, true), collect)
  return texts
}
