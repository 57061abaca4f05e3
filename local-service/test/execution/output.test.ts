import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { aRepository } from '../../../test/support/git-repository.ts'
import { executeRun } from '../../src/execution/execute.ts'
import { RunOutput } from '../../src/execution/output.ts'
import { runContextIn, type StartedService, startService, temporaryFolder } from '../support/a-local-service.ts'

const REPORT = '{"event":"finished","tests":[{"path":["passes"],"state":"passed"}]}'
const REPORTING = `echo '${REPORT}' > "$LOCAL_SERVICE_REPORT_FILE"`
/** What each of these runs in place says, in its log and in its output. */
const REPLACES = 'the service replaces the reporters of the project, because the project has a "command"'

/** A project whose framework is a shell that writes its report and runs this script. */
function scripted(folder: string, script: string) {
  return { folder, framework: 'vitest', command: ['sh', '-c', `${REPORTING}; ${script}`, 'sh'] } as const
}

async function runScript(script: string, limitBytes?: number) {
  const folder = temporaryFolder()
  const log: string[] = []
  const outputs = join(folder, 'outputs')
  const output = new RunOutput(outputs, (text) => log.push(text), limitBytes)
  const run = runContextIn(folder, { output, log: (text) => log.push(text) }, scripted(folder, script))
  const outcome = await executeRun(run, new AbortController().signal)
  return { status: outcome.status, log, read: () => readFileSync(join(outputs, 'output.txt'), 'utf8') }
}

describe('the output of a run', () => {
  it('is whole, also if it is long, passed, and on both streams', async () => {
    const { status, log, read } = await runScript('seq 200000; echo last >&2')
    expect([status, log]).toEqual(['PASSED', [REPLACES]])
    const lines = read().split('\n')
    expect(lines.filter((line) => /^\d+$/.test(line)).map(Number)).toEqual(
      Array.from({ length: 200_000 }, (_, i) => i + 1),
    )
    expect(lines).toContain('last')
  })

  it('is cut at the limit, and the log says so once', async () => {
    const { status, log, read } = await runScript(
      'echo 123456789; sleep 0.2; seq 100000; sleep 0.2; echo later',
      2 ** 19,
    )
    expect(status).toBe('PASSED')
    expect(log).toEqual([REPLACES, 'wrote more than 0.5 MiB; its output is cut there'])
    const [kept = '', end] = read().split('\n… ')
    expect(kept.length).toBe(2 ** 19)
    expect(kept.slice(0, 200)).toContain(`[local service] ${REPLACES}\n123456789\n1\n2\n`)
    expect(end).toBe('The rest of the output is left out.\n')
  })

  it('is also that of the setup, and not that of a list of framework projects', async () => {
    const { folder } = await aRepository({ 'a.test.js': '' })
    const outputs = temporaryFolder()
    const script = 'echo "says $1"; exit 1'
    const project = { ...scripted(folder, script), command: ['sh', '-c', script, 'sh'], setup: ['echo', 'sets up'] }
    const service = await startService({ outputs, projects: { shop: project } })
    const runId = await service.startRun({ branch: 'other', frameworkProjectName: 'nope' })
    expect(await service.waitFor(runId)).toMatchObject({ status: 'FAILED' })
    expect(readFileSync(join(outputs, runId, 'output.txt'), 'utf8')).toBe(
      `sets up\n[local service] ${REPLACES}\nsays run\n`,
    )
  })

  it('changes no verdict if its file cannot be created', async () => {
    const folder = temporaryFolder()
    const log: string[] = []
    const outputs = join(folder, 'outputs')
    mkdirSync(outputs)
    symlinkSync('/dev/null', join(outputs, 'output.txt'))
    const output = new RunOutput(outputs, (text) => log.push(text))
    const run = runContextIn(folder, { output }, scripted(folder, 'echo hello'))
    expect(await executeRun(run, new AbortController().signal)).toMatchObject({ status: 'PASSED' })
    expect(log).toEqual([expect.stringMatching(/^could not create the file for its output: EEXIST/)])
  })

  it('changes no verdict if its file cannot be written, as on a full disk', async () => {
    const folder = temporaryFolder()
    // The system lets no process of this shell write a larger file.
    const script = `
      import { RunOutput } from '${new URL('../../src/execution/output.ts', import.meta.url)}'
      const output = new RunOutput('${folder}', (text) => console.log(text))
      output.open()
      for (const letter of 'abc') output.write(letter.repeat(8192))
      output.close()
      console.log('goes on')`
    const limited = ['-c', 'ulimit -f 20; exec "$@"', 'bash', process.execPath, '--input-type=module', '--eval', script]
    const { stdout, stderr } = spawnSync('bash', limited, { encoding: 'utf8' })
    expect([stdout, stderr]).toEqual([
      expect.stringMatching(/^could not write more of its output: EFBIG.*\ngoes on\n$/),
      '',
    ])
    expect(readFileSync(join(folder, 'output.txt'), 'utf8')).toMatch(/^a{8192}b{8192}c*$/)
  })
})

/** A project whose framework writes traces into its output folder, which Playwright gets as an argument. */
function tracing(script: string) {
  const findOutput = 'for a; do case $a in --output=*) out=$(echo "$a" | cut -d= -f2);; esac; done'
  const trace = 'mkdir -p "$out/pays"; echo zipped > "$out/pays/trace.zip"'
  const command = ['sh', '-c', `${REPORTING}; ${findOutput}; ${trace}; ${script}`, 'sh']
  return { framework: 'playwright', command } as const
}

const LINKS = 'ln -s /etc "$out/etc"; ln -s /etc/passwd "$out/pays/passwd"; mkfifo "$out/pipe"'

async function runTracing(service: StartedService, outputs: string, request: object = {}) {
  const runId = await service.startRun(request)
  const { status } = await service.waitFor(runId)
  const found = readdirSync(join(outputs, runId), { recursive: true, encoding: 'utf8' }).sort()
  return { status, found, read: (name: string) => readFileSync(join(outputs, runId, name), 'utf8') }
}

const KEPT = ['files', 'files/pays', 'files/pays/trace.zip', 'output.txt']

describe('the files that a framework wrote to its output folder', () => {
  it('are kept of a run in a work tree, without links', async () => {
    const { folder } = await aRepository({ 'a.spec.js': '' })
    const outputs = temporaryFolder()
    const service = await startService({ outputs, projects: { shop: { folder, ...tracing(LINKS) } } })
    const { status, found, read } = await runTracing(service, outputs, { branch: 'other' })
    expect([status, found, read('files/pays/trace.zip')]).toEqual(['PASSED', KEPT, 'zipped\n'])
    expect(service.log.join('\n')).not.toContain('could not')
  })

  it('change no verdict if they cannot be kept', async () => {
    const { folder } = await aRepository({ 'a.spec.js': '' })
    const outputs = temporaryFolder()
    const spoil = `touch "${outputs}/$LOCAL_SERVICE_RUN_ID/files"`
    const service = await startService({ outputs, projects: { shop: { folder, ...tracing(spoil) } } })
    const { status, found } = await runTracing(service, outputs, { branch: 'other' })
    expect([status, found]).toEqual(['PASSED', ['files', 'output.txt']])
    expect(service.log.join('\n')).toContain('could not keep the files of the framework: ')
  })
})
