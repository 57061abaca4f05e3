import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { aRepository, installPackages } from './a-git-repository.ts'
import { puppet, readJournal, startService, temporaryFolder, until, writeFiles } from './a-local-service.ts'
import { ENGINE_LIMIT_MS, puppetAfter, startContained, useEngine } from './container-engines.ts'

const isRequired = process.env.CONTAINER_TESTS === 'required'

describe("a project's container, by whichever engine", { timeout: ENGINE_LIMIT_MS }, () => {
  const theEngine = useEngine(['docker', 'podman'], isRequired)

  const begun = (journal: string) => until(async () => (await readJournal(journal)).length > 0)

  it('is stopped by a cancel, and no command line of this machine shows the value of a variable', async () => {
    const engine = theEngine()
    const { service, journal } = await startContained(engine)
    const { envOverrides } = puppet({ hangs: true, ignores: ['SIGINT'], journal })
    const runId = await service.startRun({ envOverrides: { ...envOverrides, SECRET: 'not-to-be-seen' } })
    await begun(journal)
    expect(commandLines().filter((line) => line.includes('--attach'))).not.toEqual([])
    expect(commandLines().filter((line) => line.includes('not-to-be-seen'))).toEqual([])
    expect(await engine.names()).toEqual([`test-run-${runId}`])
    expect(await service.cancel(runId)).toEqual({ status: 200, body: { cancelled: [{ runId }] } })
    // The run is CANCELLED when the container is gone.
    expect((await service.get(runId)).body.status).toBe('RUNNING')
    expect(await service.cancel(runId)).toEqual({ status: 200, body: { cancelled: [{ runId }] } })
    expect(await service.waitFor(runId)).toMatchObject({ status: 'CANCELLED', results: { testCases: [] } })
    expect(await engine.names()).toEqual([])
    expect((await readJournal(journal)).map(({ event }) => event)).toEqual(['begins', 'SIGINT'])
  })

  it('tests a work tree after a setup in a container', async () => {
    const repository = await aRepository({ '.gitignore': 'node_modules\n', 'a.txt': 'main' })
    const install = 'test -n "$INSIDE" && mkdir -p node_modules/tool && echo installed > node_modules/tool/a.txt'
    const { service } = await startContained(theEngine(), {
      folder: repository.folder,
      setup: ['sh', '-c', install],
      command: puppetAfter('test "$(cat a.txt)" = main && grep -q installed node_modules/tool/a.txt || exit 3'),
    })
    expect(await service.waitFor(await service.startRun({ branch: 'main' }))).toMatchObject({ status: 'PASSED' })
  })

  it("runs the project's own Vitest by the image's Node, with the reporter of this service", async () => {
    const folder = await temporaryFolder()
    await installPackages(folder)
    await writeFiles(folder, {
      'vitest.config.mjs': `export default { test: { projects: [
        { test: { name: 'one', include: ['*.test.js'] } }, { test: { name: 'two', include: ['*.test.js'] } }] } }`,
      'node.test.js': `import { it } from 'vitest'\nit(process.execPath + ' in ' + process.env.INSIDE, () => {})`,
    })
    const environments = { image: { PATH: `${dirname(process.execPath)}:/usr/bin:/bin` } }
    const project = { folder, environments, container: theEngine().container }
    const service = await startService({ projects: { shop: project } }, { env: theEngine().env })
    const run = await service.waitFor(await service.startRun({ environment: 'image' }))
    const title = `${process.execPath} in a container`
    expect(run.status, service.log.join('\n')).toBe('PASSED')
    expect(run.results?.testCases.map((one) => one.title).sort()).toEqual([`[one] > ${title}`, `[two] > ${title}`])
  })

  it('can read the history of a folder that is tested as it stands, and not change its git configuration', async () => {
    const { folder, git } = await aRepository({ 'a.txt': 'main' })
    const command = puppetAfter('git log && ! git config core.fsmonitor /anything && touch created || exit 3')
    const { service } = await startContained(theEngine(), { folder, command })
    expect(await service.waitFor(await service.startRun())).toMatchObject({ status: 'PASSED', branchName: 'main' })
    expect(await git('status', '--porcelain')).toBe('?? created')
  })

  it('cannot make git run a program outside, however it replaces what git reads', async () => {
    const escaped = join(await temporaryFolder(), 'escaped')
    const evil = `echo escaped >> ${escaped}`
    const repository = await aRepository({ '.gitignore': 'node_modules\n', 'a.txt': 'main', 'run.sh': ':' })
    // A filter of the person's own, which runs a program of the work tree.
    await repository.git('config', 'filter.own.clean', 'sh ./run.sh')
    const attack = `
      rm -rf .git; git init .
      git config --file .git/config core.fsmonitor '${evil}; false'
      git init --quiet inner && echo x > inner/x && git -C inner add . && git -C inner -c user.name=x -c user.email=x commit -qm x
      git -C inner config core.fsmonitor '${evil}; false'; git -C inner config filter.evil.clean '${evil}; cat'
      echo '* filter=evil' > inner/.gitattributes; echo changed > inner/x
      printf '* filter=evil\\n*.txt filter=own\\n' > .gitattributes; echo '${evil}; cat' > run.sh
      mkfifo pipe; echo changed > a.txt`
    const fix = `echo fixed > b.txt; git -C inner config core.fsmonitor '${evil}; false'; echo y > inner/x`
    const { service } = await startContained(theEngine(), {
      folder: repository.folder,
      command: puppetAfter(attack),
      autofix: ['sh', '-c', fix],
    })
    const failing = puppet({ cases: [['adds', 'failed']], exitCode: 1 })
    const runId = await service.startRun({ branch: 'main', autofix: true, ...failing })
    await until(() => service.log.some((line) => /auto-fix: 1 test case failed before/.test(line)))
    expect(await repository.git('show', '--name-only', '--format=', `autofix/${runId}`)).toContain('b.txt')
    expect(existsSync(escaped)).toBe(false)
  })

  it('cannot make a repository for the next run, or for the next start of the service', async () => {
    const engine = theEngine()
    const escaped = join(await temporaryFolder(), 'escaped')
    const repository = await aRepository({ 'packages/shop/a.txt': 'main' })
    const folder = join(repository.folder, 'packages/shop')
    const command = puppetAfter(`
      mv ../../packages ../../moved; mv ../shop ../moved
      test "$ATTACKS" != yes || { git init --quiet --initial-branch=main . && echo '* filter=evil' > .gitattributes &&
        git config filter.evil.smudge 'echo escaped >> ${escaped}; cat' && git config core.fsmonitor 'echo escaped >> ${escaped}' &&
        git add . && git -c user.name=x -c user.email=x commit --quiet --message evil; }`)
    const data = join(await temporaryFolder(), 'data')
    const { service: first } = await startContained(engine, { folder, command }, { data })
    const journal = join(dirname(folder), 'journal')
    const { envOverrides } = puppet({ hangs: true, journal })
    const inPlace = await first.startRun({ envOverrides: { ...envOverrides, ATTACKS: 'yes' } })
    await begun(journal)
    expect(await first.waitFor(await first.startRun({ branch: 'main' }))).toMatchObject({ status: 'PASSED' })
    await first.close()
    expect(await engine.names()).toEqual([])
    expect(await readdir(folder)).toEqual([`.git-made-during-run-${inPlace.slice(0, 8)}`, '.gitattributes', 'a.txt'])
    const { service: second } = await startContained(engine, { folder, command }, { data })
    expect(await second.waitFor(await second.startRun({ branch: 'main' }))).toMatchObject({ status: 'PASSED' })
    expect(existsSync(escaped)).toBe(false)
  })

  it('reads the packages that other runs use, and cannot change them', async () => {
    const repository = await aRepository({ '.gitignore': 'node_modules\n' })
    await repository.write({ 'node_modules/tool/a.txt': 'installed' })
    const tool = join(repository.folder, 'node_modules/tool')
    const command = puppetAfter(`
      grep -q installed node_modules/tool/a.txt || exit 3
      echo changed > node_modules/tool/a.txt || echo changed > ${tool}/a.txt || touch ${tool}/new || rm -rf ${tool}/*
      mkdir -p node_modules/.vite-temp && touch node_modules/.vite-temp/own || exit 3`)
    const { service } = await startContained(theEngine(), { folder: repository.folder, command })
    expect(await service.waitFor(await service.startRun({ branch: 'main' }))).toMatchObject({ status: 'PASSED' })
    expect(await repository.read('node_modules/tool/a.txt')).toBe('installed')
    expect(await readdir(join(repository.folder, 'node_modules'))).toEqual(['tool'])
  })

  it('gets no folder of this machine by a link in place of the packages', async () => {
    const secrets = await temporaryFolder()
    await writeFiles(secrets, { 'secret.txt': 'secret' })
    const { folder } = await aRepository({ 'a.txt': 'main' })
    const command = puppetAfter(
      `cat ${secrets}/secret.txt && exit 3; rm -f node_modules; ln -s ${secrets} node_modules`,
    )
    const { service } = await startContained(theEngine(), { folder, command })
    for (const body of [{}, { branch: 'main' }]) {
      expect(await service.waitFor(await service.startRun(body))).toMatchObject({ status: 'PASSED' })
    }
  })
})

function commandLines(): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => {
      try {
        return readFileSync(`/proc/${name}/cmdline`, 'utf8')
      } catch {
        // It has exited meanwhile.
        return ''
      }
    })
}
