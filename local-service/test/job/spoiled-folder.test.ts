import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { until } from '../../../test/support/until.ts'
import { ON_LINUX, PASSING_SCRIPT, processesOf, SCRIPTED, serviceFolder, test } from '../support/a-job.ts'

// Tests run as the user of the job. So they can replace the files through which main, the service and post know of each other.

const FAILING = `${PASSING_SCRIPT.replace('passed', 'failed')}; exit 1`

/** The file is written once, and then linked, so that the disk needs room for one file. */
function makeLargeFile(path: string): void {
  const large = join(path, '../large')
  if (!existsSync(large)) {
    const lines = Buffer.alloc(2 ** 20, '\n')
    for (let written = 0; written < 400; written += 1) appendFileSync(large, lines)
  }
  linkSync(large, path)
}

function makeFolder(path: string): void {
  mkdirSync(path)
  writeFileSync(join(path, 'a'), '')
}

const makePipe = (path: string) => execFileSync('mkfifo', [path])

// local-service/test/machine/files.test.ts tests which files are read.
const SPOILED: [string, (path: string) => void][] = [
  ['a named pipe', makePipe],
  ['400 MB of line breaks', makeLargeFile],
  ['JSON of another type', (path) => writeFileSync(path, '{ "output": { "toString": 0 } }\n')],
  ['a folder', makeFolder],
]

/** Replaces a file at once, so that nobody finds it missing. A folder is removed first, and also what a folder replaces. */
function spoil(path: string, make: (path: string) => void): void {
  make(`${path}.new`)
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory()
  if (isFolder || make === makeFolder) rmSync(path, { recursive: true, force: true })
  renameSync(`${path}.new`, path)
}

describe.skipIf(!ON_LINUX).concurrent('post ends and stops the service', () => {
  test.for(SPOILED)('if every file of the folder is %s', async ([, make], { jobs }) => {
    const { step, main } = await jobs.whileScriptHangs()
    main.signal('SIGKILL')
    await main.result()
    const folder = serviceFolder(step)
    const names = new Set([...readdirSync(folder), 'finished-runs.jsonl', 'stopped.json'])
    names.delete('data')
    for (const name of names) spoil(join(folder, name), make)
    expect(await step.runPost()).toMatchObject({ conclusion: 'success' })
    await until(() => processesOf(step).length === 0)
    expect(readdirSync(step.tempDir).filter((name) => name.startsWith('test-run-service-'))).toEqual([])
  })
})

describe.skipIf(!ON_LINUX).concurrent('nothing waits for a named pipe', () => {
  test('in place of the output of a run: post shows the log of the service', async ({ jobs }) => {
    const { step, outputs } = await jobs.start(jobs.scripted(FAILING), { inputs: SCRIPTED })
    const { main } = await jobs.gate(step, outputs).run()
    spoil(join(outputs['output-dir'] ?? '', main.outputs['run-id'] ?? '', 'output.txt'), makePipe)
    const post = await step.runPost()
    expect(post).toMatchObject({ conclusion: 'success' })
    expect(post.log).toContainEqual('##[group]Log of the local service')
    expect(processesOf(step)).toEqual([])
  })

  test('in place of the list of the finished runs: a run ends with its own verdict', async ({ jobs }) => {
    const { step, outputs } = await jobs.start(jobs.scripted(FAILING), { inputs: SCRIPTED })
    spoil(join(serviceFolder(step), 'finished-runs.jsonl'), makePipe)
    const { main } = await jobs.gate(step, outputs).run()
    expect(main.outputs).toMatchObject({ conclusion: 'failed', failed: '1' })
    expect(await step.runPost()).toMatchObject({ conclusion: 'success' })
    expect(processesOf(step)).toEqual([])
  })
})
