import { existsSync, readdirSync } from 'node:fs'
import { readFile, rename, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { aRepository, installPackages } from '../../test/support/git-repository.ts'
import { puppet, puppetProject, type RunObject, startService, temporaryFolder, until } from './a-local-service.ts'

const SNAPSHOT_TEST = `
  import { expect, it } from 'vitest'
  import { greeting } from './greeting.js'
  it('greets', () => expect(greeting).toMatchSnapshot())
  it('greets somebody', () => expect(greeting).toContain('world'))`

const FAILING = puppet({ cases: [['adds', 'failed']], exitCode: 1 })

describe('auto-fix', () => {
  async function startFixing(
    autofix: readonly string[] | undefined,
    projectSettings: object = {},
    settings: object = {},
  ) {
    const repository = await aRepository({ 'a.txt': 'old\n', 'gone.txt': 'still here\n' })
    const project = { ...puppetProject(repository.folder), ...(autofix ? { autofix } : {}), ...projectSettings }
    const service = await startService({ projects: { shop: project }, ...settings })
    return {
      repository,
      service,
      logged: (text: string) => until(() => service.log.join('\n').includes(text)),
      branches: () => repository.git('branch', '--format=%(refname:short)', '--list', 'autofix/*'),
      run: async (body: object): Promise<RunObject & { runId: string }> => {
        const runId = await service.startRun({ autofix: true, ...body })
        return { ...(await service.waitFor(runId)), runId }
      },
    }
  }

  it('updates real snapshots on a branch of its own, and the run stays what it was', async () => {
    const repository = await aRepository({
      '.gitignore': 'node_modules/\n',
      'vitest.config.mjs': 'export default {}\n',
      'greeting.js': "export const greeting = 'hello, world'\n",
      'greeting.test.js': SNAPSHOT_TEST,
      '__snapshots__/greeting.test.js.snap':
        '// Vitest Snapshot v1, https://vitest.dev/guide/snapshot.html\n\nexports[`greets 1`] = `"good day, world"`;\n',
    })
    await installPackages(repository.folder)
    const autofix = [process.execPath, 'node_modules/vitest/vitest.mjs', 'run', '--update']
    const service = await startService({ projects: { shop: { folder: repository.folder, autofix } } })
    const runId = await service.startRun({ autofix: true })
    const run = await service.waitFor(runId)
    expect(run).toMatchObject({ status: 'FAILED', branchName: 'main' })
    expect(run.results?.testCases).toMatchObject([
      { title: 'greets', status: 'FAILED' },
      { title: 'greets somebody', status: 'PASSED' },
    ])

    await until(() => service.log.join('\n').includes('1 test case failed before, 0 after (PASSED)'))
    expect(service.log.join('\n')).toContain(`the changes are on branch autofix/${runId}`)
    const branch = `autofix/${runId}`
    expect(await repository.git('diff', '--name-only', 'main', branch)).toBe('__snapshots__/greeting.test.js.snap')
    expect(await repository.git('show', `${branch}:__snapshots__/greeting.test.js.snap`)).toContain('hello, world')
    expect(await repository.git('log', '--format=%s', `main..${branch}`)).toBe(`Fix failing tests of run ${runId}`)
    expect(await repository.git('status', '--porcelain', '--', '.', ':!node_modules')).toBe('')
    expect((await service.get(runId)).body).toEqual(run)
  })

  it('keeps what its command changed, added and deleted, and not what tests and setup left', async () => {
    // It looks at git itself: nothing is staged there.
    const fix =
      'git diff --cached --exit-code && echo new > a.txt; rm gone.txt; mkdir -p "deep/ä b"; echo more > "deep/ä b/c.txt"; echo x >> left.txt'
    const { run, repository, logged } = await startFixing(['sh', '-c', fix], {
      setup: ['sh', '-c', 'echo setup > setup.txt; echo left > left.txt'],
    })
    const { runId } = await run(FAILING)
    await logged('failed before')
    const branch = `autofix/${runId}`
    expect(
      (await repository.git('-c', 'core.quotePath=false', 'diff', '--name-status', 'main', branch)).split('\n'),
    ).toEqual(['M\ta.txt', 'A\tdeep/ä b/c.txt', 'D\tgone.txt', 'A\tleft.txt'])
    expect(await repository.git('show', `${branch}:a.txt`)).toBe('new')
  })

  /** What tests leave: a large file, and a file that makes `git fsck` fail in a repository that has it. */
  const JUNK = `head -c 1000000 /dev/urandom > junk
    printf '[submodule "x"]\\n path = x\\n url = -u./x\\n' > .gitmodules`

  it.each([
    ['nothing of a run that it does not fix', 'true', 'auto-fix: nothing was changed', []],
    ['only its commit of a run that it fixes', 'echo new > a.txt', 'failed before', ['a.txt']],
  ])('leaves %s in the repository', async (_what, fix, message, changed) => {
    const { run, repository, logged } = await startFixing(['sh', '-c', fix], { setup: ['sh', '-c', JUNK] })
    const objects = async () => {
      const listed = await repository.git('cat-file', '--batch-all-objects', '--batch-check=%(objectname)')
      return listed.split('\n')
    }
    const before = new Set(await objects())
    const { runId } = await run(FAILING)
    await logged(message)
    const added = (await objects()).filter((object) => !before.has(object))
    const isFixed = changed.length > 0
    const ofCommit = isFixed ? await repository.git('rev-list', '--objects', `main..autofix/${runId}`) : ''
    expect(added.sort()).toEqual(
      ofCommit
        .split('\n')
        .flatMap((line) => line.split(' ')[0] || [])
        .sort(),
    )
    expect(added).toHaveLength(isFixed ? 3 : 0)
    // While the service removes the record of its work tree, git finds that record incomplete.
    await until(() => readdirSync(join(repository.folder, '.git/worktrees')).length === 0)
    await repository.git('fsck', '--strict')
    if (isFixed)
      expect(await repository.git('diff', '--name-only', 'main', `autofix/${runId}`)).toBe(changed.join('\n'))
  })

  it('copies nothing of the repository for its snapshots, also if the path has a colon and quotation marks', async () => {
    const { folder, git } = await aRepository({ 'a.txt': 'old\n' })
    const moved = join(await temporaryFolder(), 'a:"b\\c')
    await rename(folder, moved)
    await symlink(moved, folder)
    const data = await temporaryFolder()
    const copied = join(data, 'copied')
    const fix = `find ${data}/runs -path '*/git/objects/*' -type f > ${copied}; echo new > a.txt`
    const project = { ...puppetProject(moved), autofix: ['sh', '-c', fix] }
    const service = await startService({ projects: { shop: project } }, { dataFolder: data })
    const runId = await service.startRun({ autofix: true, ...FAILING })
    await until(() => service.log.join('\n').includes('failed before'))
    expect(await readFile(copied, 'utf8')).toBe('')
    expect(await git('show', `autofix/${runId}:a.txt`)).toBe('new')
  })

  // Other systems have no such names.
  it.runIf(process.platform === 'linux')('keeps a file whose name is not UTF-8', async () => {
    const { run, repository, logged } = await startFixing(['sh', '-c', 'echo new > "$(printf \'a\\377b\')"'])
    const { runId } = await run(FAILING)
    await logged('failed before')
    expect(await repository.git('show', '--name-only', '--format=', `autofix/${runId}`)).toBe('"a\\377b"')
  })

  it('is not tried if the tests pass, if nobody asked for it, or if no test failed', async () => {
    const { run, service, branches } = await startFixing(['sh', '-c', 'echo new > a.txt'])
    expect(await run(puppet({}))).toMatchObject({ status: 'PASSED' })
    expect(await run({ ...FAILING, autofix: false })).toMatchObject({ status: 'FAILED' })
    expect(await run(puppet({ cases: [], exitCode: 1 }))).toMatchObject({ status: 'FAILED' })
    await service.close()
    expect(service.log.join('\n')).not.toContain('auto-fix')
    expect(await branches()).toBe('')
  })

  it('makes no branch if its command changes nothing, and says in the log how it failed', async () => {
    const { run, logged, branches } = await startFixing(['sh', '-c', 'echo "cannot fix this" >&2; exit 7'])
    await run(FAILING)
    const problem = '`sh -c echo "cannot fix this" >&2; exit 7` exited with code 7; its output:\n    | cannot fix'
    await logged(`auto-fix: ${problem}`)
    await logged('auto-fix: nothing was changed, so there is no branch')
    expect(await branches()).toBe('')
  })

  it('says in the log why it is not tried: no command, no repository', async () => {
    const without = await startFixing(undefined)
    expect(await without.run({ ...FAILING, branch: 'main' })).toMatchObject({ status: 'FAILED' })
    await without.logged('auto-fix: not tried, the project has no "autofix" command')

    const outside = await startFixing(['true'], { folder: await temporaryFolder() })
    expect(await outside.run(FAILING)).toMatchObject({ status: 'FAILED' })
    await outside.logged('auto-fix: not tried, the project is in no git repository with a commit')
  })

  /** A run whose auto-fix does not end by itself. */
  async function startEndlessFix(settings: object = {}) {
    const reached = join(await temporaryFolder(), 'reached')
    const fix = ['sh', '-c', `echo new > a.txt; touch ${reached}; sleep 60`]
    const fixing = await startFixing(fix, {}, { concurrency: 1, ...settings })
    const { runId, status } = await fixing.run(FAILING)
    expect(status).toBe('FAILED')
    await until(() => existsSync(reached))
    return { ...fixing, runId }
  }

  it('keeps the next run in the queue, and is stopped with the service', async () => {
    const { service, repository, branches } = await startEndlessFix()
    expect((await service.get(await service.startRun())).body.status).toBe('QUEUED')
    await service.close()
    expect(await branches()).toBe('')
    expect((await repository.git('worktree', 'list')).split('\n')).toHaveLength(1)
  })

  it('is stopped by a cancel of its run, which had finished and stays what it was', async () => {
    const { service, runId, branches } = await startEndlessFix()
    const refused = `Run "${runId}" is FAILED; only a QUEUED or RUNNING run can be cancelled.`
    expect(await service.cancel(runId)).toEqual({
      status: 400,
      body: { error: `${refused} Its auto-fix was stopped.` },
    })
    expect(await service.cancel(runId)).toEqual({ status: 400, body: { error: refused } })
    expect(await service.waitFor(await service.startRun(puppet({})))).toMatchObject({ status: 'PASSED' })
    expect((await service.get(runId)).body.status).toBe('FAILED')
    expect(await branches()).toBe('')
  })

  it('is stopped when it exceeds its own limit', async () => {
    const { service, run, logged, branches } = await startFixing(
      ['sh', '-c', 'echo new > a.txt; sleep 60'],
      {},
      { concurrency: 1, autofixLimitMinutes: 0.002 },
    )
    await run(FAILING)
    await logged('auto-fix: exceeded its limit of 0.002 min')
    expect(await service.waitFor(await service.startRun(puppet({})))).toMatchObject({ status: 'PASSED' })
    expect(await branches()).toBe('')
  })
})
