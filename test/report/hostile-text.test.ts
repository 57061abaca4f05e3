import { Ajv } from 'ajv'
import { schema } from 'ctrf'
import fc from 'fast-check'
import { XMLParser, XMLValidator } from 'fast-xml-parser'
import { describe, expect, it } from 'vitest'
import type { Failure } from '../../src/outcome/failure.ts'
import type { Run } from '../../src/outcome/run.ts'
import type { StepResult } from '../../src/outcome/step-result.ts'
import {
  failureWithoutKey,
  keyRedaction,
  type Redact,
  resultWithoutKey,
  runWithoutKey,
} from '../../src/outcome/without-key.ts'
import { annotations } from '../../src/report/annotations.ts'
import { commentBody } from '../../src/report/comment-body.ts'
import { ctrf } from '../../src/report/ctrf.ts'
import { fullSummary, jobSummary } from '../../src/report/job-summary.ts'
import { junit } from '../../src/report/junit.ts'
import { resultsJson } from '../../src/report/results-json.ts'
import { render } from '../../src/report/safe-text.ts'
import { verdictSentence, verdictTitle } from '../../src/report/verdict-sentence.ts'
import { anyStep } from '../support/hostile-step.ts'
import { apiKey, hostileText } from '../support/hostile-text.ts'
import { renderedPage, unbalancedTags } from '../support/rendered-page.ts'

// Whatever text stands in whatever place of whatever step: 10,000 titles a property, and fewer where pages are
// rendered, which takes its time (job-summary.test.ts renders 10,000 titles too).
const RUNS = { numRuns: 800 }
const RENDERED_RUNS = { numRuns: 200 }
const JOB_URL = 'https://github.com/o/r/actions/runs/1/job/2'
const MARKER = '<!-- test-run-action 0 run 1 attempt 1 -->'

const asDrawn = (text: string) => text
const tamed = () => 'tame'

const written = (chunks: Iterable<string>) => [...chunks].join('')

/** Every way out, in the form in which it leaves. */
function everyOutput(given: StepResult, key: string, matrix: string): Record<string, string> {
  const redact = keyRedaction(key)
  const result = resultWithoutKey(asTheServiceSaysIt(given, redact), redact)
  return {
    sentence: render(verdictSentence(result)),
    annotations: annotations(result, true)
      .map(({ message }) => render(message))
      .join('\n'),
    summary: render(jobSummary(result, { alreadyBytes: 0 })),
    comment: render(
      commentBody(result, {
        redact,
        marker: MARKER,
        matrix,
        hasSummary: true,
        job: { name: matrix, url: JOB_URL },
        key: matrix,
      }),
    ),
    'summary.md': written(fullSummary(result)),
    'results.json': written(resultsJson(result, redact)),
    'junit.xml': written(junit(result)),
    'ctrf.json': written(ctrf(result)),
  }
}

/** The step with the runs and failures that the service told of it as they come from `keyFree`. */
function asTheServiceSaysIt(result: StepResult, redact: Redact): StepResult {
  const mended = (value: unknown, name = ''): unknown => {
    if (name === 'run') return value && runWithoutKey(value as Run, redact)
    if (name === 'failure') return value && failureWithoutKey(value as Failure, redact)
    if (name !== 'ending' && name !== 'cancellation' && name !== '') return value
    return Object.fromEntries(Object.entries(value as object).map(([key, member]) => [key, mended(member, key)]))
  }
  return mended(result) as StepResult
}

describe('whatever text a step holds', () => {
  it('no output has a workflow command, a terminal escape or an invisible character in it', () => {
    fc.assert(
      fc.property(anyStep(hostileText()), hostileText(), (tell, matrix) => {
        for (const [name, output] of Object.entries(everyOutput(tell(asDrawn), '', JSON.stringify({ matrix })))) {
          expect(output, name).not.toContain('##[')
          expect(output, name).not.toMatch(/^\s*::/m)
          expect(output, name).not.toMatch(
            /(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]|\u034f|[\u115f\u180e\u3164\ufffe\uffff]/u,
          )
        }
      }),
      RUNS,
    )
  })

  it('each sentence is one line', () => {
    fc.assert(
      fc.property(anyStep(hostileText()), (tell) => {
        const result = tell(asDrawn)
        const lines = [verdictSentence(result), ...annotations(result, true).map(({ message }) => message)]
        for (const line of lines) expect(render(line)).not.toMatch(/[\n\r\u2028\u2029]/)
        expect(verdictTitle(result)).toBe(verdictTitle(tell(tamed)))
      }),
      RUNS,
    )
  })

  it('the pages are made of our own tags and words, and that text stands in <code> alone', () => {
    fc.assert(
      fc.property(anyStep(hostileText()), hostileText(), (tell, matrix) => {
        const hostile = pagesOf(tell(asDrawn), matrix)
        const tame = pagesOf(tell(tamed), matrix === '' ? '' : 'tame')
        for (const [index, page] of hostile.entries()) {
          const rendered = renderedPage(page)
          expect(rendered.skeleton).toBe(renderedPage(tame[index] ?? '').skeleton)
          for (const { childNodes } of rendered.elements.filter(({ tagName }) => tagName === 'code')) {
            for (const { nodeName } of childNodes) expect(['#text', 'wbr']).toContain(nodeName)
          }
        }
      }),
      RENDERED_RUNS,
    )
  })

  it('the pages have balanced tags, and every line but headline and marker begins with a block-level one', () => {
    fc.assert(
      fc.property(anyStep(hostileText()), hostileText(), (tell, matrix) => {
        for (const page of pagesOf(tell(asDrawn), matrix)) {
          expect(unbalancedTags(page)).toEqual([])
          for (const line of page.trimEnd().split('\n')) {
            expect(line).toMatch(/^(## \P{C}+$|<!-- [^<>]* -->$|<\/?(p|h3|table|tr|details)\b)/u)
          }
        }
      }),
      RUNS,
    )
  })

  it('junit.xml is well-formed, keeps the count of cases, and names each case differently', () => {
    fc.assert(
      fc.property(anyStep(hostileText()), (tell) => {
        const result = tell(asDrawn)
        const xml = written(junit(result))
        expect(XMLValidator.validate(xml)).toBe(true)
        // https://www.w3.org/TR/xml/#charsets
        expect(xml).not.toMatch(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u)
        const parser = new XMLParser({ ignoreAttributes: false, isArray: (name) => name === 'testcase' })
        const suite = parser.parse(xml).testsuites.testsuite
        const cases: Record<string, string>[] = suite.testcase ?? []
        const ours = cases.filter((testCase) => testCase['@_name']?.startsWith('The run itself')).length
        expect(cases.length - ours).toBe(result.run?.testCases?.length ?? 0)
        expect(Number(suite['@_tests'])).toBe(cases.length)
        expect(new Set(cases.map((testCase) => testCase['@_name'])).size).toBe(cases.length)
      }),
      RUNS,
    )
  })

  it('ctrf.json is valid and keeps the count of cases', () => {
    const isValid = new Ajv({ validateFormats: false }).compile(schema)
    fc.assert(
      fc.property(anyStep(hostileText()), (tell) => {
        const result = tell(asDrawn)
        const report = JSON.parse(written(ctrf(result)))
        isValid(report)
        expect(isValid.errors).toBeNull()
        expect(report.results.tests.length).toBe(result.run?.testCases?.length ?? 0)
        expect(report.results.summary.tests).toBe(report.results.tests.length)
      }),
      RUNS,
    )
  })

  it('results.json reads back as what the service sent', () => {
    fc.assert(
      fc.property(anyStep(hostileText()), (tell) => {
        const { run } = tell(asDrawn)
        const readBack = JSON.parse(written(resultsJson(tell(asDrawn), keyRedaction(''))))
        expect(readBack).toEqual(JSON.parse(JSON.stringify(run?.raw ?? null)))
      }),
      RUNS,
    )
  })

  it('the API key is in no report, neither as written nor as read', () => {
    const spiked = apiKey().chain((key) =>
      fc.tuple(fc.constant(key), anyStep(fc.tuple(hostileText(), hostileText()).map(([a, b]) => a + key + b))),
    )
    fc.assert(
      fc.property(spiked, ([key, tell]) => {
        for (const [name, report] of Object.entries(everyOutput(tell(asDrawn), key, JSON.stringify({ key })))) {
          expect(report.includes(key), name).toBe(false)
          expect(readers[name.split('.')[1] ?? 'md']?.(report).includes(key), name).toBe(false)
        }
      }),
      RENDERED_RUNS,
    )
  })

  it('no value of an environment override is in any output', () => {
    fc.assert(
      fc.property(anyStep(fc.constant('text')), (tell) => {
        for (const output of Object.values(everyOutput(tell(asDrawn), '', '{}'))) {
          expect(output).not.toContain('value of an override')
        }
      }),
    )
  })
})

function pagesOf(result: StepResult, matrix: string): string[] {
  const outputs = everyOutput(result, '', JSON.stringify({ os: matrix }))
  return [outputs.summary ?? '', outputs.comment ?? '', outputs['summary.md'] ?? '']
}

/** All text in a report, as its readers decode it. */
const readers: Readonly<Record<string, (report: string) => string>> = {
  md: (report) => renderedPage(report).text,
  json: (report) => stringsIn(JSON.parse(report)).join('\n'),
  xml: (report) => {
    const parser = new XMLParser({ ignoreAttributes: false, parseTagValue: false, trimValues: false })
    return stringsIn(parser.parse(report)).join('\n')
  },
}

function stringsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, member]) => [name, ...stringsIn(member)])
}
