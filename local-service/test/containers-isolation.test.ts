import { readdirSync, readFileSync, statSync } from 'node:fs'
import { chmod, mkdir, readdir, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { aRepository, installPackages, writeFiles } from '../../test/support/git-repository.ts'
import type { Settings } from '../src/configuration.ts'
import { clientOf, KEY, puppet, readJournal, startService, temporaryFolder, until } from './a-local-service.ts'
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

  it('gets a copy of a folder that is tested as it stands, and nothing of its repository', async () => {
    const { folder, git, write, read } = await aRepository({
      '.gitignore': 'ignored\n',
      'a.txt': 'main',
      'shop/b.txt': '',
    })
    await write({ 'a.txt': 'changed', ignored: 'ignored', 'shop/inner/.git': 'gitdir: /nowhere' })
    await symlink(join(folder, 'a.txt'), join(folder, 'shop/outwards'))
    await symlink('b.txt', join(folder, 'shop/inwards'))
    const command = puppetAfter(`
      test "$(cat ../a.txt ../ignored)" = changedignored && test -f inwards && test -L outwards || exit 3
      test ! -e outwards && test ! -e ${folder} && test ! -e ../.git && test ! -e inner/.git || exit 4
      echo poisoned > ../a.txt; touch created`)
    const { service } = await startContained(theEngine(), { folder: join(folder, 'shop'), command })
    expect(await service.waitFor(await service.startRun())).toMatchObject({ status: 'PASSED', branchName: 'main' })
    expect(await read('a.txt')).toBe('changed')
    expect(await git('status', '--porcelain')).not.toContain('created')
  })

  it('cannot reach the files of another project of its repository, or make a repository of them', async () => {
    const engine = theEngine()
    const secrets = await temporaryFolder()
    await writeFiles(secrets, { 'secret.txt': 'secret' })
    const repository = await aRepository({ 'packages/a/a.txt': '', 'packages/b/b.txt': 'b' })
    const evil = `echo escaped >> ${secrets}/escaped`
    const attack = puppetAfter(`
      for b in ../b ${repository.folder}/packages/b; do
        mkdir -p $b && git init --quiet --initial-branch=main $b && echo '* filter=evil' > $b/.gitattributes &&
          git -C $b config filter.evil.smudge '${evil}; cat' && git -C $b config core.fsmonitor '${evil}' &&
          git -C $b add . && git -C $b -c user.name=x -c user.email=x commit --quiet --message evil || exit 3
      done
      mv ../b ../moved; ln -s ${secrets} ../b; mv ${repository.folder}/packages/b ${repository.folder}/moved
      ln -s ${secrets} ${repository.folder}/packages/b`)
    const look = puppetAfter(`test "$(cat b.txt)" = b && ! cat secret.txt ${secrets}/secret.txt || exit 3`)
    const projectIn = (folder: string, command: string[]) => ({
      ...{ folder: join(repository.folder, folder), framework: 'vitest', command, container: engine.container },
    })
    const projects = { a: projectIn('packages/a', attack), b: projectIn('packages/b', look) } as Settings['projects']
    const data = join(await temporaryFolder(), 'data')
    for (const _start of ['first', 'second']) {
      const service = await startService({ projects }, { env: engine.env, dataFolder: data })
      for (const [project, body] of [
        ['a', {}],
        ['a', { branch: 'main' }],
        ['b', {}],
        ['b', { branch: 'main' }],
      ]) {
        const client = clientOf(service.url, KEY, String(project))
        const run = await client.waitFor(await client.startRun(body as object))
        expect(run.status, service.log.join('\n')).toBe('PASSED')
      }
      await service.close()
    }
    expect(await repository.git('status', '--porcelain')).toBe('')
    expect(await readdir(secrets)).toEqual(['secret.txt'])
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

  it('cannot open a folder to which it can write to other users of this machine', async () => {
    const data = await temporaryFolder()
    for (const folder of [data, join(data, 'trees')]) {
      await mkdir(folder, { recursive: true })
      await chmod(folder, 0o755)
    }
    const open = `
      for folder in . "$TMPDIR" "$(dirname "$LOCAL_SERVICE_REPORT_FILE")"; do
        at=$(cd "$folder" && pwd); chmod 777 "$at" "$at/.."
        cp /bin/true "$at"; chmod 4755 "$at/true"; echo "$at" >> "$OPENED"
      done`
    const { service, journal, outside } = await startContained(theEngine(), { command: puppetAfter(open) }, { data })
    const opened = join(outside, 'opened')
    const { envOverrides } = puppet({ hangs: true, journal })
    await service.startRun({ envOverrides: { ...envOverrides, OPENED: opened } })
    await begun(journal)
    const folders = readFileSync(opened, 'utf8').trim().split('\n')
    expect(folders).toHaveLength(3)
    for (const folder of folders) {
      expect(statSync(join(folder, 'true')).mode & 0o7777).toBe(0o4755)
      const around = statSync(dirname(folder))
      expect([around.mode & 0o777, around.uid], folder).toEqual([0o700, process.getuid?.()])
    }
  })

  it('gets nothing of a file of this machine to which the manifest of its framework is a link', async () => {
    const secrets = await temporaryFolder()
    await writeFiles(secrets, { 'package.json': '{"bin": "secret"}' })
    const install = `mkdir -p node_modules/vitest; ln -s ${secrets}/package.json node_modules/vitest`
    const { service } = await startContained(theEngine(), { setup: ['sh', '-c', install], command: undefined })
    const { message } = await service.waitFor(await service.startRun())
    expect(message).toMatch(/^vitest is not installed in the work tree, in its root/)
  })

  it('gets no folder of this machine by a link in place of the packages', async () => {
    const secrets = await temporaryFolder()
    await writeFiles(secrets, { 'secret.txt': 'secret' })
    const { folder } = await aRepository({ '.gitignore': 'node_modules', 'a.txt': 'main' })
    await symlink(secrets, join(folder, 'node_modules'))
    const command = puppetAfter(`cat ${secrets}/secret.txt node_modules/secret.txt && exit 3`)
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
