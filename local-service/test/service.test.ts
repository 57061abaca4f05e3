import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, it } from 'vitest'
import { installPackages } from '../../test/support/git-repository.ts'
import { resourcesOf } from '../src/execution/resources.ts'
import type { Run } from '../src/runs/run.ts'
import { openRunStore } from '../src/runs/store.ts'
import { openService } from '../src/service.ts'
import { puppetProject, startService, temporaryFolder } from './support/a-local-service.ts'

const RUN_ID = '4a7f3c1e-0000-4000-8000-000000000001'

/** What a service leaves if it is killed while a run is RUNNING in a container. The engine is a script. */
async function leaveRun(engineScript: string) {
  const folder = temporaryFolder()
  await writeFile(join(folder, 'docker'), `#!/bin/sh\n${engineScript}\n`, { mode: 0o755 })
  const store = openRunStore(join(folder, 'data'))
  const resources = resourcesOf(RUN_ID, store.folder, ['docker'])
  for (const path of [resources.tree, resources.frameworkFolder]) await mkdir(path, { recursive: true })
  const run: Run = { runId: RUN_ID, projectId: 'shop', phase: { status: 'RUNNING', startedAt: 'now' } }
  store.save(run, resources)
  store.close()
  const log: string[] = []
  const removal = {
    env: { PATH: `${folder}:/usr/bin:/bin` },
    dataFolder: store.folder,
    log: (line: string) => void log.push(line),
  }
  return { removal, resources, log }
}

it('if something cannot be removed, the log says of which run, the rest is removed, and the store still has the run', async () => {
  const { removal, resources, log } = await leaveRun('echo no daemon >&2; exit 1')
  expect((await openService(removal)).close()).toMatchObject({ isClean: false, hadProblem: true })
  expect(log.join('\n')).toContain(
    `error: run ${RUN_ID}: could not remove everything that it left: a container may be left, because "docker ps" failed: no daemon`,
  )
  expect(existsSync(resources.folder)).toBe(false)
  const store = openRunStore(removal.dataFolder)
  expect(store.findToRecover()).toMatchObject([{ run: { runId: RUN_ID }, engine: 'docker' }])
  store.close()
})

it('if the engine of an unfinished run is not found, the end is not clean, because a container may be left', async () => {
  const { removal, log } = await leaveRun('exit 0')
  const end = (await openService({ ...removal, env: { PATH: '/nowhere' } })).close()
  expect(end).toMatchObject({ isClean: false, hadProblem: true })
  expect(log.join('\n')).toContain('a container may be left, because "docker ps" failed: there is no program docker')
})

it('if an unfinished run cannot be read, the log says so, and the end is not clean', async () => {
  const { removal, log } = await leaveRun('exit 0')
  const database = new DatabaseSync(join(removal.dataFolder, 'runs.sqlite'))
  database.exec(`update runs set run = 'no JSON'`)
  database.close()
  expect((await openService(removal)).close()).toMatchObject({ isClean: false, hadProblem: true })
  expect(log.join('\n')).toContain('cannot be read, so what it left may still be on this machine')
})

it('the start of the service warns of a project whose framework is not installed, if nothing else could run or install it', async () => {
  const [without, withIt, unreadable] = [temporaryFolder(), temporaryFolder(), temporaryFolder()]
  await installPackages(withIt)
  await mkdir(join(unreadable, 'node_modules/vitest'), { recursive: true })
  execFileSync('mkfifo', [join(unreadable, 'node_modules/vitest/package.json')])
  const vitest = (folder: string) => ({ folder, framework: 'vitest' }) as const
  const service = await startService({
    projects: {
      without: vitest(without),
      'with-it': vitest(withIt),
      unreadable: vitest(unreadable),
      'with-setup': { ...vitest(without), setup: ['npm', 'ci'] },
      'with-command': puppetProject(without),
    },
  })
  const next = 'Install the packages first, for example with "npm ci", or set "command".'
  const warnings = service.log.filter((line) => line.includes('is not installed'))
  expect(warnings.map((line) => line.replace(/^\S+ /, ''))).toEqual([
    `warning: no run of project "without" can pass. vitest is not installed in ${without}. ${next}`,
    `warning: no run of project "unreadable" can pass. vitest is not installed in ${unreadable}. ${next}`,
  ])
})
