import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { XMLParser } from 'fast-xml-parser'
import { describe, expect, it, onTestFinished } from 'vitest'
import { parse } from 'yaml'
import { read, readDocument } from '../../../test/docs/documents.ts'
import { createRepository, writeFiles } from '../../../test/support/git-repository.ts'
import { selfSignedCertificate } from '../../../test/support/self-signed-certificate.ts'
import {
  type ScriptedServiceOptions,
  type ScriptedStart,
  startScriptedService,
} from '../../../tools/scripted-service/scripted-service.ts'
import { CHECK_USAGE, effectsOf, readCheckInvocation } from '../../src/check/command.ts'
import { Driver } from '../../src/check/driver.ts'
import type { Format } from '../../src/check/report.ts'
import { judge, RULES } from '../../src/check/rules.ts'
import { LIMITS } from '../../src/check/session.ts'
import {
  MAIN,
  PLAIN_ENV,
  puppet,
  puppetProject,
  startProcess,
  startService,
  temporaryFolder,
  until,
} from '../a-local-service.ts'
import { KEY } from './a-service-in-memory.ts'

const HOSTILE = { status: 200, body: { status: `##[error]x\n::error::y \x1b[2J${KEY}${'x'.repeat(440)}${KEY}` } }

async function startScripted(options: ScriptedServiceOptions = {}) {
  const service = await startScriptedService({ keys: [KEY], ...options })
  onTestFinished(() => service.close())
  return service
}

function startCheck(args: readonly string[], env: NodeJS.ProcessEnv = { LOCAL_SERVICE_KEY: KEY }) {
  const check = startProcess([...MAIN, 'check', ...args], { env, endsBy: 'SIGKILL' })
  const ended = async () => ({ code: await check.exit, output: check.output(), errors: check.errors() })
  return { ...check, ended }
}

describe('the check as a command', () => {
  it('says how many runs it starts, and starts none without --yes or a terminal', async () => {
    const { url, requests } = await startScripted()
    const { code, output, errors } = await startCheck([url, '--project', 'shop', '--suite', 'smoke']).ended()
    expect([code, output, requests]).toEqual([2, '', []])
    expect(errors).toContain('the check starts up to 10 runs of project "shop"')
    expect(errors).toContain('It starts a run of test suite "smoke", which nobody can cancel.')
    expect(errors).toContain('Give --yes')
  })

  it.runIf(process.platform === 'linux')('asks on a terminal', async () => {
    const { url, requests } = await startScripted()
    const command = [...MAIN, 'check', url, '--project', 'shop'].map((word) => `'${word}'`).join(' ')
    const answer = async (text: string) => {
      const env = { ...PLAIN_ENV, LOCAL_SERVICE_KEY: KEY }
      const terminal = spawn('script', ['-qec', command, '/dev/null'], { env })
      terminal.stdin.end(text)
      const [code] = await once(terminal, 'exit')
      return code
    }
    // The end of the input, as Ctrl-D is.
    expect([await answer(''), requests]).toEqual([2, []])
    // The scripted service has every project.
    expect(await answer('y\n')).toBe(1)
    expect(requests).not.toEqual([])
  })

  it.each<Format>([
    'text',
    'json',
    'junit',
  ])('prints as %s what broke a rule, without the key and without what a log obeys', async (format) => {
    const { url } = await startScripted({ faults: [{ on: 'get', from: 2, to: 2, do: HOSTILE }] })
    const folder = await temporaryFolder()
    await writeFiles(folder, { key: `${KEY}\n` })
    const args = [url, '--project', 'shop', '--yes', '--key-file', join(folder, 'key')]
    const { code, output, errors } = await startCheck(
      [...args, ...(format === 'text' ? [] : [`--${format}`])],
      {},
    ).ended()
    expect(code).toBe(1)
    expect(output).toMatch(/run-status.*A read returns an object with one of/s)
    expect(`${output}${errors}`).not.toMatch(new RegExp(`${KEY.slice(0, 5)}|##\\[|^\\s*::|\x1b`, 'm'))
    if (format === 'json') expect(JSON.parse(output)).toMatchObject({ exitCode: 1, url: `${url}/`, project: 'shop' })
    if (format === 'junit') expect(readJunit(output)).toMatchObject({ '@_errors': '0' })
  })

  it('cancels its runs on a signal, that of a start in flight too, and prints what it saw', async () => {
    const service = await startScripted({
      script: { runningMs: Number.POSITIVE_INFINITY },
      faults: [{ on: 'start', from: 2, to: 2, delayMs: 300 }],
    })
    const check = startCheck([service.url, '--project', 'shop', '--yes', '--json'])
    await service.waitForRequest('start', 2)
    await check.end('SIGINT')
    const { code, output, errors } = await check.ended()
    expect(code).toBe(130)
    expect(errors).toContain('The check was stopped.')
    expect(JSON.parse(output)).toMatchObject({ exitCode: 130, message: 'The check was stopped.', left: [] })
    expect(service.runs.map(({ status }) => status)).toEqual(['CANCELLED', 'CANCELLED'])
  })

  it('ends at once on a second signal, and names its runs', async () => {
    const service = await startScripted({
      script: { runningMs: Number.POSITIVE_INFINITY },
      faults: [{ on: 'cancel', do: 'hang' }],
    })
    const check = startCheck([service.url, '--project', 'shop', '--yes'])
    await service.waitForRequest('cancel')
    let isEnded = false
    void check.exit.then(() => {
      isEnded = true
    })
    // A signal that comes together with the first one counts as the first one.
    await until(() => isEnded || check.end('SIGINT') === undefined)
    const { code, errors } = await check.ended()
    expect(code).toBe(130)
    expect(errors).toContain('The check was stopped at once.')
    for (const { runId } of service.runs) expect(errors).toContain(`did not see run "${runId}" end.`)
  })

  it.each([
    ['sends', 'AbortSignal.any', 'The check itself failed: TypeError: no such thing'],
    ['reports', 'Array.prototype.findLast', 'TypeError: no such thing'],
  ])('exits with 2 if the code fails that %s', async (_what, name, message) => {
    const { url } = await startScripted()
    const code = `${name} = () => { throw new TypeError('no such thing') }`
    const env = { LOCAL_SERVICE_KEY: KEY, NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}` }
    const ended = await startCheck([url, '--project', 'shop', '--yes', '--junit'], env).ended()
    expect(ended.code).toBe(2)
    expect(ended.errors).toContain(message)
    if (name === 'AbortSignal.any') expect(readJunit(ended.output)).toMatchObject({ '@_errors': '1' })
  })

  it('checks the certificate, whatever the environment says', async () => {
    const service = await startScripted({ tls: selfSignedCertificate() })
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
    ['no project', ['https://example.com'], 'Give the URL of the service and --project.', KEY],
    ['an empty option', ['https://example.com', '--project', 'shop', '--suite', ''], '--suite is empty.', KEY],
    ['an id that is no path', ['https://example.com', '--project', '..'], '--project is not an id', KEY],
    [
      '/v1 in the address',
      ['https://example.com/v1/', '--project', 'shop'],
      'The URL ends with /v1. Leave that out',
      KEY,
    ],
    ['a time that is none', ['https://example.com', '--project', 'shop', '--timeout', '5m'], '--timeout must be', KEY],
    ['plain http to another machine', ['http://example.com', '--project', 'shop'], 'must begin with https://', KEY],
    ['a password in the address', ['https://a:b@example.com', '--project', 'shop'], 'no user name, password', KEY],
    ['two formats', ['https://example.com', '--project', 'shop', '--json', '--junit'], 'not both', KEY],
    ['an option that it does not know', ['https://example.com', '--prject', 'shop'], "Unknown option '--prject'", KEY],
  ])('refuses %s with a sentence', async (_case, args, sentence, key) => {
    await expect(readCheckInvocation(args, { LOCAL_SERVICE_KEY: key })).rejects.toThrow(sentence)
  })
})

describe("this repository's services", () => {
  async function check(url: string) {
    const target = { url: new URL(url), key: KEY, project: 'shop', otherProject: 'other', suite: 'smoke' }
    const options = { environment: 'staging', frameworkProject: 'unit', branch: 'next' }
    const effects = effectsOf({ ...target, ...options }, () => {})
    const limits = { ...LIMITS, pollMs: 10 }
    const driver = new Driver({ ...target, ...options }, effects, limits, new AbortController().signal)
    await driver.run().finally(() => driver.cleanUp())
    const rules = judge(driver.observations)
    return (verdict: string) => rules.filter((rule) => rule.verdict === verdict).map(({ id }) => id)
  }

  it('keep the rules: the service that runs tests', async () => {
    const { folder, remove, git } = await createRepository({ 'README.md': 'A project on a branch.' })
    onTestFinished(remove)
    await git('branch', 'next')
    const { url } = await startService({
      keys: [KEY],
      concurrency: 1,
      projects: {
        shop: { ...puppetProject(folder), environments: { staging: puppet({ hangs: true }).envOverrides } },
        other: puppetProject(folder),
      },
      suites: { smoke: { project: 'shop' } },
    })
    const having = await check(url)
    expect([having('broken'), having('differs')]).toEqual([[], []])
    // It looks for a branch, and finds none with such a name.
    const ofBranches = ['branch-1', 'branch-255', 'branch-unicode']
    const ofReasons = ['run-message', 'case-message', 'case-file-path', 'case-line']
    expect(having('not observed')).toEqual(['retry-after', ...ofBranches, ...ofReasons])
  })

  it('keep the rules, but for those about bodies and names that it takes: the scripted one', async () => {
    // Those that go on are there when the check cancels another one.
    const goesOn = ({ number, testSuiteId, body }: ScriptedStart) =>
      number > 1 && testSuiteId === undefined && ('autofix' in Object(body) || !('branch' in Object(body)))
    const script = (start: ScriptedStart) => (goesOn(start) ? { runningMs: Number.POSITIVE_INFINITY } : {})
    const { url } = await startScripted({ script })
    const having = await check(url)
    const ofBodies = ['start-types', 'start-array', 'branch-0', 'branch-256', 'branch-name']
    expect(having('broken').toSorted()).toEqual([...ofBodies, 'start-project', 'suite-start-unknown'].toSorted())
    expect(having('differs')).toEqual(['start-not-utf8'])
    const ofReasons = ['run-message', 'case-message', 'case-file-path', 'case-line']
    expect(having('not observed').toSorted()).toEqual(
      ['retry-after', 'queued-started-at', 'cancel-queued', ...ofReasons].toSorted(),
    )
  })
})

describe('the page about the check', () => {
  const page = readDocument('docs/conformance.md')

  it('has the options that the command has', () => {
    const codes = page.rows.map((row) => row.codes[0]?.[0] ?? '').filter((code) => code.startsWith('--'))
    const options = [...CHECK_USAGE.matchAll(/^ {2}(--[\w-]+)/gm)].map(([, name]) => name)
    expect([...codes.map((code) => code.split(' ')[0]), '--help']).toEqual(options)
  })

  it('has the rules that the check has, in their order', () => {
    const rows = Object.values(RULES).flatMap((rules) =>
      Object.entries(rules).map(([id, { kind, place, sentence }]) => `| ${id} | ${kind} | ${place} | ${sentence} |`),
    )
    const [, table = ''] = read('docs/conformance.md').split('\n## Rules\n')
    expect(table.split('\n').filter((line) => /^\| (?!id |-)/.test(line))).toEqual(rows)
  })
})

describe('docs/openapi.yaml', () => {
  const { info, paths, components } = parse(read('docs/openapi.yaml'))
  const rules = Object.values(RULES).flatMap((ofRequest) => Object.values(ofRequest))

  it('has every place that a rule names', () => {
    const operations = Object.values<object>(paths).flatMap((path) => Object.values(path))
    const fields = Object.entries<{ properties?: object }>(components.schemas).flatMap(([name, { properties = {} }]) =>
      Object.keys(properties).map((field) => `${name}.${field}`),
    )
    const places = new Set([
      'info',
      ...operations.map(({ operationId }) => operationId),
      ...Object.values<object>(components).flatMap(Object.keys),
      ...fields,
    ])
    const named = rules.flatMap(({ place }) => place.split(', '))
    expect(named.filter((place) => !places.has(place))).toEqual([])
  })

  it('lists what the action relies on', () => {
    const [, list = ''] = info.description.split('## What the action relies on')
    const items = list.split('##', 1)[0].match(/^- .*(\n {2}.*)*/gm)
    const sentences = rules.filter(({ kind }) => kind === 'action').map(({ sentence }) => sentence)
    expect(items.map((item: string) => item.slice(2).replace(/\s+/g, ' ')).toSorted()).toEqual(sentences.toSorted())
  })
})

function readJunit(text: string) {
  return new XMLParser({ ignoreAttributes: false }).parse(text, true).testsuites
}
