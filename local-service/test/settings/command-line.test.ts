import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { writeFiles } from '../../../test/support/git-repository.ts'
import { readCommandLine } from '../../src/settings/command-line.ts'
import { ConfigurationError } from '../../src/settings/project.ts'

let home: string
/** The current folder. */
let HERE: string

beforeAll(async () => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'command-line-')))
  HERE = join(home, 'shop')
  await writeFiles(home, {
    'shop/package.json': '{"devDependencies":{"vitest":"*"}}',
    'shop/config.json': '{"projects":{"of-config":{"folder":"."}}}',
    'blog/package.json': '{"devDependencies":{"vitest":"*","jest":"*"}}',
    'shop/text': 'a = 1',
  })
  return () => rmSync(home, { recursive: true })
})

function read(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  return readCommandLine(args, { XDG_STATE_HOME: '/home/you/state', ...env }, HERE)
}

/** The projects that the service would serve, by their ids. */
function projectsOf(...args: string[]): Record<string, unknown> {
  return Object.fromEntries(read(args)?.configuration.projects ?? [])
}

describe('the command line', () => {
  it('serves the current folder unless it names another', () => {
    expect(projectsOf()).toMatchObject({ shop: { folder: HERE } })
    expect(read([])).toMatchObject({ port: undefined, runLimitMinutes: 55 })
    const args = ['--shard=1/4', '-u']
    const options = ['--framework=vitest', ...args.map((arg) => `--arg=${arg}`)]
    expect(projectsOf('../blog', ...options)).toMatchObject({
      blog: { folder: join(home, 'blog'), framework: { name: 'vitest' }, args },
    })
    const others = { port: '80', runLimitMinutes: 0.5, json: true }
    expect(read(['--port=80', '--run-limit-minutes=0.5', '--json'])).toMatchObject(others)
    expect(projectsOf('--config=config.json')).toMatchObject({ 'of-config': { folder: HERE } })
  })

  it('takes the key from LOCAL_SERVICE_KEY', () => {
    expect(read([], { LOCAL_SERVICE_KEY: 'in-the-environment' })?.key).toBe('in-the-environment')
    expect(read([], { LOCAL_SERVICE_KEY: '' })?.key).toBeUndefined()
  })

  it.each(['my key', 'key\n', 'schlüssel'])('refuses the key %j, which no request could send', (key) => {
    const message = expect.stringMatching(/^LOCAL_SERVICE_KEY has a space/)
    expect(() => read([], { LOCAL_SERVICE_KEY: key })).toThrow(
      expect.objectContaining({ constructor: ConfigurationError, message }),
    )
  })

  it.each([
    [
      'takes what follows "--" for the command of the tests, with its own options',
      ['sh', '--ci', '--port=1', '--', '-x'],
    ],
    ['takes a single word behind "--" for a script', ['make && pytest']],
  ])('%s', (_, words) => {
    const command = words.length === 1 ? words[0] : words
    expect(projectsOf('--report=junit.xml', '.', '--', ...words)).toMatchObject({
      shop: { command, report: 'junit.xml' },
    })
  })

  it("gives each served folder a data folder of its own in the user's state", () => {
    const dataFolder = (...args: string[]) => read(args)?.dataFolder
    expect(dataFolder()).toMatch(/^\/home\/you\/state\/test-run-service\/shop-[0-9a-f]{8}$/)
    expect(dataFolder(HERE)).toBe(dataFolder())
    expect(dataFolder('../blog', '--framework=jest')).not.toBe(dataFolder())
    expect(dataFolder('--data', 'kept')).toBe(`${HERE}/kept`)
  })

  it.each([
    ['an unknown option', ['--prot', '1'], /^Unknown option '--prot'.*\n\nUsage: /s],
    ['a limit of zero', ['--run-limit-minutes=0'], /^run-limit-minutes is "0"\. Give a number from 0\.001 to 35000\.$/],
    ['a folder without a name', ['/'], /^The folder \/ has no name, which would be the id of the project\. Give/],
    ['two folders', ['a', 'b'], /^Give one folder, not also b\.$/],
    ['a folder beside a configuration', ['--config', 'c', 'a'], /^With a configuration file, give folder, framework/],
    [
      'a command beside a configuration',
      ['--config', 'c', '--', 'npx'],
      /^With a configuration file, give folder, framework, command/,
    ],
    ['an argument beside a configuration', ['--config', 'c', '--arg=-x'], /^With a configuration file, give folder/],
    [
      'a configuration that is not there',
      ['--config', '/none'],
      /^The configuration file \/none cannot be read: ENOENT/,
    ],
    [
      'a configuration that is not JSON',
      ['--config', 'text'],
      /^The configuration file .*text cannot be read: Unexpected token/,
    ],
  ])('is refused with a sentence if it has %s', (_case, args, message) => {
    expect(() => read(args)).toThrow(
      expect.objectContaining({ constructor: ConfigurationError, message: expect.stringMatching(message) }),
    )
  })
})
