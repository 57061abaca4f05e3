import { existsSync, writeFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { aRepository } from '../../../test/support/git-repository.ts'
import {
  isAlive,
  PLAIN_ENV,
  pidsIn,
  puppet,
  puppetProject,
  startService,
  temporaryFolder,
  until,
} from '../support/a-local-service.ts'

const FAILING = { autofix: true, ...puppet({ cases: [['adds', 'FAILED']], exitCode: 1 }) }

/** A service for one repository, whose "fix" is this script. */
async function startFixing(script: string, projectSettings: object = {}, settings: object = {}) {
  const repository = await aRepository({ 'a.txt': 'old\n', 'gone.txt': 'still here\n' })
  const outputs = temporaryFolder()
  const project = { ...puppetProject(repository.folder), fix: ['sh', '-c', script], ...projectSettings }
  const service = await startService({ outputs, projects: { shop: project }, ...settings })
  const finish = async (body: object) => {
    const runId = await service.startRun(body)
    return { runId, ...(await service.waitFor(runId)), patch: join(outputs, runId, 'fix.patch') }
  }
  return { repository, service, finish, log: () => service.log.join('\n') }
}

describe('auto-fix', () => {
  it.each([
    ['the folder', {}],
    ['a work tree', { branch: 'other' }],
  ])('makes a patch with what its command changed in %s, and nothing else, before the run is finished', async (_, body) => {
    const fix = `echo new > a.txt; rm gone.txt; echo x >> left.txt; mkdir -p "deep/ä b"; printf '\\0\\377' > "deep/ä b/c.bin"`
    const leaves = 'echo left > left.txt; echo junk > junk.txt; exec "$@"'
    const command = ['sh', '-c', leaves, 'sh', ...puppetProject().command]
    const { repository, finish, log } = await startFixing(fix, { command })
    writeFileSync(join(repository.folder, 'uncommitted.txt'), 'by a person')
    const { status, patch } = await finish({ ...FAILING, ...body })
    expect(status).toBe('FAILED')
    const clone = await aRepository({ 'a.txt': 'old\n', 'gone.txt': 'still here\n', 'left.txt': 'left\n' })
    await clone.git('apply', patch)
    expect((await readdir(clone.folder)).sort()).toEqual(['.git', 'a.txt', 'deep', 'left.txt'])
    expect([await clone.read('a.txt'), await clone.read('left.txt')]).toEqual(['new\n', 'left\nx\n'])
    expect(await readFile(join(clone.folder, 'deep/ä b/c.bin'))).toEqual(Buffer.from([0, 255]))
    expect(await repository.git('diff', '--cached', '--name-only')).toBe('')
    const did = `exited with code 0. It changed 4 files: "a.txt", "deep/ä b/c.bin", "gone.txt", "left.txt". The patch is ${patch}.`
    expect(log()).toContain(did)
    // The gate shows the output.
    expect(await readFile(join(patch, '../output.txt'), 'utf8')).toMatch(
      /^\[local service\] auto-fix: .*The patch is /m,
    )
  })

  it.each([
    ['a folder of no repository', 'none', 'fatal: not a git repository'],
    // git asks for the variable in its own tests. In a container job, root has a workspace of another user.
    ['a repository of another user', 'other', 'fatal: detected dubious ownership'],
  ])('leaves its change in %s, and the log says that there is no patch', async (_, kind, problem) => {
    const env = { ...PLAIN_ENV, GIT_TEST_ASSUME_DIFFERENT_OWNER: kind === 'other' ? '1' : undefined }
    const projectSettings = kind === 'none' ? { folder: temporaryFolder() } : {}
    const fix = 'echo new > a.txt; echo "fixed $PWD/a.txt"'
    const { finish, log } = await startFixing(fix, projectSettings, { env })
    const { status, patch } = await finish(FAILING)
    const output = await readFile(join(patch, '../output.txt'), 'utf8')
    const [, file = ''] = /^fixed (.*)$/m.exec(output) ?? []
    expect([status, existsSync(patch), await readFile(file, 'utf8')]).toEqual(['FAILED', false, 'new\n'])
    expect(log()).toContain(`exited with code 0. There is no patch: git read-tree failed: ${problem}`)
  })

  it('is not tried if the tests pass or are interrupted, if nobody asked for it, if no test failed, or if there is no command', async () => {
    const { finish, repository, log } = await startFixing('echo new > a.txt')
    expect(await finish({ ...puppet({}), autofix: true })).toMatchObject({ status: 'PASSED' })
    expect(await finish({ ...FAILING, autofix: false })).toMatchObject({ status: 'FAILED' })
    const killed = puppet({ cases: [['adds', 'FAILED']], dieBy: 'SIGKILL' })
    expect(await finish({ ...killed, autofix: true })).toMatchObject({ status: 'INTERRUPTED' })
    expect(await finish({ ...puppet({ cases: [], exitCode: 1 }), autofix: true })).toMatchObject({ status: 'FAILED' })
    expect([log().includes('auto-fix'), await repository.git('status', '--porcelain')]).toEqual([false, ''])
    const without = await startFixing('', { fix: undefined })
    expect(await without.finish(FAILING)).toMatchObject({ status: 'FAILED' })
    expect(without.log()).toContain('auto-fix: It was not tried, because the project has no "fix" command.')
  })

  it('says how its command failed, and makes no patch if nothing was changed', async () => {
    const { finish, log } = await startFixing('echo "cannot fix this" >&2; exit 7')
    const { status, patch } = await finish(FAILING)
    expect([status, existsSync(patch)]).toEqual(['FAILED', false])
    expect(log()).toContain('>&2; exit 7` exited with code 7. It changed nothing.')
    expect(await readFile(join(patch, '../output.txt'), 'utf8')).toContain('\ncannot fix this\n')
  })

  it('is stopped by a cancel of its run, and asks git for nothing more', async () => {
    const file = join(temporaryFolder(), 'pid')
    const { service, log } = await startFixing(`echo $$ > ${file}; exec sleep 300`)
    const runId = await service.startRun(FAILING)
    const [pid = 0] = await pidsIn(file)
    expect(await service.cancel(runId)).toMatchObject({ status: 200 })
    expect((await service.get(runId)).body.status).toBe('CANCELLED')
    await until(() => log().includes('auto-fix: It failed: git add failed: it was stopped'))
    expect(isAlive(pid)).toBe(false)
  })

  it('is stopped by a cancel of its run, which has the results from before the fix', async () => {
    const file = join(temporaryFolder(), 'pid')
    const report = (inside: string) =>
      `printf '<testsuite><testcase name="pays">${inside}</testcase></testsuite>' > junit.xml`
    const settings = { framework: undefined, command: `${report('<failure/>')}; exit 1`, report: 'junit.xml' }
    const { service } = await startFixing(`${report('')}; echo $$ > ${file}; exec sleep 300`, settings)
    const runId = await service.startRun({ autofix: true })
    await pidsIn(file)
    await service.cancel(runId)
    const { status, results } = (await service.get(runId)).body
    expect([status, results?.testCases]).toMatchObject(['CANCELLED', [{ title: 'pays', status: 'FAILED' }]])
  })
})
