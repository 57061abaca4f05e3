import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runInContainer } from '../src/containers/container.ts'
import { PLAIN_ENV, puppetProject, startService, temporaryFolder, until } from './a-local-service.ts'

/** A service whose container engines are scripts; `engine` is the one that the project names. */
async function startWith(engines: Readonly<Record<string, string>>, engine?: string, options?: string[]) {
  const folder = await temporaryFolder()
  for (const [name, script] of Object.entries(engines)) {
    await writeFile(join(folder, name), `#!/bin/sh\nfolder=${folder}\n${script}\n`, { mode: 0o755 })
  }
  const container = { image: 'node:24', ...(engine ? { engine } : {}), ...(options ? { options } : {}) }
  const projects = { shop: { ...puppetProject(folder), container: container as never } }
  const env = { PATH: `${folder}:/usr/bin:/bin` }
  const data = await temporaryFolder()
  const start = () => startService({ projects }, { env, responseLimitMs: 2000, dataFolder: data })
  return { service: await start(), folder, data, startAgain: start }
}

const WHAT_IS_LEFT = 'a container of the run may still be there, and the next start of the service looks for it'

describe('a container engine', () => {
  it('that does not exist makes a start be refused with a sentence', async () => {
    const projects = { shop: { ...puppetProject(), container: { image: 'node:24' } } }
    const service = await startService({ projects }, { env: { PATH: '/nowhere' } })
    const reason = 'docker: spawn docker ENOENT; podman: spawn podman ENOENT'
    const error = `Project "shop" needs a container engine, and none works: ${reason}.`
    expect(await service.start()).toEqual({ status: 500, body: { error } })
  })

  it('that asks a question has its words in a sentence with one end', async () => {
    const script = 'echo "No daemon. Is the docker daemon running?" >&2; exit 1'
    const { service } = await startWith({ docker: script }, 'docker')
    expect((await service.start()).body.error).toMatch(/: docker: No daemon\. Is the docker daemon running\.$/)
  })

  it('is named in the log, with the reason why it is not the first', async () => {
    const { service } = await startWith({ docker: 'echo "no daemon" >&2; exit 1', podman: 'exit 0' })
    const runId = await service.startRun()
    expect(service.log.join('\n')).toContain(`run ${runId}: runs in containers of podman (docker: no daemon)`)
  })

  it('gets no folder that was replaced by a link since the run was prepared', async () => {
    const { service, folder } = await startWith({
      docker: `if test "$1" = image; then mv "$folder/node_modules" "$folder/moved"; ln -s / "$folder/node_modules"; fi
        echo "$1" >> "$folder/called"`,
    })
    await mkdir(join(folder, 'node_modules'))
    const { status, message } = await service.waitFor(await service.startRun())
    const reason = `${folder}/node_modules cannot be mounted, because it is a link or was removed`
    expect([status, message]).toEqual(['INTERRUPTED', `vitest could not be started: ${reason}`])
    expect(await readFile(join(folder, 'called'), 'utf8')).not.toContain('create')
  })

  it('gets no folder that lies in one to which the tests can write', async () => {
    const folder = await temporaryFolder()
    await mkdir(join(folder, 'inner'))
    const [mounts, env] = [['', '/inner'].map((name) => ({ path: folder + name, isReadOnly: name !== '' })), PLAIN_ENV]
    // It says that it has the image.
    await writeFile(join(folder, 'docker'), '#!/bin/sh\nexit 0', { mode: 0o755 })
    const engine = { name: 'docker', env: { ...env, PATH: `${folder}:/usr/bin:/bin` } } as const
    const startedFile = join(await temporaryFolder(), 'started')
    const container = { engine, settings: { image: 'node:24', options: [] }, folder, mounts, startedFile }
    const command = { argv: ['true'], folder, env, runId: 'test', stopGraceMs: 0 }
    const end = await runInContainer(container, command, new AbortController().signal)
    const reason = `${folder}/inner cannot be mounted, because the tests can write to ${folder}`
    expect(end).toEqual({ kind: 'not-started', reason, output: '' })
  })

  it('has the grace of the run to stop a container, although it must respond to other commands sooner', async () => {
    const folder = await temporaryFolder()
    // The tests take 3 s to end, and the engine may take 2 s to respond.
    const script = `case "$1" in
      start) touch ${folder}/started; while ! test -e ${folder}/stopped; do sleep 0.05; done;;
      stop) sleep 3; touch ${folder}/stopped;;
    esac`
    await writeFile(join(folder, 'podman'), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
    const engine = { name: 'podman', env: { PATH: `${folder}:/usr/bin:/bin` }, responseLimitMs: 2000 } as const
    const startedFile = join(await temporaryFolder(), 'started')
    const container = { engine, settings: { image: 'node:24', options: [] }, folder, mounts: [], startedFile }
    const command = { argv: ['true'], folder, env: PLAIN_ENV, runId: randomUUID(), stopGraceMs: 60_000 }
    const stop = new AbortController()
    const ended = runInContainer(container, command, stop.signal)
    await until(() => existsSync(join(folder, 'started')))
    stop.abort()
    expect(await ended).toMatchObject({ kind: 'stopped' })
    expect(existsSync(join(folder, 'stopped'))).toBe(true)
  })

  it('that cannot pull the image makes the run INTERRUPTED', async () => {
    const { service } = await startWith({ docker: 'case "$1" in image | pull) echo "no access"; exit 1;; esac' })
    const { status, message } = await service.waitFor(await service.startRun())
    const reason = 'the container image node:24 is not on this machine and cannot be pulled'
    expect([status, message]).toEqual(['INTERRUPTED', `vitest could not be started: ${reason}`])
    expect(service.log.join('\n')).toMatch(/cannot be pulled; its output:\n.*no access/)
  })

  it('that does not say whether it has the image makes the run INTERRUPTED, without a pull', async () => {
    const { service, folder } = await startWith({
      docker: 'case "$1" in image) exec sleep 300;; pull) touch $folder/pulled;; esac',
    })
    const { status, message } = await service.waitFor(await service.startRun())
    const reason = 'docker did not respond within 2 s'
    expect([status, message]).toEqual(['INTERRUPTED', `vitest could not be started: ${reason}`])
    expect(existsSync(join(folder, 'pulled'))).toBe(false)
  })

  it('that lacks the program for --init runs the container without it', async () => {
    const { service, folder } = await startWith({
      podman: `case "$*" in "create --init"*) echo "Error: container-init binary not found" >&2; exit 125;; esac
        case "$1" in create | start) echo "$1" >> $folder/done;; inspect) echo "false 0 2026-01-01";; esac`,
    })
    await service.waitFor(await service.startRun())
    expect(await readFile(join(folder, 'done'), 'utf8')).toBe('create\nstart\n')
  })

  it('whose init finds no Node makes the run INTERRUPTED, although it exits like tests that fail', async () => {
    const { service } = await startWith({
      podman: 'case "$1" in start) exit 1;; inspect) echo "false 1 2026-01-01";; esac',
    })
    const { status, message } = await service.waitFor(await service.startRun())
    expect([status, message]).toEqual(['INTERRUPTED', 'vitest could not be started: the image node:24 cannot run node'])
  })

  it.each([
    ['127', '--rm'],
    ['126', '--rm=true'],
  ])('whose container exits with %s makes the run INTERRUPTED, and gets no option %s', async (code, option) => {
    // The last argument before the command is the file that a container writes to when its Node begins.
    const { service, folder } = await startWith(
      {
        podman: `case "$1" in
          create) echo " $* " >> $folder/options; for at; do case "$at" in */started) echo started > "$at";; esac; done;;
          start) exit ${code};;
          inspect) echo "false ${code} 2026-01-01";;
        esac`,
      },
      undefined,
      [option, '--memory=2g'],
    )
    const { status, message } = await service.waitFor(await service.startRun())
    const program = process.execPath
    const reason = `the image node:24 cannot run ${program}, or ${program} could not run a program`
    expect([status, message]).toEqual(['INTERRUPTED', `vitest exited with code ${code}: ${reason}`])
    expect(await readFile(join(folder, 'options'), 'utf8')).not.toContain(' --rm')
    expect(await readFile(join(folder, 'options'), 'utf8')).toContain(' --memory=2g ')
  })

  it.each([
    ['docker', 'Docker version 20.10.24+dfsg1, build 297e128', 'bind-nonrecursive=true'],
    ['docker', 'Docker version 29.0.0, build 3d4129b', 'bind-recursive=disabled'],
    ['podman', 'podman version 4.3.1', 'bind-nonrecursive=true'],
  ])('%s of "%s" gets each folder without what is mounted below it, by the option %s', async (name, version, option) => {
    const { service, folder } = await startWith({
      [name]: `case "$1" in --version) echo "${version}";; create) echo "$*" > "$folder/created";; esac`,
    })
    await service.waitFor(await service.startRun())
    const mounts = (await readFile(join(folder, 'created'), 'utf8')).match(/type=bind,\S*/g) ?? []
    expect(mounts).not.toEqual([])
    expect(mounts.filter((mount) => !mount.split(',').includes(option))).toEqual([])
  })

  it('whose client ends while the container runs makes the run INTERRUPTED, whatever its exit code', async () => {
    const { service } = await startWith({
      podman: `case "$1" in
        create) for at; do case "$at" in */started) echo started > "$at";; esac; done;;
        inspect) echo "true 0 2026-01-01";;
      esac`,
    })
    const { status, message } = await service.waitFor(await service.startRun())
    expect([status, message]).toEqual(['INTERRUPTED', 'vitest was lost: podman ended while its container ran'])
  })

  it('that disappears during a run makes it INTERRUPTED, and the log says what is left, which is no folder', async () => {
    const { service, data } = await startWith({
      docker: `if test -e $folder/gone; then echo "no daemon" >&2; exit 1; fi
        if test "$1" = start; then touch $folder/gone; exit 1; fi`,
    })
    const runId = await service.startRun()
    expect(await service.waitFor(runId)).toMatchObject({ status: 'INTERRUPTED' })
    await until(() => service.log.join('\n').includes(`docker: no daemon; ${WHAT_IS_LEFT}`))
    expect(await readdir(join(data, 'runs'))).toEqual([])
  })

  it('that does not respond any more keeps neither a cancelled run nor the service, and the next start cleans up', async () => {
    const { service, folder, startAgain } = await startWith(
      {
        docker: `if test -e $folder/frozen; then exec sleep 300; fi
        case "$1" in
          create) touch $folder/created;;
          start) touch $folder/frozen; exec sleep 300;;
          ps) test -e $folder/created && echo id;;
          rm) rm $folder/created;;
        esac
        exit 0`,
      },
      'docker',
    )
    const runId = await service.startRun()
    await until(() => existsSync(join(folder, 'frozen')))
    await service.cancel(runId)
    const error = 'Project "shop" needs a container engine, and none works: docker: did not respond within 2 s.'
    expect(await service.start()).toEqual({ status: 500, body: { error } })
    expect(await service.waitFor(runId)).toMatchObject({ status: 'CANCELLED' })
    await until(() => service.log.join('\n').includes(`docker: did not respond within 2 s; ${WHAT_IS_LEFT}`))
    await service.close()
    await rm(join(folder, 'frozen'))
    const next = await startAgain()
    expect(next.log.join('\n')).toContain(`run ${runId}: left this, now removed: 1 container`)
  })
})
