import { chmod, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { removeContainers, runInContainer } from '../../src/machine/container.ts'
import { PLAIN_ENV, temporaryFolder } from '../support/a-local-service.ts'

// What life/containers.test.ts cannot show without the engine.

/** What the engine's program is called with, and what it writes of its own variables. */
async function callOf(
  name: string,
  env: NodeJS.ProcessEnv,
  before: readonly string[] = [],
): Promise<{ args: string[]; proxy: string }> {
  const folder = temporaryFolder()
  const program = join(folder, name)
  await writeFile(
    program,
    '#!/bin/sh\n[ "$1" = run ] && { printf "%s\\n" "$@" > args; echo "$HTTPS_PROXY" > proxy; }; :',
  )
  await chmod(program, 0o755)
  const settings = { image: 'base', engine: [...before, program], options: [] }
  const command = { argv: ['true'], folder, env: { SHOP: 'open' }, runId: folder, stopGraceMs: 1000 }
  const container = { ...settings, env: { ...PLAIN_ENV, ...env }, folder, folders: [], readOnlyFolders: [] }
  expect(await runInContainer(container, command, new AbortController().signal)).toMatchObject({ code: 0 })
  const read = (file: string) => readFile(join(folder, file), 'utf8')
  return { args: (await read('args')).split('\n'), proxy: (await read('proxy')).trim() }
}

describe('a container', () => {
  const HTTPS_PROXY = 'http://user:password@proxy:3128'

  it('of Podman gets no proxy variables of the machine, which its program needs to pull the image', async () => {
    const { args, proxy } = await callOf('podman', { HTTPS_PROXY })
    expect(args).toContain('--http-proxy=false')
    expect(args.indexOf('--http-proxy=false')).toBeLessThan(args.indexOf('base'))
    expect(args.join('\n')).not.toContain('password')
    expect(proxy).toBe(HTTPS_PROXY)
  })

  it('of Podman gets none either if another program starts Podman', async () => {
    const { args } = await callOf('podman', { HTTPS_PROXY }, ['nice', '-n', '1'])
    expect(args).toContain('--http-proxy=false')
  })

  it('of Docker gets none by itself, and Docker does not know the option', async () => {
    const { args } = await callOf('docker', { HTTPS_PROXY })
    expect(args).not.toContain('--http-proxy=false')
    expect(args.join('\n')).not.toContain('password')
  })
})

describe('the removal of containers', () => {
  it('fails if the engine still lists a container that it says it has removed', async () => {
    const folder = temporaryFolder()
    await writeFile(join(folder, 'docker'), '#!/bin/sh\n[ "$1" = rm ] || echo 1a2b\n', { mode: 0o755 })
    const env = { PATH: `${folder}:/usr/bin:/bin` }
    await expect(removeContainers(['docker'], 'run-1', env)).rejects.toThrow(
      'a container may be left, because "docker ps" still lists it after 20 removals',
    )
  })
})
