import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import type { TestCase } from './run.ts'

/** Which tests of a project are meant; nothing said means all. */
export interface Selection {
  /** Names of test-framework projects. */
  readonly frameworkProjects: readonly string[]
  /** Parts of test files' paths. */
  readonly files: readonly string[]
  /** A regular expression for titles. */
  readonly titles?: string
}

/** Where a test framework leaves what it writes. */
export interface ReportPlace {
  readonly reportFile: string
  /** For what else the framework writes while it runs. */
  readonly outputFolder: string
}

/** A test framework: how it is found, called and read. */
export interface Framework {
  readonly name: 'vitest' | 'playwright'
  /** The npm package whose command is called. */
  readonly packageName: string
  /** Which files in a project's folder say that it uses this framework. */
  readonly configFile: RegExp
  arguments(selection: Selection, place: ReportPlace): string[]
  env(place: ReportPlace): Record<string, string>
  /** The test cases of a report, one for each test; undefined where this is no such report. */
  readReport(report: unknown, folder: string): TestCase[] | undefined
}

/** The command of an npm package as Node would find it from a folder; undefined where it is not installed. */
export function findInstalledCommand(packageName: string, folder: string): string[] | undefined {
  for (let at = folder; ; at = dirname(at)) {
    const home = join(at, 'node_modules', packageName)
    const manifestFile = join(home, 'package.json')
    if (existsSync(manifestFile)) {
      const { bin } = JSON.parse(readFileSync(manifestFile, 'utf8'))
      const script: unknown = typeof bin === 'string' ? bin : Object.values(bin ?? {})[0]
      return typeof script === 'string' ? [process.execPath, join(home, script)] : undefined
    }
    if (at === dirname(at)) return undefined
  }
}

/** A title with the path of describe blocks that leads to it. */
export function titleOf(path: readonly (string | undefined)[]): string {
  return path.filter((part) => part !== undefined && part !== '').join(' > ')
}

/** A test case for a file whose tests could not even be loaded, so that the reason for a failed run is in its results. */
export function brokenFile(file: string, folder: string): TestCase {
  return { title: relative(folder, file), status: 'FAILED', durationMs: 0 }
}

export interface LocatedCase extends TestCase {
  /** What tells it from a test of the same title, the broadest first, for example framework project and file. */
  readonly where: readonly string[]
}

/** Titles as they are, but where two tests share one: there, what tells the two apart comes before it. */
export function tellApart(located: readonly LocatedCase[]): TestCase[] {
  const sameTitle = Map.groupBy(located, (testCase) => testCase.title)
  return located.map(({ where, ...testCase }) => {
    const rivals = sameTitle.get(testCase.title) ?? []
    const telling = where.filter((_, level) => new Set(rivals.map((rival) => rival.where[level])).size > 1)
    return telling.length === 0 ? testCase : { ...testCase, title: titleOf([...telling, testCase.title]) }
  })
}

export function wholeMs(durationMs: unknown): number {
  return typeof durationMs === 'number' && durationMs > 0 ? Math.round(durationMs) : 0
}

/** What should be a text; `String()` would throw for some objects that JSON can hold. */
export function textIn(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** The objects of what should be a list: reports are files that anything may have written. */
export function objectsIn(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
