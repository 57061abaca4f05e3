import type { TestCase } from '../outcome/run.ts'
import { casesWith, NOT_PASSED, slowestCases } from './cases-by-outcome.ts'
import { type Fragment, fragment, type Html, html } from './safe-text.ts'

const OPEN_ROWS = 100
const SLOWEST_SHOWN = 5

/** A table of the summary. */
export interface Section {
  readonly name: Fragment
  readonly isOpen: boolean
  readonly testCases: readonly TestCase[]
}

export interface Sections {
  /** Every test case, once. */
  readonly listed: readonly Section[]
  /** Test cases that are listed, seen from another side. */
  readonly excerpts: readonly Section[]
}

/** What did not pass stands open, as far as a page bears it; all else is folded. */
export function summarySections(testCases: readonly TestCase[]): Sections {
  const notPassed = casesWith(NOT_PASSED, testCases)
  const listed = [
    { name: fragment`Not passed`, isOpen: true, testCases: notPassed.slice(0, OPEN_ROWS) },
    folded(fragment`More that did not pass`, notPassed.slice(OPEN_ROWS)),
    folded(fragment`Flaky`, casesWith(['flaky'], testCases)),
    folded(fragment`Skipped`, casesWith(['skipped'], testCases)),
    folded(fragment`Passed`, casesWith(['passed'], testCases)),
  ]
  const excerpts = [folded(fragment`Slowest`, slowestCases(testCases, SLOWEST_SHOWN))]
  return { listed: listed.filter(hasCases), excerpts: excerpts.filter(hasCases) }
}

function folded(name: Fragment, testCases: readonly TestCase[]): Section {
  return { name, isOpen: false, testCases }
}

function hasCases(section: Section): boolean {
  return section.testCases.length > 0
}

export function sectionHead({ name, isOpen, testCases }: Section, shown: number): Html {
  if (isOpen) return html``
  const all = testCases.length
  const count = shown < all ? fragment`${all}, the first ${shown} shown` : fragment`${all}`
  return html`<details><summary>${name} (${count})</summary>\n`
}

export function sectionFoot({ isOpen }: Section): Html {
  return isOpen ? html`` : html`</details>\n`
}
