import { readdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ROOT } from '../../test/documents/documents.ts'
import {
  clientOf,
  isAlive,
  MAIN,
  puppet,
  puppetProject,
  readJournal,
  startProcess,
  temporaryFolder,
  until,
  WEB_SHOP,
} from './support/a-local-service.ts'

async function startMain(args: readonly string[], env: NodeJS.ProcessEnv = {}, cwd = WEB_SHOP) {
  return startProcess([...MAIN, ...args], { cwd, env: { XDG_STATE_HOME: temporaryFolder(), ...env } })
}

describe('the command', () => {
  it('prints its address and a key for a person, and keeps the key from the tests', async () => {
    const config = join(temporaryFolder(), 'config.json')
    await writeFile(config, JSON.stringify({ projects: { shop: puppetProject() } }))
    const main = await startMain(['--config', config], { LOCAL_SERVICE_KEY: 'secret-key' })
    await until(() => main.output().includes('Project: '))
    const [, url = ''] =
      /^Address: (\S+)\nKey: secret-key\nProject: shop \(vitest, .*web-shop\)$/m.exec(main.output()) ?? []
    const client = clientOf(url, 'secret-key', 'shop')
    const run = await client.run(puppet({ tellsVariables: ['LOCAL_SERVICE_KEY'] }))
    expect(run.results?.testCases).toMatchObject([{ title: 'puppet > LOCAL_SERVICE_KEY=undefined' }])
  })

  it('prints the same as JSON for a program, and takes port, key and folder', async () => {
    const { port, close } = await takePort()
    await close()
    const main = await startMain(
      ['--json', '--port', String(port), 'examples/web-shop'],
      { LOCAL_SERVICE_KEY: 'one' },
      ROOT,
    )
    expect(await main.ready()).toEqual({
      url: `http://127.0.0.1:${port}`,
      key: 'one',
      projects: [{ id: 'web-shop', folder: join(WEB_SHOP, '.'), framework: 'vitest' }],
    })
  })

  it.each([
    'SIGINT',
    'SIGHUP',
  ] as const)('stops on %s with code 0 and leaves neither process, nor port, nor folder', async (signal) => {
    const home = temporaryFolder()
    const [config, journal] = [join(home, 'config.json'), join(home, 'journal')]
    const settings = { projects: { shop: puppetProject() } }
    await writeFile(config, JSON.stringify(settings))
    const env = { TMPDIR: home, LOCAL_SERVICE_KEY: 'k' }
    const main = await startMain(['--json', '--config', config], env)
    const { url } = await main.ready()
    const client = clientOf(url, 'k', 'shop')
    await client.startRun(puppet({ hangs: true, journal }))
    await until(async () => (await readJournal(journal)).length > 0)
    const pids = (await readJournal(journal)).map(({ pid }) => pid)
    expect(await main.end(signal)).toBe(0)
    expect(pids.map(isAlive)).toEqual([false])
    await expect(client.get('none')).rejects.toThrow('fetch failed')
    expect((await readdir(home)).sort()).toEqual(['config.json', 'journal'])
    expect(main.errors()).toMatch(/INTERRUPTED/)
  })

  it('stops on SIGTERM also if npm has started it and gets the signal', async () => {
    const env = { XDG_STATE_HOME: temporaryFolder(), LOCAL_SERVICE_KEY: 'k' }
    const command = ['npm', 'run', '--silent', 'service', '--', '--json', 'examples/web-shop'] as const
    const npm = startProcess(command, { cwd: ROOT, env })
    const { url } = await npm.ready()
    // Ends when no process has the output of npm any more.
    await npm.end('SIGTERM')
    await expect(clientOf(url, 'k', 'shop').get('none')).rejects.toThrow('fetch failed')
  })

  it('refuses a port that is taken with a sentence and code 2', async () => {
    const { port, close } = await takePort()
    onTestFinished(close)
    const main = await startMain(['--port', String(port)])
    expect(await main.exit).toBe(2)
    expect(main.errors()).toContain(
      `listen EADDRINUSE: address already in use 127.0.0.1:${port}\nChoose another --port, or leave it out for any free one.\n`,
    )
  })
})

async function takePort() {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  return { port, close: () => new Promise<void>((resolve) => server.close(() => resolve())) }
}
