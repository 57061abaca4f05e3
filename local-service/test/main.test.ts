import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
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
  it('prints its address and a key for a person', async () => {
    const config = join(temporaryFolder(), 'config.json')
    await writeFile(config, JSON.stringify({ projects: { shop: puppetProject() } }))
    const main = await startMain(['--config', config])
    await until(() => main.output().includes('Project: '))
    const [, url = '', key = ''] =
      /^Address: (\S+)\nKey: (\S{32})\nProject: shop \(vitest, .*web-shop\)$/m.exec(main.output()) ?? []
    expect(await clientOf(url, key, 'shop').run()).toMatchObject({ status: 'PASSED' })
  })

  it('prints the same as JSON for a program, and takes a folder', async () => {
    const main = await startMain(['--json', 'examples/web-shop'], {}, ROOT)
    expect(await main.ready()).toEqual({
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      key: expect.stringMatching(/^\S{32}$/),
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
    const main = await startMain(['--json', '--config', config], { TMPDIR: home })
    const { url, key } = await main.ready()
    const client = clientOf(url, key, 'shop')
    const actions = { hangs: true, leaves: 'in its group', journal }
    await client.startRun(puppet(actions))
    await until(async () => (await readJournal(journal)).length >= 2)
    const pids = (await readJournal(journal)).map(({ pid }) => pid)
    expect(await main.end(signal)).toBe(0)
    expect(pids.map(isAlive)).toEqual([false, false])
    await expect(client.get('none')).rejects.toThrow('fetch failed')
    expect((await readdir(home)).sort()).toEqual(['config.json', 'journal'])
    expect(main.errors()).toMatch(/INTERRUPTED/)
  })

  it('stops on SIGTERM also if npm has started it and gets the signal', async () => {
    const env = { XDG_STATE_HOME: temporaryFolder() }
    const command = ['npm', 'run', '--silent', 'service', '--', '--json', 'examples/web-shop'] as const
    const npm = startProcess(command, { cwd: ROOT, env })
    const { url, key } = await npm.ready()
    // Ends when no process has the output of npm any more.
    await npm.end('SIGTERM')
    await expect(clientOf(url, key, 'shop').get('none')).rejects.toThrow('fetch failed')
  })

  // The test of the command line has every sentence.
  it('refuses a folder without tests with a sentence and code 2', async () => {
    const main = await startMain([join(ROOT, 'docs')])
    expect(await main.exit).toBe(2)
    expect(main.errors()).toMatch(/^Project "docs" uses none of Vitest, Playwright Test and Jest\. .*\n$/)
    expect(main.output()).toBe('')
  })
})
