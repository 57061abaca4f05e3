import { chmod, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { aRepository, copyInto, type GitRepository, installPackages } from '../../test/support/git-repository.ts'
import { removeResources } from '../src/runs/run-resources.ts'
import { runTests } from '../src/runs/run-tests.ts'
import { chooseCheckout } from '../src/workspace/checkout.ts'
import type { RunExclusive } from '../src/workspace/keyed-mutex.ts'
import { openRepository } from '../src/workspace/work-tree.ts'
import {
  isAlive,
  PLAIN_ENV,
  puppet,
  puppetProject,
  readJournal,
  type StartedService,
  startService,
  temporaryFolder,
  testRunIn,
  until,
  WEB_SHOP,
} from './a-local-service.ts'

// A runner that passes one test for each file in the folder that it runs in, so that a run lists what was there.
const LISTING_RUNNER = [
  'sh',
  '-c',
  `for name in *; do
     test -f "$name" && cases="$cases$comma{\\"path\\":[\\"$name: $(cat "$name")\\"],\\"state\\":\\"passed\\"}" && comma=,
   done
   echo "{\\"event\\":\\"finished\\",\\"tests\\":[$cases]}" > "$LOCAL_SERVICE_REPORT_FILE"`,
  'sh',
]

async function startListing(repository: GitRepository, settings: object = {}, projectSettings: object = {}) {
  const home = await temporaryFolder()
  const project = {
    folder: repository.folder,
    framework: 'vitest',
    command: LISTING_RUNNER,
    ...projectSettings,
  } as const
  const service = await startService(
    { projects: { listing: project }, ...settings },
    { dataFolder: join(home, 'data') },
  )
  return { service, home }
}

async function listing(service: StartedService, body: object) {
  const run = await service.waitFor(await service.startRun(body))
  const titles = run.results?.testCases.map(({ title }) => title)
  return { branchName: run.branchName, status: run.status, titles, message: run.message }
}

async function workTreesOf({ git }: GitRepository): Promise<number> {
  return (await git('worktree', 'list', '--porcelain')).split('\n').filter((line) => line.startsWith('worktree '))
    .length
}

describe('a run for a branch', () => {
  it("runs in a work tree with that branch's files, and takes it away again", async () => {
    const repository = await aRepository({ 'a.txt': 'main' })
    await repository.git('switch', '--quiet', '--create', 'feature/x')
    await repository.commit({ 'a.txt': 'feature', 'b.txt': 'new' })
    await repository.git('switch', '--quiet', 'main')
    await repository.write({ 'a.txt': 'not committed', 'c.txt': 'not committed' })
    const { service, home } = await startListing(repository)
    expect(await listing(service, { branch: 'feature/x' })).toEqual({
      branchName: 'feature/x',
      status: 'PASSED',
      titles: ['a.txt: feature', 'b.txt: new'],
    })
    expect(await listing(service, { branch: 'main' })).toMatchObject({ branchName: 'main', titles: ['a.txt: main'] })
    expect(await workTreesOf(repository)).toBe(1)
    const [data = ''] = await readdir(home)
    expect(await readdir(join(home, data, 'runs'))).toEqual([])
    expect(await readdir(join(home, data, 'trees'))).toEqual([])
    expect(await repository.read('a.txt')).toBe('not committed')
  })

  it('tests the folder as it stands if no branch is requested, or the default branch if one is configured', async () => {
    const repository = await aRepository({ 'a.txt': 'main' })
    await repository.write({ 'a.txt': 'not committed' })
    const { service } = await startListing(repository)
    expect(await listing(service, {})).toMatchObject({ branchName: 'main', titles: ['a.txt: not committed'] })
    await repository.git('checkout', '--quiet', '--detach')
    expect(await listing(service, {})).toMatchObject({ branchName: undefined, status: 'PASSED' })
    const configured = await startListing(repository, {}, { defaultBranch: 'main' })
    expect(await listing(configured.service, {})).toMatchObject({ branchName: 'main', titles: ['a.txt: main'] })
  })

  it('tests the folder as it stands if the branch is the full hash of the commit that is checked out', async () => {
    const repository = await aRepository({ 'a.txt': 'first' })
    const first = await repository.git('rev-parse', 'HEAD')
    const head = await repository.commit({ 'a.txt': 'second' })
    await repository.write({ 'a.txt': 'not committed' })
    const { service } = await startListing(repository)
    expect(await listing(service, { branch: head })).toMatchObject({
      branchName: head,
      titles: ['a.txt: not committed'],
    })
    for (const branch of [first, head.slice(0, 39), head.toUpperCase()]) {
      expect(await service.start({ branch })).toMatchObject({ status: 400 })
    }
    await repository.git('checkout', '--quiet', '--force', first)
    expect(await service.start({ branch: head })).toMatchObject({ status: 400 })
  })

  it('keeps to the commit that the branch was at when the run was started', async () => {
    const repository = await aRepository({ 'a.txt': 'first' })
    const { service } = await startListing(repository, { concurrency: 1 }, { setup: ['sh', '-c', 'sleep 0.3'] })
    const [first, second] = [await service.startRun({ branch: 'main' }), await service.startRun({ branch: 'main' })]
    await repository.commit({ 'a.txt': 'second' })
    for (const runId of [first, second]) {
      const { results } = await service.waitFor(runId ?? '')
      expect(results?.testCases.map(({ title }) => title)).toContain('a.txt: first')
    }
  })

  it("finds a branch that only a remote has, origin's first", async () => {
    const upstream = await aRepository({ 'a.txt': 'upstream' })
    await upstream.git('branch', 'theirs')
    const repository = await aRepository({ 'a.txt': 'here' })
    await repository.git('remote', 'add', 'another', upstream.folder)
    await repository.git('fetch', '--quiet', 'another')
    await repository.git('remote', 'add', 'origin', upstream.folder)
    const { service } = await startListing(repository)
    expect(await listing(service, { branch: 'theirs' })).toMatchObject({ titles: ['a.txt: upstream'] })
    await upstream.commit({ 'a.txt': 'newer' })
    await upstream.git('branch', '--force', 'theirs')
    await repository.git('fetch', '--quiet', 'origin')
    expect(await listing(service, { branch: 'theirs' })).toMatchObject({ titles: ['a.txt: newer'] })
  })

  it('is refused with 400 if there is no such branch, whatever else the name means to git', async () => {
    const repository = await aRepository({ 'a.txt': 'main' })
    await repository.commit({ 'a.txt': 'main, again' })
    await repository.git('tag', 'v1')
    // git keeps a remote's HEAD where it keeps the remote's branches.
    await repository.git('remote', 'add', 'origin', repository.folder)
    await repository.git('fetch', '--quiet', 'origin')
    await repository.git('remote', 'set-head', 'origin', 'main')
    const { service } = await startListing(repository)
    const revisions = ['main~1', 'main^{/A commit}', 'main@{0}', 'HEAD', 'v1', '../tags/v1', 'refs/heads/main']
    for (const branch of [...revisions, 'none', '--help', '-q', 'ma\nin', 'ma\0in', '🐙', 'b'.repeat(255)]) {
      const { status, body } = await service.start({ branch })
      expect(status, branch).toBe(400)
      expect(body.error).toMatch(/^Project "listing" has no branch ".*"?…?\. Fetch or create it in .*\.$/)
    }
  })

  it('is refused with 400 if the project is in no repository, which runs without a branch', async () => {
    const folder = await temporaryFolder()
    const service = await startService({ projects: { plain: puppetProject(folder) } })
    expect(await service.start({ branch: 'main' })).toEqual({
      status: 400,
      body: {
        error: expect.stringMatching(/^Project "plain" has no branch "main": its folder is in no git repository/),
      },
    })
    const run = await service.waitFor(await service.startRun())
    expect(run.status).toBe('PASSED')
    expect(run).not.toHaveProperty('branchName')
  })

  it.each([
    ['with 400', {}, { branch: 'gone' }, 400, ', or send no "branch" to test the folder as it stands'],
    ['with 400, and no other advice beside a default branch', { defaultBranch: 'main' }, { branch: 'gone' }, 400, ''],
    ['with 500 if it is the configured one', { defaultBranch: 'gone' }, {}, 500, ''],
  ])('that does not exist is refused %s', async (_how, settings, request, status, hint) => {
    const repository = await aRepository({ 'a.txt': 'main' })
    const { service } = await startListing(repository, {}, settings)
    const error = `Project "listing" has no branch "gone". Fetch or create it in ${repository.folder}${hint}.`
    expect(await service.start(request)).toEqual({ status, body: { error } })
  })

  it('runs in the folder of the project within the repository, and is refused if the branch has none', async () => {
    const repository = await aRepository({ 'a.txt': 'root' })
    await repository.git('branch', 'before')
    await repository.commit({ 'packages/shop/b.txt': 'shop' })
    const { service } = await startListing(repository, {}, { folder: join(repository.folder, 'packages/shop') })
    expect(await listing(service, { branch: 'main' })).toMatchObject({ titles: ['b.txt: shop'] })
    expect(await service.start({ branch: 'before' })).toEqual({
      status: 400,
      body: { error: 'Branch "before" has no folder "packages/shop" of project "listing".' },
    })
  })

  it('leaves no work tree when it is cancelled, even a locked one with changes in it', async () => {
    const journal = join(await temporaryFolder(), 'journal')
    const repository = await aRepository({ 'a.txt': 'main' })
    const setup = ['sh', '-c', 'echo changed > a.txt; echo new > b.txt; git worktree lock .']
    const service = await startService({ projects: { shop: { ...puppetProject(repository.folder), setup } } })
    const runId = await service.startRun({ branch: 'main', ...puppet({ hangs: true, journal }) })
    await until(async () => (await readJournal(journal)).length > 0)
    expect(await workTreesOf(repository)).toBe(2)
    await service.cancel(runId)
    await until(async () => (await workTreesOf(repository)) === 1)
    const [{ pid } = { pid: 0 }] = await readJournal(journal)
    expect(isAlive(pid)).toBe(false)
  })

  it('does not run the hooks of the repository', async () => {
    const repository = await aRepository({ 'a.txt': 'main' })
    await repository.write({ '.git/hooks/post-checkout': '#!/bin/sh\ntouch hooked' })
    await repository.git('config', 'core.fileMode', 'false')
    await chmod(join(repository.folder, '.git/hooks/post-checkout'), 0o755)
    const { service } = await startListing(repository)
    expect(await listing(service, { branch: 'main' })).toMatchObject({ titles: ['a.txt: main'] })
  })

  it('is set up by the command of the project, and INTERRUPTED if that fails', async () => {
    const repository = await aRepository({ 'a.txt': 'main' })
    const setup = ['sh', '-c', 'echo "setting up"; test "$BROKEN" != yes && echo done > ready.txt']
    const { service } = await startListing(repository, {}, { setup })
    expect((await listing(service, { branch: 'main' })).titles).toContain('ready.txt: done')
    const message =
      'setup: `sh -c echo "setting up"; test "$BROKEN" != yes && echo done > ready.txt` exited with code 1'
    expect(await listing(service, { branch: 'main', envOverrides: { BROKEN: 'yes' } })).toMatchObject({
      status: 'INTERRUPTED',
      titles: [],
      message,
    })
    expect(service.log.join('\n')).toContain(`${message}; its output:\n    | setting up`)
  })

  it('runs beside others for the same repository', async () => {
    const repository = await aRepository({ 'a.txt': 'main' })
    const { service } = await startListing(repository, { concurrency: 4 })
    const runs = await Promise.all(Array.from({ length: 8 }, () => listing(service, { branch: 'main' })))
    expect(new Set(runs.map(({ status }) => status))).toEqual(new Set(['PASSED']))
    expect(await workTreesOf(repository)).toBe(1)
  })

  it('makes and removes its work tree in turn with the others of the repository', async () => {
    const repository = await aRepository({ 'a.txt': 'main' })
    const project = { folder: repository.folder, framework: 'vitest', command: LISTING_RUNNER }
    const run = testRunIn(await temporaryFolder(), {}, project)
    const checkout = await chooseCheckout(run.project, 'main', await openRepository(repository.folder, PLAIN_ENV))
    if (checkout.kind === 'refused') throw new Error(checkout.error)
    const turns: string[] = []
    const runExclusive: RunExclusive = async (key, task) => {
      const before = await workTreesOf(repository)
      const result = await task()
      turns.push(`${key}: ${before} to ${await workTreesOf(repository)}`)
      return result
    }
    const gitFolder = join(repository.folder, '.git')
    const resources = { ...run.resources, gitFolder }
    const inTree = { ...run, checkout, resources, runExclusive }
    expect((await runTests(inTree, new AbortController().signal)).status).toBe('PASSED')
    await removeResources(run.runId, resources, { runExclusive, env: PLAIN_ENV })
    expect(turns).toEqual([`${gitFolder}: 1 to 2`, `${gitFolder}: 2 to 1`])
  })

  it('keeps its outcome if its files cannot be removed, and the log says why', async () => {
    const repository = await aRepository({ 'a.txt': 'main' })
    // A file stands where git has its record of the work tree.
    const setup = ['sh', '-c', 'cd "$(git rev-parse --git-common-dir)" && rm -r worktrees && touch worktrees']
    const { service } = await startListing(repository, {}, { setup })
    expect((await listing(service, { branch: 'main' })).status).toBe('PASSED')
    expect(service.log.join('\n')).toMatch(/could not remove its files: ENOTDIR/)
  })

  it.each([
    ['package.json', '{}', '{"dependencies":{}}', '["npm", "install"]'],
    ['package-lock.json', '{}', '{"lockfileVersion":3}', '["npm", "ci"]'],
    ['pnpm-lock.yaml', '', 'a: 1', '["pnpm", "install", "--frozen-lockfile"]'],
    ['yarn.lock', '', 'a: 1', '["yarn", "install"]'],
  ])('is refused without a setup if its %s is not that of the installed packages', async (file, old, updated, setup) => {
    const repository = await aRepository({ '.gitignore': 'node_modules/\n', [file]: old })
    await repository.git('switch', '--quiet', '--create', 'update')
    await repository.commit({ [file]: updated })
    await repository.git('switch', '--quiet', 'main')
    const choose = async (branch: string, settings: object = {}) => {
      const { project } = testRunIn(repository.folder, {}, { ...puppetProject(repository.folder), ...settings })
      return chooseCheckout(project, branch, await openRepository(repository.folder, PLAIN_ENV))
    }
    // Nothing is installed: there is nothing to be mistaken about.
    expect(await choose('update')).toMatchObject({ kind: 'work-tree' })
    await repository.write({ 'node_modules/a/package.json': '{}' })
    const error =
      `Project "shop" needs a "setup" to test branch "update", such as ${setup}: its ${file} differs from the one in ` +
      `${repository.folder}, and the tests would use the packages installed there.`
    expect(await choose('update')).toEqual({ kind: 'refused', error })
    expect(await choose('main')).toMatchObject({ kind: 'work-tree' })
    expect(await choose('update', { setup: ['true'] })).toMatchObject({ kind: 'work-tree' })
  })

  it('finds the packages that are installed in the repository if the project is in a folder of it', async () => {
    const repository = await aRepository({ '.gitignore': 'node_modules/\n' })
    await installPackages(repository.folder)
    await copyInto(join(repository.folder, 'shop'), WEB_SHOP)
    await repository.commit({})
    const service = await startService({ projects: { shop: { folder: join(repository.folder, 'shop') } } })
    const run = await service.waitFor(await service.startRun({ branch: 'main', frameworkProjectName: 'unit' }))
    expect(run).toMatchObject({ status: 'PASSED', branchName: 'main' })
    expect(run.results?.testCases).toHaveLength(10)
  })
})
