import { readdirSync } from 'node:fs'
import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { aRepository, type GitRepository, installPackages } from '../../../test/support/git-repository.ts'
import { PASSING_SCRIPT } from '../support/a-job.ts'
import {
  isAlive,
  PLAIN_ENV,
  pidsIn,
  puppetProject,
  startService,
  temporaryFolder,
  until,
} from '../support/a-local-service.ts'

// A runner that passes one test for each file in the folder that it runs in, so that a run lists what was there.
const LISTING_RUNNER = [
  'sh',
  '-c',
  `for name in *; do
     test -f "$name" && cases="$cases$comma{\\"path\\":[\\"$name: $(cat "$name")\\"],\\"status\\":\\"PASSED\\"}" && comma=,
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

async function startListing(repository: GitRepository, projectSettings: object = {}, env = PLAIN_ENV) {
  const data = temporaryFolder()
  const listing = {
    folder: repository.folder,
    framework: 'vitest',
    command: LISTING_RUNNER,
    ...projectSettings,
  } as const
  const service = await startService({ projects: { listing }, dataFolder: data, env })
  const list = async (body: object) => {
    const { branchName, status, results, message } = await service.run(body)
    return { branchName, status, titles: results?.testCases.map(({ title }) => title), message }
  }
  return { service, list, data }
}

describe('a run of what is checked out', () => {
  it('tests the folder itself, without a branch, for the branch by its name and for the commit by its hash', async () => {
    const repository = await twoBranches()
    // For git, a tag of this name comes before the branch.
    await repository.git('tag', 'main')
    const { service, list } = await startListing(repository, { setup: ['false'] })
    const head = await repository.git('rev-parse', 'HEAD')
    for (const [body, branchName] of [
      [{}, 'main'],
      [{ branch: 'main' }, 'main'],
      [{ branch: head }, head],
    ]) {
      expect(await list(body as object)).toEqual({ branchName, status: 'PASSED', titles: ['a.txt: not committed'] })
      expect(service.log.join('\n')).toContain('the folder itself, without its "setup"')
    }
    await repository.git('checkout', '--quiet', '--detach')
    expect(await list({})).toMatchObject({ branchName: undefined, titles: ['a.txt: not committed'] })
  })

  it('is refused for the hash of another commit, and for a part of the hash', async () => {
    const repository = await aRepository({ 'a.txt': 'first' })
    const first = await repository.git('rev-parse', 'HEAD')
    const head = await repository.commit({ 'a.txt': 'second' })
    const { service } = await startListing(repository)
    const next = `To test what is checked out, leave the branch out, or give "${head}".`
    const changed = `Project "listing" has another commit checked out than "${first}". A step may have changed that after the service started.`
    expect(await service.start({ branch: first })).toEqual({ status: 400, body: { error: `${changed} ${next}` } })
    for (const branch of [head.slice(0, 39), head.toUpperCase()]) {
      const error = expect.stringMatching(/ has no branch .* To test what is checked out, leave the branch out, /)
      expect(await service.start({ branch })).toEqual({ status: 400, body: { error } })
    }
  })
})

const HEAD = 'the hash of HEAD'
const changed = (before: string, now: string) => ({
  status: 'INTERRUPTED',
  message: expect.stringMatching(
    `^"${before}" was checked out when the run was requested, and "${now}" when its tests should begin`,
  ),
})

it.each([
  [
    'does not begin if another commit is checked out meanwhile',
    HEAD,
    'commit',
    changed('[0-9a-f]{40}', '[0-9a-f]{40}'),
  ],
  ['does not begin if another branch is checked out meanwhile', 'main', 'switch', changed('main', 'other')],
  ['without a branch does not begin either', undefined, 'switch', changed('main', 'other')],
  ['tests the branch as it is when the run begins', 'main', 'commit', { status: 'PASSED' }],
])('a run of the folder itself that waits for another one %s', async (_, asked, change, expected) => {
  const { folder, git, commit } = await aRepository({ 'a.txt': 'main' })
  const begun = join(temporaryFolder(), 'begun')
  const script = `test "$WAITS" && { echo $$ > ${begun}; exec sleep 600; }; ${PASSING_SCRIPT}`
  const project = { folder, framework: 'vitest', command: ['sh', '-c', script, 'sh'] }
  const service = await startService({ projects: { shop: project } })
  const first = await service.startRun({ envOverrides: { WAITS: 'yes' } })
  const waiting = await service.startRun({ branch: asked === HEAD ? await git('rev-parse', 'HEAD') : asked })
  await pidsIn(begun)
  if (change === 'commit') await commit({ 'a.txt': 'later' })
  else await git('switch', '--quiet', 'other')
  await service.cancel(first)
  expect(await service.waitFor(waiting)).toMatchObject(expected)
})

describe('a run of another branch', () => {
  it('tests the files of the branch in a work tree, without the hooks of the repository, and removes it with the run', async () => {
    const repository = await twoBranches()
    await repository.write({ '.git/hooks/post-checkout': '#!/bin/sh\ntouch hooked' })
    await chmod(join(repository.folder, '.git/hooks/post-checkout'), 0o755)
    const filesOf = () => readdirSync(repository.folder, { recursive: true })
    const before = filesOf()
    const { service, list, data } = await startListing(repository)
    expect(await list({ branch: 'other' })).toEqual({
      branchName: 'other',
      status: 'PASSED',
      titles: ['a.txt: other', 'b.txt: new'],
    })
    const packages = `with the packages that are installed in ${repository.folder}`
    expect(service.log.join('\n')).toContain(packages)
    await until(() => readdirSync(join(data, 'runs')).length === 0)
    expect(filesOf()).toEqual(before)
    expect(await repository.git('status', '--porcelain')).toBe('M a.txt')
  })

  it('is of the repository of the project, also if the service was started in a git hook of another one', async () => {
    const [repository, { folder }] = [await twoBranches(), await aRepository({ 'c.txt': 'of the other repository' })]
    const git = join(folder, '.git')
    const ofHook = { GIT_DIR: git, GIT_WORK_TREE: folder, GIT_INDEX_FILE: join(git, 'index') }
    const { list } = await startListing(repository, {}, { ...PLAIN_ENV, ...ofHook })
    expect(await list({ branch: 'other' })).toMatchObject({ status: 'PASSED', titles: ['a.txt: other', 'b.txt: new'] })
  })

  it('waits for no other work tree, and keeps to the commit that the branch had when the run was started', async () => {
    const repository = await twoBranches()
    const go = join(temporaryFolder(), 'go')
    const setup = ['sh', '-c', `until test -e ${go}; do sleep 0.02; done`]
    const { service } = await startListing(repository, { setup })
    const runIds: string[] = []
    for (const _ of [1, 2, 3]) runIds.push(await service.startRun({ branch: 'other' }))
    const statuses = await Promise.all(runIds.map(async (runId) => (await service.get(runId)).body.status))
    expect(statuses).toEqual(['RUNNING', 'RUNNING', 'QUEUED'])
    await repository.git('branch', '--force', 'other', 'main')
    await writeFile(go, '')
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
    // Both are patterns of git that match a branch.
    await repository.git('branch', 'deep/one')
    const others = ['oth*', 'deep', 'none', '--help', '-q', 'ma\nin', 'ma\0in', '🐙', 'b'.repeat(255)]
    for (const branch of [...revisions, ...others]) {
      const { status, body } = await service.start({ branch })
      expect(status, branch).toBe(400)
      expect(body.error).toMatch(
        /^Project "listing" has no branch ".*"?…?\. Fetch or create it in .*\. In a workflow, give actions\/checkout "fetch-depth: 0"\. To test what is checked out, leave the branch out, or give "[0-9a-f]{40}"\.$/,
      )
    }
  })

  it('is refused with 400 if the project is in no repository, which runs without a branch or for the branch of the job', async () => {
    const root = temporaryFolder()
    const checkoutOfJob = { root, branch: 'main' }
    const service = await startService({ projects: { plain: puppetProject(root) }, checkoutOfJob })
    const error = expect.stringMatching(/^Project "plain" has no branch "other": its folder is in no git repository/)
    expect(await service.start({ branch: 'other' })).toEqual({ status: 400, body: { error } })
    for (const body of [{}, { branch: 'main' }]) {
      const run = await service.run(body)
      expect(run.status).toBe('PASSED')
      expect(run).not.toHaveProperty('branchName')
    }
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

  it('is set up by the command of the project, and INTERRUPTED if that fails', async () => {
    const setup = ['sh', '-c', 'echo "setting up"; test "$BROKEN" != yes && echo done > ready.txt']
    const { service, list } = await startListing(await twoBranches(), { setup })
    expect((await list({ branch: 'other' })).titles).toContain('ready.txt: done')
    const message =
      'setup: `sh -c echo "setting up"; test "$BROKEN" != yes && echo done > ready.txt` exited with code 1'
    const runId = await service.startRun({ branch: 'other', envOverrides: { BROKEN: 'yes' } })
    expect(await service.waitFor(runId)).toMatchObject({ status: 'INTERRUPTED', message, results: { testCases: [] } })
    expect(service.log.join('\n')).toContain(message)
    expect(await service.outputOf(runId)).toBe('setting up\n')
  })

  it('ends with a cancel also while git makes the work tree, and leaves neither git nor the work tree', async () => {
    const repository = await aRepository({ 'a.txt': '', '.gitattributes': '*.txt filter=slow' })
    const begun = join(temporaryFolder(), 'begun')
    await repository.git('config', 'filter.slow.smudge', `echo $$ > ${begun}; sleep 300`)
    const { service, data } = await startListing(repository)
    const runId = await service.startRun({ branch: 'other' })
    const [pid = 0] = await pidsIn(begun)
    await service.cancel(runId)
    await until(() => readdirSync(join(data, 'runs')).length === 0)
    expect(isAlive(pid)).toBe(false)
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
