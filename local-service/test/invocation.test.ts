import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { writeFiles } from '../../test/support/git-repository.ts'
import manifest from '../package.json' with { type: 'json' }
import { isStartedByNpm, readInvocation, USAGE } from '../src/invocation.ts'
import { temporaryFolder } from './a-local-service.ts'

let home: string
/** The current folder. */
let HERE: string

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'invocation-'))
  HERE = join(home, 'shop')
  await writeFiles(home, { 'shop/file': '', 'blog/file': '' })
  return () => rmSync(home, { recursive: true })
})

function read(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  return readInvocation(args, { XDG_STATE_HOME: '/home/you/state', ...env }, HERE)
}

describe('the command line', () => {
  it('serves the current folder unless it names another', async () => {
    expect(await read([])).toMatchObject({
      settings: { projects: { shop: { folder: HERE } } },
      folder: HERE,
      json: false,
    })
    const args = ['--shard=1/4', '-u']
    const command = ['../blog', '--framework', 'vitest', ...args.map((arg) => `--arg=${arg}`), '--json']
    expect(await read(command)).toMatchObject({
      settings: { projects: { blog: { folder: join(home, 'blog'), framework: 'vitest', args } } },
      json: true,
    })
  })

  it('starts in the folder in which npm was called, if it is the script of the repository', async () => {
    const env = { INIT_CWD: join(home, 'blog') }
    for (const [event, id] of [
      ['service', 'blog'],
      ['test', 'shop'],
    ] as const) {
      const { settings } = (await read([], { ...env, npm_lifecycle_event: event })) as {
        settings: { projects: object }
      }
      expect(Object.keys(settings.projects)).toEqual([id])
    }
  })

  it('takes keys from its arguments, else from LOCAL_SERVICE_KEY, else from the configuration', async () => {
    const folder = await temporaryFolder()
    await writeFiles(folder, { keys: 'from-the-file\r\nanother\n', 'config.json': '{"keys":["configured"],"port":1}' })
    const keysOf = async (...args: string[]) =>
      (await read(args, { LOCAL_SERVICE_KEY: 'in-the-environment' })) as object
    expect(await keysOf('--key-file', join(folder, 'keys'), '--key', 'third')).toMatchObject({
      settings: { keys: ['from-the-file', 'another', 'third'] },
    })
    const config = ['--config', join(folder, 'config.json')]
    expect(await keysOf(...config)).toMatchObject({ settings: { keys: ['in-the-environment'], port: 1 } })
    expect(await read(config)).toMatchObject({ settings: { keys: ['configured'] }, folder })
    expect(await read(config, { LOCAL_SERVICE_KEY: '' })).toMatchObject({ settings: { keys: ['configured'] } })
  })

  it('overrides the port of the configuration', async () => {
    const folder = await temporaryFolder()
    await writeFiles(folder, { 'config.json': '{"port":1,"concurrency":3}' })
    const config = ['--config', join(folder, 'config.json')]
    expect(await read([...config, '--port', '80'])).toMatchObject({ settings: { port: 80, concurrency: 3 } })
  })

  it("gives each served folder a data folder of its own in the user's state", async () => {
    const dataFolder = async (...args: string[]) => ((await read(args)) as { dataFolder: string }).dataFolder
    expect(await dataFolder()).toMatch(/^\/home\/you\/state\/test-run-service\/shop-[0-9a-f]{8}$/)
    expect(await dataFolder(HERE)).toBe(await dataFolder())
    expect(await dataFolder('../blog')).not.toBe(await dataFolder())
    expect(await dataFolder('--data', 'kept')).toBe(`${HERE}/kept`)
  })

  it('asks for help', async () => {
    expect(await read(['--help', '--port', 'x'])).toEqual({ text: USAGE })
    expect(await read(['--version'])).toEqual({ text: manifest.version })
  })

  it.each([
    [true, { npm_lifecycle_event: 'service' }],
    [true, { npm_lifecycle_event: 'npx', npm_lifecycle_script: "'test-run-service' --json" }],
    [false, { npm_lifecycle_event: 'npx', npm_lifecycle_script: "'vitest' run" }],
    [false, { npm_lifecycle_event: 'unit', npm_lifecycle_script: 'vitest run' }],
    [false, {}],
  ])('is called by npm itself: %s for %j', (expected, env) => {
    expect(isStartedByNpm(env)).toBe(expected)
  })

  it.each([
    ['an unknown option', ['--prot', '1'], /^Unknown option '--prot'\.\n\nUsage: /],
    ['an option without its value', ['--port'], /^Option '--port <value>' argument missing\.\n\nUsage: /],
    ['an empty option', ['--key', ''], /^--key is empty\.\n\nUsage: /],
    ['a port that is no number', ['--port', 'http'], /^--port must be a whole number from 0 to 65535, got "http"\.$/],
    ['a port that is too high', ['--port', '65536'], /^--port must be a whole number from 0 to 65535, got "65536"\.$/],
    ['an unknown framework', ['--framework', 'jest'], /^--framework must be vitest or playwright, got "jest"\.$/],
    ['an unusable key', ['--key', 'a', '--key', 'b c'], /^An API key in --key has a space or a character [^b]*\.$/],
    [
      'an unusable key in the key file',
      ['--key-file', 'FOLDER/text'],
      /^An API key in the key file .*text has a space/,
    ],
    ['a folder that is not there', ['nowhere'], /^There is no folder .*nowhere\. Give the folder of .*\.$/],
    ['two folders', ['a', 'b'], /^Give one folder, not also b\.\n\nUsage: /],
    [
      'a folder beside a configuration',
      ['--config', 'c', 'a'],
      /^With --config, give folder, framework and args in the file\.$/,
    ],
    [
      'an argument for the framework beside a configuration',
      ['--config', 'c', '--arg=--changed'],
      /^With --config, give folder, framework and args in the file\.$/,
    ],
    [
      'an argument without "="',
      ['--arg', '--changed'],
      /^Option '--arg' argument is ambiguous\.[\s\S]* use '--arg=-XYZ'\.\n\nUsage: /,
    ],
    ['a configuration that is not there', ['--config', '/none'], /^There is no configuration file \/none\.$/],
    ['a configuration that is not JSON', ['--config', 'FOLDER/text'], /^The configuration file .*text is not JSON: /],
    [
      'a configuration that is no object',
      ['--config', 'FOLDER/list'],
      /^The configuration file .*list must be a JSON object\.$/,
    ],
    ['a key file that is not there', ['--key-file', '/none'], /^There is no key file \/none\.$/],
    ['a folder as key file', ['--key-file', 'FOLDER'], /^Cannot read the key file: EISDIR: .*\.$/],
    ['a key file without a key', ['--key-file', 'FOLDER/empty'], /^The key file .*empty is empty\. Write one/],
  ])('is refused with a sentence if it has %s', async (_case, args, message) => {
    const folder = await temporaryFolder()
    await writeFiles(folder, { text: 'port = 1', list: '[]', empty: '\n' })
    const reading = read(args.map((argument) => argument.replace('FOLDER', folder)))
    await expect(reading).rejects.toMatchObject({ name: 'UsageError', message: expect.stringMatching(message) })
  })
})
