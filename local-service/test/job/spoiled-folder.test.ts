import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect } from 'vitest'
import { until } from '../../../test/support/until.ts'
import type { Step } from '../../../tools/runner-emulator/step-runner/runner.ts'
import { finishRun, queueRun } from '../../src/runs/run.ts'
import { openRunStore } from '../../src/runs/store.ts'
import {
  ON_LINUX,
  PASSING_SCRIPT,
  processesOf,
  SCRIPTED,
  serviceFolder,
  serviceProcess,
  test,
} from '../support/a-job.ts'

// Tests run as the user of the job. So they can replace the files that the service writes and post reads.

const FAILING = `${PASSING_SCRIPT.replace('PASSED', 'FAILED')}; exit 1`

/** Puts a named pipe in place of a file at once, so that nobody finds the file missing. */
function makePipe(path: string): void {
  execFileSync('mkfifo', [`${path}.new`])
  renameSync(`${path}.new`, path)
}

/** The service has opened its files, and does not notice that they are replaced. */
function replaceStore(step: Step, forged: string): void {
  const data = join(serviceFolder(step), 'service/data')
  // Only the tests of a run can replace it.
  mkdirSync(join(data, 'runs'), { recursive: true })
  for (const name of ['runs.sqlite-wal', 'runs.sqlite-shm']) rmSync(join(data, name), { force: true })
  renameSync(join(forged, 'runs.sqlite'), join(data, 'runs.sqlite'))
}

// local-service/test/machine/files.test.ts tests which files are read.
test.skipIf(!ON_LINUX)('neither the service nor post waits for a named pipe in place of a file', async ({ jobs }) => {
  const { step, main } = await jobs.whileScriptHangs()
  main.signal('SIGKILL')
  await main.result()
  const folder = serviceFolder(step)
  const beside = ['', '-journal', '-wal', '-shm'].map((end) => `data/runs.sqlite${end}`)
  for (const name of ['log', 'runs-at-end.json', ...beside]) makePipe(join(folder, 'service', name))
  // The service ends by itself. Otherwise, post would warn.
  expect(await step.runPost()).toMatchObject({ conclusion: 'success', annotations: [] })
  await until(() => processesOf(step).length === 0)
  expect(readdirSync(folder)).toEqual(['output'])
})

test.skipIf(!ON_LINUX)(
  'of a forged store, post prints a limited part, and nothing outside the folder',
  async ({ jobs }) => {
    const { step, outputs } = await jobs.start(jobs.scripted(FAILING), { inputs: SCRIPTED })
    const outputDir = outputs['output-dir'] ?? ''
    const large = join(outputDir, 'large')
    writeFileSync(large, `${'x'.repeat(2 ** 14 - 1)}\n`.repeat(2 ** 8))
    const forged = jobs.folder()
    const store = openRunStore(forged)
    for (let made = 0; made < 7; made += 1) {
      const run = queueRun({ projectId: '##[error]injected' })
      finishRun(run, { status: 'FAILED', testCases: [] })
      // The first id leads out of the folder.
      store.save(made === 0 ? { ...run, runId: '../../outside' } : run)
      mkdirSync(join(outputDir, run.runId))
      linkSync(large, join(outputDir, run.runId, 'output.txt'))
    }
    store.close()
    mkdirSync(join(step.tempDir, 'outside'))
    writeFileSync(join(step.tempDir, 'outside/output.txt'), 'outside')
    replaceStore(step, forged)
    // A service that ends by itself does not read the store. If it was killed, post believes no list of runs.
    const nothing = { finished: [], isClean: true, hadProblem: false }
    writeFileSync(join(serviceFolder(step), 'service/runs-at-end.json'), JSON.stringify(nothing))
    process.kill(serviceProcess(step), 'SIGKILL')
    await until(() => serviceProcess(step) === 0)
    const post = await step.runPost()
    expect(post.conclusion).toBe('success')
    expect(post.log.join('\n')).not.toContain('outside')
    expect(post.log.filter((line) => line.startsWith('xxx'))).toHaveLength(4 * 2 ** 8)
    expect(post.log.filter((line) => line.startsWith('##[group]Output'))).toHaveLength(6)
  },
)

describe.skipIf(!ON_LINUX).concurrent('the clean-up after tests that replaced the store and killed the service', () => {
  test('runs no program of theirs, removes no foreign folder, and has no token of the runner', async ({ jobs }) => {
    const foreign = jobs.folder()
    const write = (name: string, text = '', mode = 0o644) => writeFileSync(join(foreign, name), text, { mode })
    write('program', `#!/bin/sh\nenv > ${foreign}/ran\n`, 0o755)
    write('docker', `#!/bin/sh\necho "$@" >> ${foreign}/called\nenv >> ${foreign}/environment\n`, 0o755)
    const path = `${foreign}:${process.env.PATH}`
    const env = { PATH: path, ACTIONS_RUNTIME_TOKEN: 'token-of-the-runner', TEST_RUN_SERVICE_KEY: 'key-of-the-job' }
    const { step, main } = await jobs.whileScriptHangs({ env })
    main.signal('SIGKILL')
    await main.result()

    const forged = jobs.folder()
    const store = openRunStore(forged)
    store.close()
    const database = new DatabaseSync(join(forged, 'runs.sqlite'))
    const insert = database.prepare('insert into runs (run_id, is_finished, run, resources) values (?, 0, ?, ?)')
    const phase = { status: 'RUNNING', startedAt: 'now' }
    const forge = ({ runId = String(randomUUID()), ...resources }: Readonly<Record<string, unknown>>) => {
      insert.run(String(runId), JSON.stringify({ runId, projectId: 'shop', phase }), JSON.stringify(resources))
      return runId
    }
    // Folders and a program.
    const names = ['folder', 'temporaryFolder']
    const folders = names.map((name) => [name, join(foreign, name)] as const)
    forge({ ...Object.fromEntries(folders), engine: [join(foreign, 'program')] })
    // An id that leads out of the folder.
    forge({ runId: `../../../../${foreign}/named` })
    // A folder of the service that is a link.
    const ofLink = forge({ engine: ['docker'] })
    database.close()
    const kept = [...names, 'named', `linked/${ofLink}`].map((name) => join(foreign, name))
    for (const folder of kept) {
      mkdirSync(folder, { recursive: true })
      writeFileSync(join(folder, 'file'), '')
    }
    replaceStore(step, forged)
    process.kill(serviceProcess(step), 'SIGKILL')
    await until(() => serviceProcess(step) === 0)
    const data = join(serviceFolder(step), 'service/data')
    renameSync(join(data, 'runs'), join(data, 'moved'))
    symlinkSync(join(foreign, 'linked'), join(data, 'runs'))

    const post = await step.runPost()
    expect(post.conclusion).toBe('success')
    expect(existsSync(join(foreign, 'ran'))).toBe(false)
    expect(kept.filter((folder) => !existsSync(join(folder, 'file')))).toEqual([])
    expect(readFileSync(join(foreign, 'called'), 'utf8')).toContain(`label=test-run-service.run=${ofLink}`)
    expect(readFileSync(join(foreign, 'environment'), 'utf8')).not.toMatch(/token-of-the-runner|key-of-the-job/)
  })
})
