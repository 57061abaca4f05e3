import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { importsOf, ROOT, sourceFiles } from '../../test/support/imports.ts'

// Compares the import lines with the sentences about the local service in CONTRIBUTING.md, and finds the test of each file.

const SOURCE = 'local-service/src/'
const TESTS = 'local-service/test/'
const FILES = sourceFiles('local-service/src')
const IMPORTS = new Map(FILES.map((file) => [file, importsOf(file)]))

/** A file imports only from its own room, and from the rooms after it. */
const ROOMS = [
  'entry',
  'http',
  'runs',
  'execution',
  'checkout',
  'settings',
  'frameworks',
  'reporters',
  'machine',
  'text',
]

/** The packages that a room loads. A type is not loaded. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  http: ['@hono/node-server', 'hono', 'hono/body-limit', 'hono/http-exception', 'valibot'],
  runs: ['hono/http-exception'],
  settings: ['valibot'],
  frameworks: ['htmlparser2', 'yauzl'],
}

/** The tests of the files that have no test with their path. */
const TESTED_BY: Readonly<Record<string, readonly string[]>> = {
  frameworks: ['frameworks/framework', 'frameworks/unusable'],
  'frameworks/discovery.test.ts': ['settings/project'],
  'frameworks/jest-runs.test.ts': ['frameworks/jest', 'reporters/jest-processor', 'reporters/jest-run'],
  'frameworks/junit-place.test.ts': ['frameworks/source-files'],
  'frameworks/junit.test.ts': [
    'frameworks/find-reports',
    'frameworks/junit-case',
    'frameworks/junit-reason',
    'frameworks/junit-xml',
  ],
  'frameworks/reading.test.ts': ['frameworks/reading-thread'],
  'frameworks/blob-folder.test.ts': ['frameworks/playwright-blobs', 'frameworks/shards', 'frameworks/vitest-blobs'],
  'frameworks/merged-runs.test.ts': ['frameworks/merge'],
  'frameworks/playwright-runs.test.ts': ['frameworks/playwright'],
  'frameworks/vitest-as-by-hand.test.ts': ['reporters/vitest-run'],
  'frameworks/vitest-runs.test.ts': ['frameworks/vitest'],
  'http/api.test.ts': ['runs/refusal'],
  interface: ['http/listen'],
  'interface/start-parameters.test.ts': ['http/response-bodies', 'runs/start'],
  job: ['action/main-step', 'action/post-step', 'action/service-process'],
  'life/auto-fix.test.ts': ['execution/fix'],
  'life/branches.test.ts': ['checkout/checkout', 'machine/git'],
  'life/containers.test.ts': ['machine/container', 'machine/program'],
  'life/deaths.test.ts': ['execution/resources', 'runs/recovery'],
  'life/run-states.test.ts': ['runs/run'],
  'life/test-environment.test.ts': ['execution/project-command'],
  'machine/command.test.ts': ['machine/processes'],
}

/** The room of a file of the local service, or of `src/text`. */
function roomOf(file: string): string {
  if (file.startsWith('src/text/') || file === `${SOURCE}text.ts`) return 'text'
  const [room = '', inner] = file.replace(SOURCE, '').split('/')
  return inner === undefined || room === 'action' ? 'entry' : room
}

const isFile = (imported: string) => imported.endsWith('.ts')

describe('the rooms', () => {
  it('are those of this list', () => {
    expect(new Set(FILES.map(roomOf))).toEqual(new Set(ROOMS))
  })

  it.each(ROOMS)('%s imports no room before it, also no type', (room) => {
    const allowed = ROOMS.slice(ROOMS.indexOf(room))
    const forbidden = FILES.filter((file) => roomOf(file) === room).flatMap((file) =>
      (IMPORTS.get(file) ?? [])
        .filter(({ of }) => isFile(of) && !allowed.includes(roomOf(of)))
        .map(({ of }) => `${file} imports ${of}`),
    )
    expect(forbidden).toEqual([])
  })

  it.each(ROOMS)('%s loads only its packages', (room) => {
    const loaded = FILES.filter((file) => roomOf(file) === room)
      .flatMap((file) => IMPORTS.get(file) ?? [])
      .filter(({ of, kind }) => kind !== 'type' && !isFile(of) && !of.startsWith('node:'))
    expect([...new Set(loaded.map(({ of }) => of))].toSorted()).toEqual(PACKAGES[room] ?? [])
  })

  it("has reporters that load only each other, because they run in the project's own Node", () => {
    const reporters = FILES.filter((file) => roomOf(file) === 'reporters')
    const loaded = reporters.flatMap((file) => IMPORTS.get(file) ?? []).filter(({ kind }) => kind !== 'type')
    expect(loaded.filter(({ of }) => !of.startsWith('node:') && roomOf(of) !== 'reporters')).toEqual([])
  })
})

describe('the tests', () => {
  /** The tests that need the service over HTTP, or the built action. */
  const OF_THE_WHOLE = ['interface', 'life', 'frameworks', 'job']

  it('have the path of the file that they test, or are in the list', () => {
    const withoutTest = FILES.filter((file) => !existsSync(join(ROOT, testOf(file))))
    const listed = Object.values(TESTED_BY).flatMap((names) => names.map((name) => `${SOURCE}${name}.ts`))
    expect(withoutTest.toSorted()).toEqual(listed.toSorted())
    expect(Object.keys(TESTED_BY).filter((test) => !existsSync(join(ROOT, TESTS, test)))).toEqual([])
  })

  it('test a file of their path, unless they test the whole service', () => {
    const others = sourceFiles('local-service/test')
      .filter((file) => file.endsWith('.test.ts') && !FILES.map(testOf).includes(file))
      .map((file) => file.replace(TESTS, ''))
      .filter((file) => !OF_THE_WHOLE.includes(file.split('/')[0] ?? ''))
    expect(others.toSorted()).toEqual(['architecture.test.ts'])
  })

  function testOf(file: string): string {
    return file.replace(SOURCE, TESTS).replace(/\.ts$/, '.test.ts')
  }
})
