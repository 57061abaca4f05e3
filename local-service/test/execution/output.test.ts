import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { aRepository } from '../../../test/support/git-repository.ts'
import { executeRun } from '../../src/execution/execute.ts'
import { outputBytes, RunOutput, readOutput } from '../../src/execution/output.ts'
import { PASSING_SCRIPT } from '../support/a-job.ts'
import { runContextIn, startService, temporaryFolder } from '../support/a-local-service.ts'

/** What each of these runs in place says, in its log and in its output. */
const REPLACES = 'the service replaces the reporters of the project, because the project has a "command"'

/** A project whose framework is a shell that writes its report and runs this script. */
function scripted(folder: string, script: string) {
  return { folder, framework: 'vitest', command: ['sh', '-c', `${PASSING_SCRIPT}; ${script}`, 'sh'] } as const
}

async function runScript(script: string, { limitBytes, file }: { limitBytes?: number; file?: string } = {}) {
  const folder = temporaryFolder()
  const log: string[] = []
  const outputs = join(folder, 'outputs')
  mkdirSync(outputs)
  if (file !== undefined) symlinkSync(file, join(outputs, 'output.txt'))
  const output = new RunOutput(outputs, (text) => log.push(text), limitBytes)
  const run = runContextIn(folder, { output, log: (text) => log.push(text) }, scripted(folder, script))
  const { status } = await executeRun(run, () => {})
  return { status, log, read: () => readFileSync(join(outputs, 'output.txt'), 'utf8') }
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

  it('is cut at the limit, and says so', async () => {
    const script = 'echo 123456789; sleep 0.2; seq 100000; sleep 0.2; echo later'
    const { status, log, read } = await runScript(script, { limitBytes: 2 ** 19 })
    expect(status).toBe('PASSED')
    expect(log).toEqual([REPLACES])
    const [kept = '', end] = read().split('\n… ')
    expect(kept.length).toBeLessThanOrEqual(2 ** 19)
    expect(kept.slice(0, 200)).toMatch(/^123456789\n1\n2\n/)
    expect(end).toBe('The rest of the output is left out.\n')
  })

  it('changes no verdict if its file cannot be created', async () => {
    const { status, log } = await runScript('echo hello', { file: '/dev/null' })
    const problem = expect.stringMatching(/^could not create the file for its output: EEXIST/)
    expect([status, log]).toEqual(['PASSED', [problem, REPLACES]])
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

it.each<[string, number, Buffer]>([
  ['has several parts', 0, Buffer.from('€€€€€ is a price\n'.repeat(20_000))],
  ['begins within a character', 1, Buffer.from('éab')],
  ['has bytes that are no UTF-8', 0, Buffer.from([0xff, 97, 0xc3, 98, 0x80])],
  ['ends within a character', 0, Buffer.from([97, 0xe2, 0x82])],
  ['has no UTF-8, and is longer than a part', 0, Buffer.alloc(262_145, 0xff)],
])('a client gets every byte once of an output that %s', (_, from, bytes) => {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'output.txt'), bytes)
  let [text, next] = ['', from]
  for (let part = readOutput(folder, next); part.next > next; part = readOutput(folder, next)) {
    expect(part.next - next).toBeLessThanOrEqual(262_144)
    text += part.text
    next = part.next
  }
  expect([next, outputBytes(folder)]).toEqual([bytes.length, bytes.length])
  expect(text === bytes.subarray(from).toString()).toBe(true)
})

describe('the files that a framework wrote to its output folder', () => {
  it('are kept of a run in a work tree, without links', async () => {
    // Playwright gets the folder as an argument.
    const findOutput = 'for a; do case $a in --output=*) out=$(echo "$a" | cut -d= -f2);; esac; done'
    const trace = 'mkdir -p "$out/pays"; echo zipped > "$out/pays/trace.zip"'
    const links = 'ln -s /etc "$out/etc"; ln -s /etc/passwd "$out/pays/passwd"; mkfifo "$out/pipe"'
    const command = ['sh', '-c', [PASSING_SCRIPT, findOutput, trace, links].join('; '), 'sh']
    const { folder } = await aRepository({ 'a.spec.js': '' })
    const outputs = temporaryFolder()
    const service = await startService({ outputs, projects: { shop: { folder, framework: 'playwright', command } } })
    const runId = await service.startRun({ branch: 'other' })
    expect(await service.waitFor(runId)).toMatchObject({ status: 'PASSED' })
    const found = readdirSync(join(outputs, runId), { recursive: true, encoding: 'utf8' }).sort()
    expect(found).toEqual(['files', 'files/pays', 'files/pays/trace.zip', 'output.txt'])
    expect(readFileSync(join(outputs, runId, 'files/pays/trace.zip'), 'utf8')).toBe('zipped\n')
  })

  it('change no verdict if they cannot be kept', async () => {
    const log: string[] = []
    const [outputs, written] = [temporaryFolder(), temporaryFolder()]
    for (const file of [join(outputs, 'files'), join(written, 'trace.zip')]) writeFileSync(file, '')
    await new RunOutput(outputs, (text) => log.push(text)).keepFiles(written)
    expect(log).toEqual([expect.stringMatching(/^could not keep the files of the framework: /)])
  })
})
