import { existsSync, readdirSync, watch } from 'node:fs'
import { chmod, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { aRepository, copyInto, type GitRepository, installPackages } from '../../../test/support/git-repository.ts'
import { openRepository, removeWorkTree } from '../../src/checkout/repository.ts'
import type { RunContext } from '../../src/execution/context.ts'
import { prepareFiles } from '../../src/execution/execute.ts'
import { removeResources } from '../../src/execution/resources.ts'
import { PASSING_SCRIPT } from '../support/a-job.ts'
import {
  isAlive,
  PLAIN_ENV,
  pidsIn,
  puppet,
  puppetProject,
  readJournal,
  runContextIn,
  startService,
  temporaryFolder,
  until,
  WEB_SHOP,
} from '../support/a-local-service.ts'

// A runner that passes one test for each file in the folder that it runs in, so that a run lists what was there.
const LISTING_RUNNER = [
  'sh',
  '-c',
  `for name in *; do
     test -f "$name" && cases="$cases$comma{\\"path\\":[\\"$name: $(cat "$name")\\"],\\"state\\":\\"passed\\"}" && comma=,
   done
   echo "{\\"event\\":\\"finished\\",\\"tests\\":[$cases],\\"files\\":[],\\"errors\\":[]}" > "$LOCAL_SERVICE_REPORT_FILE"`,
  'sh',
]

/** On `main` with a change that is not committed. The branch `other` has another `a.txt`, and `b.txt`. */
async function twoBranches(): Promise<GitRepository> {
  const repository = await aRepository({ 'a.txt': 'main' })
  await repository.git('switch', '--quiet', 'other')
  await repository.commit({ 'a.txt': 'other', 'b.txt': 'new' })
  await repository.git('switch', '--quiet', 'main')
  await repository.write({ 'a.txt': 'not committed' })
  return repository
}

async function startListing(repository: GitRepository, projectSettings: object = {}) {
  const data = temporaryFolder()
  const listing = {
    folder: repository.folder,
    framework: 'vitest',
    command: LISTING_RUNNER,
    ...projectSettings,
  } as const
  const service = await startService({ projects: { listing }, dataFolder: data })
  const list = async (body: object) => {
    const { branchName, status, results, message } = await service.run(body)
    return { branchName, status, titles: results?.testCases.map(({ title }) => title), message }
  }
  return { service, list, data }
}

/** git's records of the work trees. No git command reads them, because it would fail while the service removes one. */
function workTreesOf({ folder }: GitRepository): number {
  const records = join(folder, '.git/worktrees')
  return existsSync(records) ? readdirSync(records).length : 0
}

describe('a run of what is checked out', () => {
  it('tests the folder itself, without a branch, for the branch by its name and for the commit by its hash', async () => {
    const repository = await twoBranches()
    const { list } = await startListing(repository, { setup: ['false'] })
    const head = await repository.git('rev-parse', 'HEAD')
    for (const [body, branchName] of [
      [{}, 'main'],
      [{ branch: 'main' }, 'main'],
      [{ branch: head }, head],
    ]) {
      expect(await list(body as object)).toEqual({ branchName, status: 'PASSED', titles: ['a.txt: not committed'] })
    }
    await repository.git('checkout', '--quiet', '--detach')
    expect(await list({})).toMatchObject({ branchName: undefined, titles: ['a.txt: not committed'] })
    expect(workTreesOf(repository)).toBe(0)
  })

  it('tests the folder itself also if a tag has the name of the branch', async () => {
    const repository = await twoBranches()
    await repository.git('tag', 'main')
    const { list } = await startListing(repository)
    const found = { branchName: 'main', titles: ['a.txt: not committed'] }
    for (const body of [{}, { branch: 'main' }]) expect(await list(body)).toMatchObject(found)
  })

  it('is refused for the hash of another commit, and for a part of the hash', async () => {
    const repository = await aRepository({ 'a.txt': 'first' })
    const first = await repository.git('rev-parse', 'HEAD')
    const head = await repository.commit({ 'a.txt': 'second' })
    const { service } = await startListing(repository)
    const next = `To test what is checked out, give the branch "${head}".`
    const changed = `Project "listing" has another commit checked out than "${first}". A step may have changed that after the service started.`
    expect(await service.start({ branch: first })).toEqual({ status: 400, body: { error: `${changed} ${next}` } })
    for (const branch of [head.slice(0, 39), head.toUpperCase()]) {
      const error = expect.stringMatching(/ has no branch .* To test what is checked out, give the branch /)
      expect(await service.start({ branch })).toEqual({ status: 400, body: { error } })
    }
  })
})

describe('a run of the folder itself that waits for another one', () => {
  async function runAfter(change: readonly string[], branch: (commit: string) => string | undefined) {
    const { folder, git, commit } = await aRepository({ 'a.txt': 'main' })
    const begun = join(temporaryFolder(), 'begun')
    const script = `test "$WAITS" && { echo $$ > ${begun}; exec sleep 600; }; ${PASSING_SCRIPT}`
    const project = { folder, framework: 'vitest', command: ['sh', '-c', script, 'sh'] }
    const service = await startService({ projects: { shop: project } })
    const first = await service.startRun({ envOverrides: { WAITS: 'yes' } })
    const waiting = await service.startRun({ branch: branch(await git('rev-parse', 'HEAD')) })
    await pidsIn(begun)
    if (change[0] === 'commit') await commit({ 'a.txt': 'later' })
    else await git(...change)
    await service.cancel(first)
    const { status, message } = await service.waitFor(waiting)
    return { status, message }
  }

  it.each<[string, string[], (commit: string) => string | undefined, RegExp]>([
    [
      'the commit',
      ['commit'],
      (commit) => commit,
      /^"[0-9a-f]{40}" was .* started, and "[0-9a-f]{40}" when it began\. Start/,
    ],
    ['the branch', ['switch', '--quiet', 'other'], () => 'main', /^"main" was .* started, and "other" when it began\./],
    [
      'no branch',
      ['switch', '--quiet', 'other'],
      () => undefined,
      /^"main" was .* started, and "other" when it began\./,
    ],
  ])('does not begin if something else is checked out meanwhile than %s', async (_, change, branch, message) => {
    expect(await runAfter(change, branch)).toEqual({ status: 'INTERRUPTED', message: expect.stringMatching(message) })
  })

  it('tests the branch as it is when the run begins', async () => {
    expect(await runAfter(['commit'], () => 'main')).toMatchObject({ status: 'PASSED' })
  })
})

describe('a run of another branch', () => {
  it('tests the files of the branch in a work tree, which is removed with the run', async () => {
    const repository = await twoBranches()
    const { list, data } = await startListing(repository)
    expect(await list({ branch: 'other' })).toEqual({
      branchName: 'other',
      status: 'PASSED',
      titles: ['a.txt: other', 'b.txt: new'],
    })
    await until(() => workTreesOf(repository) === 0)
    await until(() => readdirSync(join(data, 'runs')).length === 0)
    expect(await repository.git('status', '--porcelain')).toBe('M a.txt')
  })

  it('keeps to the commit that the branch had when the run was started', async () => {
    const repository = await twoBranches()
    const setup = ['sh', '-c', 'sleep 0.3']
    const { service } = await startListing(repository, { setup })
    // Two runs are RUNNING at once, so the third is QUEUED.
    const runIds = await Promise.all([1, 2, 3].map(() => service.startRun({ branch: 'other' })))
    // `git branch` would fail while a work tree is half made.
    await repository.git('update-ref', 'refs/heads/other', 'main')
    for (const runId of runIds) {
      expect((await service.waitFor(runId)).results?.testCases).toHaveLength(2)
    }
  })

  it.each([
    ['of the folder, if origin has another commit of it', 'both', ['a.txt: here']],
    ['that only origin has', 'theirs', ['a.txt: other', 'b.txt: new']],
  ])('tests the branch %s', async (_, branch, titles) => {
    const upstream = await twoBranches()
    for (const name of ['both', 'theirs']) await upstream.git('branch', name, 'other')
    const repository = await aRepository({ 'a.txt': 'here' })
    await repository.git('branch', 'both')
    await repository.git('remote', 'add', 'origin', upstream.folder)
    await repository.git('fetch', '--quiet', 'origin')
    const { list } = await startListing(repository)
    expect(await list({ branch })).toMatchObject({ titles })
  })

  it('is refused with 400 if there is no such branch, whatever else the name means to git', async () => {
    const repository = await twoBranches()
    await repository.git('tag', 'v1')
    // git keeps a remote's HEAD where it keeps the remote's branches.
    await repository.git('remote', 'add', 'origin', repository.folder)
    await repository.git('fetch', '--quiet', 'origin')
    await repository.git('remote', 'set-head', 'origin', 'main')
    const { service } = await startListing(repository)
    const revisions = ['other~1', 'other^{/A commit}', 'other@{0}', 'HEAD', 'v1', '../tags/v1', 'refs/heads/other']
    for (const branch of [...revisions, 'none', '--help', '-q', 'ma\nin', 'ma\0in', '🐙', 'b'.repeat(255)]) {
      const { status, body } = await service.start({ branch })
      expect(status, branch).toBe(400)
      expect(body.error).toMatch(
        /^Project "listing" has no branch ".*"?…?\. Fetch or create it in .*\. In a workflow, give actions\/checkout "fetch-depth: 0"\. To test what is checked out, give the branch "[0-9a-f]{40}"\.$/,
      )
    }
  })

  it('is refused with 400 if the project is in no repository, which runs without a branch', async () => {
    const service = await startService({ projects: { plain: puppetProject(temporaryFolder()) } })
    const error = expect.stringMatching(/^Project "plain" has no branch "main": its folder is in no git repository/)
    expect(await service.start({ branch: 'main' })).toEqual({ status: 400, body: { error } })
    const run = await service.run()
    expect(run.status).toBe('PASSED')
    expect(run).not.toHaveProperty('branchName')
  })

  it('runs in the folder of the project within the repository, and is refused if the branch has none', async () => {
    const repository = await twoBranches()
    await repository.git('switch', '--quiet', '--create', 'shop')
    await repository.commit({ 'packages/shop/b.txt': 'shop' })
    await repository.git('switch', '--quiet', '--create', 'next')
    const { service, list } = await startListing(repository, { folder: join(repository.folder, 'packages/shop') })
    expect(await list({ branch: 'shop' })).toMatchObject({ titles: ['b.txt: shop'] })
    const error = 'Branch "other" has no folder "packages/shop" of project "listing".'
    expect(await service.start({ branch: 'other' })).toEqual({ status: 400, body: { error } })
  })

  it('leaves no work tree when it is cancelled, even a locked one with changes in it', async () => {
    const journal = join(temporaryFolder(), 'journal')
    const repository = await twoBranches()
    const setup = ['sh', '-c', 'echo changed > a.txt; echo new > c.txt; git worktree lock .']
    const service = await startService({ projects: { shop: { ...puppetProject(repository.folder), setup } } })
    const runId = await service.startRun({ branch: 'other', ...puppet({ hangs: true, journal }) })
    await until(async () => (await readJournal(journal)).length > 0)
    expect(workTreesOf(repository)).toBe(1)
    await service.cancel(runId)
    await until(() => workTreesOf(repository) === 0)
    const [{ pid } = { pid: 0 }] = await readJournal(journal)
    expect(isAlive(pid)).toBe(false)
  })

  it('does not run the hooks of the repository', async () => {
    const repository = await twoBranches()
    await repository.write({ '.git/hooks/post-checkout': '#!/bin/sh\ntouch hooked' })
    await chmod(join(repository.folder, '.git/hooks/post-checkout'), 0o755)
    const { list } = await startListing(repository)
    expect(await list({ branch: 'other' })).toMatchObject({ titles: ['a.txt: other', 'b.txt: new'] })
  })

  it('is set up by the command of the project, and INTERRUPTED if that fails', async () => {
    const setup = ['sh', '-c', 'echo "setting up"; test "$BROKEN" != yes && echo done > ready.txt']
    const { service, list } = await startListing(await twoBranches(), { setup })
    expect((await list({ branch: 'other' })).titles).toContain('ready.txt: done')
    const message =
      'setup: `sh -c echo "setting up"; test "$BROKEN" != yes && echo done > ready.txt` exited with code 1'
    const broken = await list({ branch: 'other', envOverrides: { BROKEN: 'yes' } })
    expect(broken).toMatchObject({ status: 'INTERRUPTED', titles: [], message })
    expect(service.log.join('\n')).toContain(message)
  })

  /** Runs of the branch that are prepared without a service. By default, they find this script in place of git. */
  async function withOwnGit(script: (home: string) => string) {
    const repository = await twoBranches()
    const place = await openRepository(repository.folder, PLAIN_ENV)
    if ('kind' in place) throw new Error('There is a repository.')
    const home = temporaryFolder()
    await writeFile(join(home, 'git'), `#!/bin/sh\n${script(home)}`, { mode: 0o755 })
    const checkout = { kind: 'work-tree', place, commit: await repository.git('rev-parse', 'other') } as const
    const ownEnv = { ...PLAIN_ENV, PATH: `${home}:${PLAIN_ENV.PATH}` }
    const aRun = (facts: Partial<RunContext> = {}) => {
      const run = runContextIn(home, { checkout, ...facts }, { folder: repository.folder, framework: 'vitest' })
      return { ...run, gitEnv: { ...ownEnv, LOCAL_SERVICE_RUN_ID: run.runId, ...facts.gitEnv } }
    }
    return { repository, place, home, aRun }
  }

  it('is made and removed in turn with others of the repository, because git would fail', async () => {
    // It takes its time, and notes which work trees there are at its beginning and at its end.
    const { repository, place, home, aRun } = await withOwnGit(
      (folder) => `
      note() { echo "$1 $(ls .git/worktrees | wc -w)" >> "${folder}/log"; }
      note begins
      sleep 0.2
      PATH="\${PATH#*:}" git "$@" || exit
      note ends`,
    )
    const log = () => readFile(join(home, 'log'), 'utf8')
    const remove = ({ runId, resources }: RunContext) =>
      removeResources(
        runId,
        { ...resources, gitFolder: place.gitFolder },
        { personEnv: PLAIN_ENV, logError: expect.unreachable },
      )
    const [first, second, third] = [aRun(), aRun(), aRun()]
    await prepareFiles(first)
    const prepared = prepareFiles(second)
    await until(async () => (await log()).split('begins').length === 3)
    await Promise.all([prepared, remove(first), prepareFiles(third)])
    const notes = (await log()).trim().split('\n')
    expect(notes).toEqual(['begins 0', 'ends 1', 'begins 1', 'ends 2', 'begins 2', 'ends 3'])
    await Promise.all([remove(second), remove(third)])
    expect(workTreesOf(repository)).toBe(0)
  })

  it('leaves nothing of a `git worktree add` that is stopped, before another one begins', async () => {
    // It is stopped at the worst time. Another git command cannot read what it has written so far.
    const { repository, home, aRun } = await withOwnGit(
      (folder) => `
      record=.git/worktrees/$LOCAL_SERVICE_RUN_ID
      tree=${folder}/data/runs/$LOCAL_SERVICE_RUN_ID/$LOCAL_SERVICE_RUN_ID
      mkdir -p "$record" && echo "$tree/.git" > "$record/gitdir" && : > "$record/commondir"
      sleep 300 &
      echo $! > "${folder}/pid"
      wait`,
    )
    const stop = new AbortController()
    const stopped = prepareFiles(aRun({ stop: stop.signal }))
    const [pid = 0] = await pidsIn(join(home, 'pid'))
    const next = prepareFiles(aRun({ gitEnv: PLAIN_ENV }))
    stop.abort()
    await expect(stopped).rejects.toThrow('git worktree failed: it was stopped')
    expect(isAlive(pid)).toBe(false)
    await next
    expect(workTreesOf(repository)).toBe(1)
  })

  // Only there does the system name each file that goes, in the order in which it goes.
  it.runIf(process.platform === 'linux')('is no record to other git commands while it is removed', async () => {
    const repository = await twoBranches()
    const tree = join(temporaryFolder(), 'tree')
    await repository.git('worktree', 'add', '--quiet', tree, 'other')
    const gone: (string | null)[] = []
    const watcher = watch(join(repository.folder, '.git/worktrees/tree'), (_event, name) => gone.push(name))
    onTestFinished(() => watcher.close())
    await removeWorkTree(tree, join(repository.folder, '.git'))
    await until(() => gone.includes('commondir') && gone.includes('HEAD'))
    expect(gone[0]).toBe('gitdir')
    expect(workTreesOf(repository)).toBe(0)
  })

  it('keeps its outcome if its files cannot be removed, and the log says why', async () => {
    // A named pipe stands where git's record names the work tree.
    const setup = ['sh', '-c', 'cd "$(git rev-parse --git-dir)" && rm gitdir && mkfifo gitdir']
    const { service, list } = await startListing(await twoBranches(), { setup })
    expect((await list({ branch: 'other' })).status).toBe('PASSED')
    await until(() =>
      /could not remove everything that it left: .*gitdir is not a regular file/.test(service.log.join('\n')),
    )
  })

  it('has links to the packages of the folder, up to the root of the repository, and changes nothing there', async () => {
    const repository = await aRepository({ '.gitignore': 'node_modules/\n' })
    await installPackages(repository.folder)
    await copyInto(join(repository.folder, 'shop'), WEB_SHOP)
    await repository.commit({})
    await repository.git('branch', '--force', 'other')
    // Vitest keeps the results of its last run there.
    await repository.write({ 'shop/node_modules/.vite/kept.txt': '' })
    const inPackages = async () => {
      const folders = ['node_modules', 'shop/node_modules'].map((name) => join(repository.folder, name))
      return Promise.all(folders.map((folder) => readdir(folder, { recursive: true })))
    }
    const installed = await inPackages()
    const service = await startService({ projects: { shop: { folder: join(repository.folder, 'shop') } } })
    const runId = await service.startRun({ branch: 'other', frameworkProjectName: 'unit' })
    const run = await service.waitFor(runId)
    expect(run).toMatchObject({ status: 'PASSED', branchName: 'other' })
    expect(run.results?.testCases).toHaveLength(10)
    expect(service.log.join('\n')).toContain('with the packages that are installed in')
    expect(await inPackages()).toEqual(installed)
  })

  it('gets no links if the project has a setup, which must install the framework', async () => {
    const repository = await aRepository({ '.gitignore': 'node_modules/\n', 'a.txt': '' })
    await installPackages(repository.folder)
    const projects = { shop: { folder: repository.folder, framework: 'vitest', setup: ['true'] } } as const
    const service = await startService({ projects })
    const { status, message } = await service.run({ branch: 'other' })
    expect(status).toBe('INTERRUPTED')
    expect(message).toContain('vitest is not installed in the work tree. Let "setup" install it')
  })
})
