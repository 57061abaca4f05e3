import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { chmod, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { aRepository, installPackages } from './a-git-repository.ts'
import {
  KEY,
  puppet,
  puppetProject,
  readJournal,
  startService,
  startServiceProcess,
  temporaryFolder,
  until,
  WEB_SHOP,
  writeFiles,
} from './a-local-service.ts'
import { prepareEngine, type TestEngine } from './container-engines.ts'

/** Engines on a busy machine take their time. */
const LIMIT_MS = 120_000

const missing: string[] = []
/** What no engine does in its own way is tested with the first of these. */
const working: string[] = []

describe.each(['podman', 'docker'] as const)("a project's container in %s", { timeout: LIMIT_MS }, (name) => {
  let engine: TestEngine
  let reason: string | undefined

  // Not before a test runs: then nobody would stop it.
  beforeAll(async () => {
    const prepared = await prepareEngine(name)
    if (typeof prepared === 'string') {
      reason = `${name} does not work here: ${prepared}`
      missing.push(reason)
      if (process.env.CONTAINER_TESTS === 'required' && missing.length === 2) {
        throw new Error(`The tests of containers are required, and no engine works:\n${missing.join('\n')}`)
      }
      console.warn(`Tests of containers are skipped, because ${reason}`)
      return undefined
    }
    engine = prepared
    working.push(name)
    return prepared.stop
  }, LIMIT_MS)

  beforeEach(({ skip }) => skip(reason !== undefined, reason))

  async function startContained(settings: object = {}, projectSettings: object = {}) {
    const folder = await temporaryFolder()
    const project = { ...puppetProject(folder), container: engine.container, ...projectSettings }
    const env = { ...engine.env, OF_THE_PERSON: 'not for the tests' }
    const service = await startService({ projects: { shop: project }, ...settings }, { env })
    return { service, folder, journal: join(folder, 'journal') }
  }

  const begun = (journal: string) => until(async () => (await readJournal(journal)).length > 0)

  it('runs the tests, and its report is read from the outside', async () => {
    const { service } = await startContained()
    const run = await service.waitFor(await service.startRun(puppet({ tellsVariables: ['INSIDE'] })))
    expect(run).toMatchObject({ status: 'PASSED', results: { testCases: [{ title: 'puppet > INSIDE=a container' }] } })
    const failing = await service.startRun(puppet({ cases: [['adds', 'failed']], exitCode: 1 }))
    expect(await service.waitFor(failing)).toMatchObject({
      status: 'FAILED',
      results: { testCases: [{ title: 'puppet > adds', status: 'FAILED' }] },
    })
    expect(await engine.names()).toEqual([])
  })

  it('is removed by the next start if the service was killed, and a cancel that was accepted counts', async () => {
    const folder = await temporaryFolder()
    const [config, data] = [join(folder, 'config.json'), await temporaryFolder()]
    const project = { ...puppetProject(folder), container: engine.container }
    await writeFile(config, JSON.stringify({ keys: [KEY], stopGraceSeconds: 60, projects: { shop: project } }))
    const first = startServiceProcess({ config, data, env: engine.env })
    const client = await first.ready()
    const runIds: string[] = []
    for (const name of ['interrupted', 'cancelled']) {
      const journal = join(folder, name)
      runIds.push(await client.startRun(puppet({ hangs: true, ignores: ['SIGINT'], journal })))
      await begun(journal)
    }
    await client.cancel(runIds[1] ?? '')
    await first.kill()
    expect(await engine.names()).toHaveLength(2)

    const next = await startServiceProcess({ config, data, env: engine.env }).ready()
    expect(await engine.names()).toEqual([])
    const statuses = await Promise.all(runIds.map(async (runId) => (await next.get(runId)).body.status))
    expect(statuses).toEqual(['INTERRUPTED', 'CANCELLED'])
  })

  it('that cannot be created makes the run INTERRUPTED, and the log has the words of the engine', async () => {
    const { service } = await startContained({}, { container: { ...engine.container, options: ['--no-such-option'] } })
    expect(await service.waitFor(await service.startRun())).toMatchObject({ status: 'INTERRUPTED' })
    expect(service.log.join('\n')).toMatch(
      /could not be started: \w+ could not create a container of .*; its output:[\s\S]*no-such-option/,
    )
  })

  it.each([
    ['Node', {}, { command: ['no-such-node'] }, /the image \S+ cannot run no-such-node; its output/],
    ['sh', { options: [] }, { command: ['true'] }, /could not be started: .*localhost\/base:1/],
    ['everything', { image: 'localhost/none:1' }, {}, /the container image localhost\/none:1 is not on this machine/],
  ])('whose image lacks %s makes the run INTERRUPTED, and the log says so', async (_what, changes, settings, message) => {
    const { service } = await startContained({}, { container: { ...engine.container, ...changes }, ...settings })
    const run = await service.waitFor(await service.startRun())
    expect(run.status, service.log.join('\n')).toBe('INTERRUPTED')
    expect(service.log.join('\n')).toMatch(message)
    expect(service.log.join('\n')).toContain(run.results?.testCases[0]?.title)
  })

  it('that is cancelled while the engine creates it is never left', async () => {
    const folder = await temporaryFolder()
    const [bin, creating, proceed] = [join(folder, 'bin'), join(folder, 'creating'), join(folder, 'proceed')]
    // Docker's daemon gets the request while it does not respond; Podman has none, so its client waits.
    const { daemonId } = engine
    const freeze = daemonId === undefined ? ':' : `kill -STOP ${daemonId}`
    const wait = daemonId === undefined ? `until test -e ${proceed}; do sleep 0.05; done` : ':'
    const script = `#!/bin/sh
      if test "$1" = create; then ${freeze}; touch ${creating}; ${wait}; fi
      PATH=\${PATH#*:}
      exec ${engine.name} "$@"`
    await writeFiles(bin, { [engine.name]: script })
    await chmod(join(bin, engine.name), 0o755)
    const env = { ...engine.env, PATH: `${bin}:${engine.env.PATH}` }
    const projects = { shop: { ...puppetProject(folder), container: engine.container } }
    const service = await startService({ projects }, { env })
    const runId = await service.startRun(puppet({ hangs: true }))
    await until(() => existsSync(creating))
    await service.cancel(runId)
    if (daemonId !== undefined) process.kill(daemonId, 'SIGCONT')
    await writeFile(proceed, '')
    expect(await service.waitFor(runId)).toMatchObject({ status: 'CANCELLED' })
    expect(await engine.names()).toEqual([])
  })

  it('is stopped at once by SIGINT if the program in it has no handler, and keeps no log', async () => {
    const { service, folder } = await startContained(
      { stopGraceSeconds: 600 },
      { command: ['sh', '-c', 'touch begun; exec sleep 600'] },
    )
    const runId = await service.startRun()
    await until(() => existsSync(join(folder, 'begun')))
    const driver = await engine.call('inspect', '--format', '{{.HostConfig.LogConfig.Type}}', `test-run-${runId}`)
    expect(driver.trim()).toBe('none')
    await service.cancel(runId)
    expect(await service.waitFor(runId)).toMatchObject({ status: 'CANCELLED' })
  })

  describe('by whichever engine', () => {
    beforeEach(({ skip }) => skip(engine.name !== working[0], `${working[0]} has run it`))

    it('gets the environment without the image losing its own', async () => {
      const { service } = await startContained()
      const { envOverrides } = puppet({ tellsVariables: ['SECRET', 'CI', 'OF_THE_PERSON', 'INSIDE'] })
      const SECRET = `it's "a"\n$(secret) \\ value`
      const run = await service.waitFor(await service.startRun({ envOverrides: { SECRET, ...envOverrides } }))
      expect(run.results?.testCases.map(({ title }) => title)).toEqual([
        `puppet > SECRET=${SECRET}`,
        'puppet > CI=true',
        'puppet > OF_THE_PERSON=undefined',
        'puppet > INSIDE=a container',
      ])
    })

    it('shows no value of a variable on a command line of this machine', async () => {
      const { service, journal } = await startContained()
      const { envOverrides } = puppet({ hangs: true, journal })
      await service.startRun({ envOverrides: { ...envOverrides, SECRET: 'not-to-be-seen' } })
      await begun(journal)
      expect(commandLines().filter((line) => line.includes('--attach'))).not.toEqual([])
      expect(commandLines().filter((line) => line.includes('not-to-be-seen'))).toEqual([])
    })

    it('does not get a variable whose name no shell can export, and the log says so', async () => {
      const { service } = await startContained()
      await service.waitFor(await service.startRun({ envOverrides: { 'a.b': 'x' } }))
      expect(service.log.join('\n')).toContain('the container does not get the variable "a.b"')
    })

    it.each([
      ['the linked packages', {}],
      [
        'a setup in a container',
        {
          setup: [
            'sh',
            '-c',
            'test -n "$INSIDE" && mkdir -p node_modules/tool && echo installed > node_modules/tool/a.txt',
          ],
        },
      ],
    ])('tests a work tree with %s', async (_case, settings) => {
      const repository = await aRepository({ '.gitignore': 'node_modules\n', 'a.txt': 'main' })
      await repository.write({ 'node_modules/tool/a.txt': 'installed' })
      const script = 'test "$(cat a.txt)" = main && grep -q installed node_modules/tool/a.txt && git log && exec "$@"'
      const command = ['sh', '-c', script, 'sh', ...puppetProject().command]
      const project = { ...puppetProject(repository.folder), command, container: engine.container, ...settings }
      const service = await startService({ projects: { shop: project } }, { env: engine.env })
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
      const project = { folder, environments, container: engine.container }
      const service = await startService({ projects: { shop: project } }, { env: engine.env })
      const run = await service.waitFor(await service.startRun({ environment: 'image' }))
      const title = `${process.execPath} in a container`
      expect(run.status, service.log.join('\n')).toBe('PASSED')
      expect(run.results?.testCases.map((one) => one.title).sort()).toEqual([`[one] > ${title}`, `[two] > ${title}`])
    })

    it('can read the history of a folder that is tested as it stands, and not change its git configuration', async () => {
      const repository = await aRepository({ 'a.txt': 'main' })
      const script = 'git log && ! git config core.fsmonitor /anything && touch created && exec "$@"'
      const command = ['sh', '-c', script, 'sh', ...puppetProject().command]
      const project = { ...puppetProject(repository.folder), command, container: engine.container }
      const service = await startService({ projects: { shop: project } }, { env: engine.env })
      expect(await service.waitFor(await service.startRun())).toMatchObject({ status: 'PASSED', branchName: 'main' })
      expect(await repository.git('status', '--porcelain')).toBe('?? created')
    })

    it('is stopped by a cancel, and the run is CANCELLED when the container is gone', async () => {
      const { service, journal } = await startContained()
      const runId = await service.startRun(puppet({ hangs: true, ignores: ['SIGINT'], journal }))
      await begun(journal)
      expect(await engine.names()).toEqual([`test-run-${runId}`])
      expect(await service.cancel(runId)).toEqual({ status: 200, body: { cancelled: [{ runId }] } })
      expect((await service.get(runId)).body.status).toBe('RUNNING')
      expect(await service.cancel(runId)).toEqual({ status: 200, body: { cancelled: [{ runId }] } })
      expect(await service.waitFor(runId)).toMatchObject({ status: 'CANCELLED', results: { testCases: [] } })
      expect(await engine.names()).toEqual([])
      expect((await readJournal(journal)).map(({ event }) => event)).toEqual(['begins', 'SIGINT'])
    })

    it('is stopped when the run exceeds its limit, which then lists what was reported', async () => {
      const { service } = await startContained({ runLimitMinutes: 0.03 })
      const run = await service.waitFor(await service.startRun(puppet({ hangs: true })))
      expect(run).toMatchObject({ status: 'TIMEDOUT', results: { testCases: [{ title: 'puppet > adds' }, {}] } })
      expect(await engine.names()).toEqual([])
    })

    it('is stopped when the service stops', async () => {
      const { service, journal } = await startContained()
      await service.startRun(puppet({ hangs: true, journal }))
      await begun(journal)
      await service.close()
      expect(await engine.names()).toEqual([])
      expect(service.log.join('\n')).toContain('INTERRUPTED')
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
        mkfifo pipe; echo changed > a.txt; exec "$@"`
      const project = {
        ...puppetProject(repository.folder),
        command: ['sh', '-c', attack, 'sh', ...puppetProject().command],
        autofix: [
          'sh',
          '-c',
          `echo fixed > b.txt; git -C inner config core.fsmonitor '${evil}; false'; echo y > inner/x`,
        ],
        container: engine.container,
      }
      const service = await startService({ projects: { shop: project } }, { env: engine.env })
      const failing = puppet({ cases: [['adds', 'failed']], exitCode: 1 })
      const runId = await service.startRun({ branch: 'main', autofix: true, ...failing })
      await until(() => service.log.some((line) => /auto-fix: 1 test case failed before/.test(line)))
      expect(await repository.git('show', '--name-only', '--format=', `autofix/${runId}`)).toContain('b.txt')
      expect(existsSync(escaped)).toBe(false)
    })

    it('cannot make a repository for the next run, or for the next start of the service', async () => {
      const escaped = join(await temporaryFolder(), 'escaped')
      const repository = await aRepository({ 'packages/shop/a.txt': 'main' })
      const folder = join(repository.folder, 'packages/shop')
      const attack = `
        mv ../../packages ../../moved; mv ../shop ../moved
        test "$ATTACKS" != yes || { git init --quiet --initial-branch=main . && echo '* filter=evil' > .gitattributes &&
          git config filter.evil.smudge 'echo escaped >> ${escaped}; cat' && git config core.fsmonitor 'echo escaped >> ${escaped}' &&
          git add . && git -c user.name=x -c user.email=x commit --quiet --message evil; }
        exec "$@"`
      const command = ['sh', '-c', attack, 'sh', ...puppetProject().command]
      const projects = { shop: { ...puppetProject(folder), command, container: engine.container } }
      const dataFolder = join(await temporaryFolder(), 'data')
      const first = await startService({ projects, data: dataFolder }, { env: engine.env })
      const journal = join(dirname(folder), 'journal')
      const { envOverrides } = puppet({ hangs: true, journal })
      const inPlace = await first.startRun({ envOverrides: { ...envOverrides, ATTACKS: 'yes' } })
      await begun(journal)
      expect(await first.waitFor(await first.startRun({ branch: 'main' }))).toMatchObject({ status: 'PASSED' })
      await first.close()
      expect(await readdir(folder)).toEqual([`.git-made-during-run-${inPlace.slice(0, 8)}`, '.gitattributes', 'a.txt'])
      const second = await startService({ projects, data: dataFolder }, { env: engine.env })
      expect(await second.waitFor(await second.startRun({ branch: 'main' }))).toMatchObject({ status: 'PASSED' })
      expect(existsSync(escaped)).toBe(false)
    })

    it('cannot change the packages that other runs use', async () => {
      const repository = await aRepository({ '.gitignore': 'node_modules\n' })
      await repository.write({ 'node_modules/tool/a.txt': 'installed' })
      const tool = join(repository.folder, 'node_modules/tool')
      const attack = `echo changed > node_modules/tool/a.txt || echo changed > ${tool}/a.txt || touch ${tool}/new || rm -rf ${tool}/*
        mkdir -p node_modules/.vite-temp && touch node_modules/.vite-temp/own && exec "$@"`
      const command = ['sh', '-c', attack, 'sh', ...puppetProject().command]
      const project = { ...puppetProject(repository.folder), command, container: engine.container }
      const service = await startService({ projects: { shop: project } }, { env: engine.env })
      expect(await service.waitFor(await service.startRun({ branch: 'main' }))).toMatchObject({ status: 'PASSED' })
      expect(await repository.read('node_modules/tool/a.txt')).toBe('installed')
      expect(await readdir(join(repository.folder, 'node_modules'))).toEqual(['tool'])
    })

    it('gets no folder of this machine by a link in place of the packages', async () => {
      const secrets = await temporaryFolder()
      await writeFiles(secrets, { 'secret.txt': 'secret' })
      const repository = await aRepository({ 'a.txt': 'main' })
      const script = `cat ${secrets}/secret.txt && exit 3; rm -f node_modules; ln -s ${secrets} node_modules; exec "$@"`
      const command = ['sh', '-c', script, 'sh', ...puppetProject().command]
      const project = { ...puppetProject(repository.folder), command, container: engine.container }
      const service = await startService({ projects: { shop: project } }, { env: engine.env })
      for (const body of [{}, {}, { branch: 'main' }]) {
        expect(await service.waitFor(await service.startRun(body))).toMatchObject({ status: 'PASSED' })
      }
    })
  })
})

describe('a container engine', () => {
  /** A service whose engines are scripts. */
  async function startWith(engines: Readonly<Record<string, string>>, engine?: string) {
    const folder = await temporaryFolder()
    for (const [name, script] of Object.entries(engines)) {
      await writeFile(join(folder, name), `#!/bin/sh\nfolder=${folder}\n${script}\n`, { mode: 0o755 })
    }
    const container = { image: 'node:24', ...(engine ? { engine } : {}) }
    const projects = { shop: { ...puppetProject(folder), container: container as never } }
    const env = { PATH: `${folder}:/usr/bin:/bin` }
    const data = await temporaryFolder()
    const start = () => startService({ projects, data }, { env, responseLimitMs: 2000 })
    return { service: await start(), folder, startAgain: start }
  }

  it.each([
    [undefined, 'docker: spawn docker ENOENT; podman: spawn podman ENOENT'],
    ['podman', 'podman: spawn podman ENOENT'],
  ])('that does not exist makes a start be refused with a sentence (engine: %s)', async (engine, reason) => {
    const project = { ...puppetProject(WEB_SHOP), container: { image: 'node:24', ...(engine ? { engine } : {}) } }
    const service = await startService({ projects: { shop: project as never } }, { env: { PATH: '/nowhere' } })
    // Without git on the PATH, the folder is in no repository.
    expect(await service.start()).toEqual({
      status: 500,
      body: { error: `Project "shop" needs a container engine, and none works: ${reason}.` },
    })
  })

  it('that does not respond makes a start be refused with a sentence', async () => {
    const { service } = await startWith({ docker: 'exec sleep 300' }, 'docker')
    const error = 'Project "shop" needs a container engine, and none works: docker: did not respond within 2 s.'
    expect(await service.start()).toEqual({ status: 500, body: { error } })
  })

  it('that asks a question has its words in a sentence with one end', async () => {
    const { service } = await startWith(
      { docker: 'echo "No daemon. Is the docker daemon running?" >&2; exit 1' },
      'docker',
    )
    const { error } = (await service.start()).body
    expect(error).toMatch(/No daemon\. Is the docker daemon running\.$/)
  })

  it('is named in the log, with the reason why it is not the first', async () => {
    const { service } = await startWith({ docker: 'echo "no daemon" >&2; exit 1', podman: 'exit 0' })
    const runId = await service.startRun()
    expect(service.log.join('\n')).toContain(`run ${runId} runs in containers of podman (docker: no daemon)`)
  })

  it.each([
    ['disappears', 'exit 1', 'no daemon'],
    ['does not respond any more', 'exec sleep 300', 'did not respond within 2 s'],
  ])('that %s during a run blocks neither its end nor that of the service, and the log says what is left', async (_how, end, words) => {
    const gone = `if test -e $folder/gone; then echo "no daemon" >&2; ${end}; fi`
    const tests = 'test "$1" = start && { touch $folder/gone; exit 1; }'
    const list = 'test "$1" = ps && test -e $folder/created && echo id; test "$1" = create && touch $folder/created'
    const { service, folder, startAgain } = await startWith(
      { docker: `${gone}; ${list}; ${tests}; test "$1" = rm && rm $folder/created; exit 0` },
      'docker',
    )
    const runId = await service.startRun()
    expect(await service.waitFor(runId)).toMatchObject({ status: 'INTERRUPTED' })
    const left = `docker: ${words}; a container of the run may still be there, and the next start of the service looks for it`
    await until(() => service.log.join('\n').includes(left))
    await rm(join(folder, 'gone'))
    await service.close()
    const next = await startAgain()
    expect(next.log.join('\n')).toContain(`run ${runId} removed what was left of it: 1 container`)
  })

  it('that lacks the program for --init runs the container without it', async () => {
    const { service, folder } = await startWith(
      {
        podman: `case "$*" in "create --init"*) echo "Error: container-init binary not found" >&2; exit 125;; esac
          case "$1" in create | start) echo "$1" >> $folder/done;; inspect) echo "false 0 2026-01-01";; esac`,
      },
      'podman',
    )
    await service.waitFor(await service.startRun())
    expect(await readFile(join(folder, 'done'), 'utf8')).toBe('create\nstart\n')
  })

  it('that does not respond to a cancel does not keep the run', async () => {
    const { service, folder } = await startWith(
      {
        docker:
          'test -e $folder/frozen && exec sleep 300; test "$1" = start && { touch $folder/frozen; exec sleep 300; }; exit 0',
      },
      'docker',
    )
    const runId = await service.startRun()
    await until(() => existsSync(join(folder, 'frozen')))
    await service.cancel(runId)
    expect(await service.waitFor(runId)).toMatchObject({ status: 'CANCELLED' })
    await service.close()
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
