import { truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { JunitReports } from '../../src/frameworks/junit-reports.ts'
import { ResultReader } from '../../src/frameworks/reading.ts'
import { unusable } from '../../src/frameworks/unusable.ts'
import { folderWith, temporaryFolder } from '../support/a-local-service.ts'

const INPUT: JunitReports = {
  patterns: ['*.xml'],
  folders: { root: '/', folder: '/' },
  old: new Set(),
  end: { kind: 'no-command', output: '' },
  repositoryFiles: '',
}

/** A thread that does this with a message. */
function threadOf(body: string, limits: { seconds?: number; stoppedSeconds?: number; mebibytes?: number } = {}) {
  const thread = join(temporaryFolder(), 'thread.mjs')
  writeFileSync(
    thread,
    `import { parentPort } from 'node:worker_threads'
     parentPort.on('message', (request) => {
       parentPort.postMessage({ kind: 'file', file: 'a.xml' })
       ${body}
     })`,
  )
  const stop = new AbortController()
  const reading = new ResultReader(stop.signal, { thread, ...limits })
  onTestFinished(() => reading[Symbol.asyncDispose]())
  return { stop, read: () => reading.read('junit', INPUT) }
}

function writeTooManyCases(file: string): void {
  const end = { event: 'finished', tests: new Array(150_001).fill({}), files: [], errors: [] }
  writeFileSync(file, `${JSON.stringify(end)}\n`)
}

describe('a thread that reads what tests wrote', () => {
  it('gives what it has read, several times, also if its thread was not started before, or has ended unused', async () => {
    const folder = await folderWith({ 'a.xml': '<testsuite name="s"><testcase name="a"/></testsuite>' })
    const thread = new ResultReader(new AbortController().signal)
    const read = () => thread.read('junit', { ...INPUT, folders: { root: folder, folder } })
    thread.prepareThread()
    const readings = [await read(), await read()]
    thread.prepareThread()
    await thread[Symbol.asyncDispose]()
    readings.push(await read())
    const whole = { isComplete: true, testCases: [{ title: 's > a' }] }
    expect(readings).toMatchObject([whole, whole, whole])
  })

  it.each<[string, string, object, 'unusable' | 'over-limit', string]>([
    ['for ever', 'for (;;);', { seconds: 2 }, 'over-limit', 'takes longer than 2 s to read.'],
    [
      'more than its memory',
      'const all = []; for (;;) all.push(new Array(1000).fill(Math.random()))',
      { mebibytes: 16 },
      'over-limit',
      'takes more than 16 MiB of memory to read.',
    ],
    ['and fails', "parentPort.postMessage({ kind: 'error', why: 'no' })", {}, 'unusable', 'cannot be read: no.'],
    ['and ends', 'process.exit(0)', {}, 'unusable', 'cannot be read: its thread has ended.'],
  ])('that reads %s says so and names the file, also the second time', async (_, body, limits, kind, problem) => {
    const result = unusable(`The report "a.xml" ${problem}`, kind)
    const { read } = threadOf(body, limits)
    expect(await Promise.all([read(), read()])).toEqual([result, result])
  })

  it.each([
    ['too long', (file: string) => truncateSync(file, 2 ** 28 + 1), '/.* is larger than 256 MiB'],
    ['of too many test cases', writeTooManyCases, 'it has more than 150000 test cases'],
  ])('finds that a report of a reporter is %s, and names it', async (_, write, problem) => {
    const folder = await folderWith({ report: '' })
    const file = join(folder, 'report')
    write(file)
    await using thread = new ResultReader(new AbortController().signal)
    const reason = expect.stringMatching(`^The report "${file}" cannot be read: ${problem}\\.$`)
    const result = await thread.read('events', { file, folders: { root: folder, folder } })
    expect(result).toEqual(unusable(reason, 'over-limit'))
  })

  it('says in its own words what is wrong with a folder of blobs', async () => {
    await using thread = new ResultReader(new AbortController().signal)
    const input = {
      folder: await folderWith({}),
      merge: 'all',
      root: '/',
      copiesFolder: '/new',
      passesWithNoTests: false,
    }
    const reason = expect.stringMatching(/^The folder "all" has no blob report \(\*\.json\)\. Upload .*\.$/)
    expect(await thread.read('vitestBlobs', input)).toEqual(unusable(reason))
  })

  it('that cannot be started says so, also the second time', async () => {
    const reading = new ResultReader(new AbortController().signal, { thread: 'not-a-path' })
    reading.prepareThread()
    for (const _ of [1, 2]) {
      const reason = expect.stringMatching(/^The report cannot be read: The worker script or module filename must be/)
      expect(await reading.read('junit', INPUT)).toEqual(unusable(reason))
    }
  })

  it('ends if the run is stopped, and then reads for a shorter time what the run has so far', async () => {
    const { read, stop } = threadOf('for (;;);', { stoppedSeconds: 1 })
    const reading = read()
    setTimeout(() => stop.abort(), 100)
    expect(await reading).toEqual(unusable('The run was stopped.'))
    expect(await read()).toEqual(unusable('The report "a.xml" takes longer than 1 s to read.', 'over-limit'))
    const other = threadOf("parentPort.postMessage({ kind: 'result', result: 'so far' })")
    other.stop.abort()
    expect(await other.read()).toBe('so far')
  })
})
