import { Ajv } from 'ajv'
import { schema } from 'ctrf'
import fc from 'fast-check'
import { XMLParser, XMLValidator } from 'fast-xml-parser'
import { describe, expect, it } from 'vitest'
import { isOutcomeWithRun, type OutcomeWithRun, type StepOutcome } from '../../src/model/outcome.ts'
import { annotations } from '../../src/report/annotations.ts'
import { commentBody } from '../../src/report/comment-body.ts'
import { ctrf } from '../../src/report/ctrf.ts'
import { endingText, verdictSentences } from '../../src/report/ending.ts'
import { fileEntries } from '../../src/report/file-entries.ts'
import { jobSummary } from '../../src/report/job-summary.ts'
import { junit } from '../../src/report/junit.ts'
import { commandProperty, render, safeJson } from '../../src/text/safe-text.ts'
import { untrusted } from '../../src/text/untrusted.ts'
import { oneLine } from '../../src/text/visible-text.ts'
import { randomRuns } from '../setup/seed.ts'
import { anyStep, SOURCE_URL } from '../support/hostile-step.ts'
import { hostileText } from '../support/hostile-text.ts'
import { type RenderedPage, renderedPage, unbalancedTags } from '../support/rendered-page.ts'

// These tests generate any text in any place of any step.

/** No words of ours contain it. */
const MARK = 'zqx'
/** Texts by which the tests see where a page has them. */
const marked = hostileText().map((text) => `${text}${MARK}`)

function everyOutput(outcome: StepOutcome): Record<string, string> {
  return {
    sentence: render(verdictSentences(outcome)),
    annotations: annotations(outcome)
      .map(({ message, file }) => `${render(message)}\nfile=${file ? commandProperty(file) : ''}`)
      .join('\n'),
    summary: render(jobSummary(outcome, 0)),
    comment: render(commentBody(outcome)),
    ...(isOutcomeWithRun(outcome) ? filesOf(outcome) : {}),
  }
}

function filesOf(outcome: OutcomeWithRun): Record<string, string> {
  return {
    'results.json': safeJson(outcome.run.responseText ?? untrusted('null')),
    'junit.xml': junit(outcome).toString(),
    'ctrf.json': ctrf(outcome),
  }
}

function always(holds: (outcome: StepOutcome) => void, texts = hostileText(), runs = randomRuns(100)): void {
  fc.assert(fc.property(anyStep(texts), holds), runs)
}

const OUR_TAGS = [
  ...['a', 'b', 'br', 'code', 'details', 'h2', 'h3', 'li', 'p', 'pre', 'summary'],
  ...['table', 'tbody', 'td', 'th', 'tr', 'ul'],
]
const OUR_ATTRIBUTES = ['align', 'href', 'lang', 'nowrap', 'open']

describe('whatever text is in a step', () => {
  it('no output contains a workflow command, a terminal escape, an invisible character or an override', () => {
    always((outcome) => {
      for (const [name, output] of Object.entries(everyOutput(outcome))) {
        expect(output, name).not.toContain('##[')
        expect(output, name).not.toMatch(/^\s*::/m)
        expect(output, name).not.toMatch(
          /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]|\u034f|[\u115f\u180e\u3164\ufffe\uffff]/u,
        )
        expect(output, name).not.toContain('value of an override')
      }
    })
  })

  it('each sentence is one line, and its title does not contain the text', () => {
    always((outcome) => {
      expect(render(verdictSentences(outcome))).not.toMatch(/[\n\r\u2028\u2029]/)
      expect(render(endingText(outcome).title)).not.toContain(MARK)
    }, marked)
  })

  it('the pages contain only our own tags and words, and the text is only in <code> and <pre>', () => {
    always((outcome) => {
      for (const page of pagesOf(outcome)) {
        const rendered = renderedPage(page)
        expect(withoutPlaces(rendered)).not.toContain(MARK)
        for (const { tagName, attrs, childNodes } of rendered.elements) {
          expect(OUR_TAGS).toContain(tagName)
          for (const { name } of attrs) expect(OUR_ATTRIBUTES).toContain(name)
          if (tagName !== 'code' && tagName !== 'pre') continue
          for (const { nodeName } of childNodes) expect(nodeName).toBe('#text')
        }
      }
    }, marked)
  })

  it('each link leads to a page that the action names, or to the file of a test case', () => {
    always((outcome) => {
      const { job, sourceUrl } = outcome.subject
      const files = new Set(outcome.run?.testCases?.map(({ filePath }) => String(oneLine(filePath ?? ''))))
      for (const href of pagesOf(outcome).flatMap((page) => linksIn(renderedPage(page)))) {
        if (href === job?.url || href === outcome.runUrl) continue
        const [path = '', ...anchor] = href.slice(`${sourceUrl}/`.length).split('#')
        expect(href.startsWith(`${sourceUrl}/`)).toBe(true)
        expect(path).not.toMatch(/["<>\s]/)
        expect(anchor.join('#')).toMatch(/^(L\d+)?$/)
        expect(files).toContain(path.split('/').map(decodeURIComponent).join('/'))
      }
    })
  })

  it('the tags are balanced, and every other line but a plain headline begins with a block-level tag', () => {
    always((outcome) => {
      for (const page of pagesOf(outcome)) {
        expect(unbalancedTags(page)).toEqual([])
        for (const line of page.trimEnd().split('\n')) {
          expect(line).toMatch(
            /^(<\/?(p|h2|h3|table|tr|details|pre|ul|li)\b|## [^<>@#*_`[\]]*( · <code>[A-Za-z0-9 ,-]+<\/code>)*$)/u,
          )
        }
      }
    })
  })

  it('junit.xml is well-formed, names each case of a class differently, and its totals agree with its cases', () => {
    always((outcome) => {
      if (!isOutcomeWithRun(outcome)) return
      const xml = junit(outcome).toString()
      expect(XMLValidator.validate(xml)).toBe(true)
      // https://www.w3.org/TR/xml/#charsets
      expect(xml).not.toMatch(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u)
      const parser = new XMLParser({ ignoreAttributes: false, isArray: (name) => name === 'testcase' })
      const { testsuites } = parser.parse(xml)
      const cases: Record<string, unknown>[] = testsuites.testsuite.testcase ?? []
      expect(cases.length).toBe(fileEntries(outcome).length)
      const count = (kind: string) => String(cases.filter((testCase) => kind in testCase).length)
      const totals = {
        '@_tests': String(cases.length),
        '@_failures': count('failure'),
        '@_errors': count('error'),
        '@_skipped': count('skipped'),
      }
      for (const level of [testsuites, testsuites.testsuite]) expect(level).toMatchObject(totals)
      const names = cases.map((testCase) => `${testCase['@_classname']}\n${testCase['@_name']}`)
      expect(new Set(names).size).toBe(cases.length)
    })
  })

  it('ctrf.json is valid, and its summary agrees with its tests', () => {
    const isValid = new Ajv({ validateFormats: false }).compile(schema)
    always((outcome) => {
      if (!isOutcomeWithRun(outcome)) return
      const report = JSON.parse(ctrf(outcome))
      isValid(report)
      expect(isValid.errors).toBeNull()
      const { tests, summary }: { tests: { status: string }[]; summary: object } = report.results
      expect(tests.length).toBe(fileEntries(outcome).length)
      const count = (status: string) => tests.filter((test) => test.status === status).length
      const [passed, failed, skipped, other] = ['passed', 'failed', 'skipped', 'other'].map(count)
      expect(summary).toMatchObject({ tests: tests.length, passed, failed, skipped, other, pending: 0 })
    })
  })
})

function linksIn({ elements }: RenderedPage): readonly string[] {
  return elements.filter(({ tagName }) => tagName === 'a').flatMap(({ attrs }) => attrs.map(({ value }) => value))
}

/** The links to places have the generated text, and the next test is about them. */
function withoutPlaces({ skeleton }: RenderedPage): string {
  return skeleton.replaceAll(new RegExp(`"${SOURCE_URL}/[^"]*"`, 'g'), '"…"')
}

function pagesOf(outcome: StepOutcome): string[] {
  const { summary = '', comment = '' } = everyOutput(outcome)
  return [summary, comment]
}
