import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readDocument } from '../../../test/docs/documents.ts'
import { selfSignedCertificate } from '../../../test/support/self-signed-certificate.ts'
import { startScriptedService } from '../../../tools/scripted-service/scripted-service.ts'
import { CHECK_USAGE, readCheckInvocation } from '../../src/check/command.ts'
import { MAIN, PLAIN_ENV, startProcess, temporaryFolder, writeFiles } from '../a-local-service.ts'
import { ECHO, KEY, startFaultyService } from './a-faulty-service.ts'

function startCheck(args: readonly string[], env: NodeJS.ProcessEnv = { LOCAL_SERVICE_KEY: KEY }) {
  const check = startProcess([...MAIN, 'check', ...args], { env, endsBy: 'SIGKILL' })
  const ended = async () => ({ code: await check.exit, output: check.output(), errors: check.errors() })
  return { ...check, ended }
}

describe('the check as a command', () => {
  it('says how many runs it starts, and starts none without --yes or a terminal', async () => {
    const { url, seen } = await startFaultyService()
    const { code, output, errors } = await startCheck([url, '--project', 'shop', '--suite', 'smoke']).ended()
    expect([code, output, seen]).toEqual([2, '', []])
    expect(errors).toContain('the check starts 4 runs of project "shop"')
    expect(errors).toContain('It starts one run of test suite "smoke", which nobody can cancel.')
    expect(errors).toContain('Give --yes')
  })

  it.runIf(process.platform === 'linux')('asks on a terminal', async () => {
    const { url, seen } = await startFaultyService()
    const command = [...MAIN, 'check', url, '--project', 'shop'].map((word) => `'${word}'`).join(' ')
    const answer = async (text: string) => {
      const env = { ...PLAIN_ENV, LOCAL_SERVICE_KEY: KEY }
      const terminal = spawn('script', ['-qec', command, '/dev/null'], { env })
      terminal.stdin.end(text)
      const [code] = await once(terminal, 'exit')
      return code
    }
    // The end of the input, as Ctrl-D is.
    expect([await answer(''), seen]).toEqual([2, []])
    expect(await answer('y\n')).toBe(0)
    expect(seen).not.toEqual([])
  })

  it('prints what broke a rule, exits with 1 and shows the key nowhere', async () => {
    const { url } = await startFaultyService(ECHO)
    const folder = await temporaryFolder()
    await writeFiles(folder, { key: `${KEY}\n` })
    const args = [url, '--project', 'shop', '--yes', '--key-file', join(folder, 'key')]
    const { code, output, errors } = await startCheck(args, {}).ended()
    expect(code).toBe(1)
    expect(output).toMatch(/\n43 rules: \d+ hold, 1 broken, \d+ not observed\.\n$/)
    expect(`${output}${errors}`).not.toContain(KEY.slice(0, 5))
  })

  it('cancels its runs on a signal, that of a start in flight too', async () => {
    const service = await startScriptedService({
      keys: [KEY],
      script: { runningMs: Infinity },
      faults: [{ on: 'start', from: 8, to: 8, delayMs: 300 }],
    })
    onTestFinished(() => service.close())
    const check = startCheck([service.url, '--project', 'shop', '--yes'])
    await service.waitForRequest('start', 8)
    await check.end('SIGINT')
    const { code, output, errors } = await check.ended()
    expect([code, output]).toEqual([130, ''])
    expect(errors).toContain('The check was stopped.')
    expect(service.runs.map(({ status }) => status)).toEqual(service.runs.map(() => 'CANCELLED'))
    expect(service.runs.length).toBeGreaterThan(0)
  })

  it('checks the certificate, whatever the environment says', async () => {
    const service = await startScriptedService({ keys: [KEY], tls: selfSignedCertificate() })
    onTestFinished(() => service.close())
    const env = { LOCAL_SERVICE_KEY: KEY, NODE_TLS_REJECT_UNAUTHORIZED: '0' }
    const { code, errors } = await startCheck([service.url, '--project', 'shop', '--yes'], env).ended()
    expect([code, service.requests]).toEqual([2, []])
    expect(errors).toMatch(/The service cannot be reached: .*self-signed certificate/)
  })

  it.each([
    ['no key', ['https://example.com', '--project', 'shop'], 'There is no API key.', ''],
    [
      'a key that no header can have',
      ['https://example.com', '--project', 'shop'],
      'a character that no header',
      'a\nb',
    ],
    ['no project', ['https://example.com'], 'Give one URL and a --project.', KEY],
    ['plain http to another machine', ['http://example.com', '--project', 'shop'], 'must begin with https://', KEY],
    ['a password in the address', ['https://a:b@example.com', '--project', 'shop'], 'no user name, password', KEY],
    ['two formats', ['https://example.com', '--project', 'shop', '--json', '--junit'], 'not both', KEY],
    ['an option that it does not know', ['https://example.com', '--prject', 'shop'], "Unknown option '--prject'", KEY],
  ])('refuses %s with a sentence', async (_case, args, sentence, key) => {
    await expect(readCheckInvocation(args, { LOCAL_SERVICE_KEY: key })).rejects.toThrow(sentence)
  })

  it('has the options that its page has', () => {
    const rows = readDocument('docs/conformance.md').rows.map(({ codes }) => codes[0]?.[0] ?? '')
    const inPage = rows.filter((code) => code.startsWith('--')).map((code) => code.split(' ')[0])
    expect([...inPage, '--help']).toEqual([...CHECK_USAGE.matchAll(/^ {2}(--[\w-]+)/gm)].map(([, name]) => name))
  })
})
