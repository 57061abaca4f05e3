import { execFile } from 'node:child_process'
import { chmod, mkdir, readdir, readFile, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { parse } from 'yaml'
import { expectConformingRequests } from '../../test/support/openapi.ts'
import { startScriptedService } from '../../tools/scripted-service/scripted-service.ts'
import { USAGE } from '../src/invocation.ts'
import { clientOf, PLAIN_ENV, REPOSITORY, temporaryFolder, WEB_SHOP, writeFiles } from './a-local-service.ts'

// What the README gives to copy is run as it is.

const README = await readFile(join(REPOSITORY, 'local-service/README.md'), 'utf8')

/** The code blocks of a section. */
function blocksOf(title: string, language: string): string[] {
  const section = README.slice(README.indexOf(`## ${title}\n`)).split('\n## ')[0] ?? ''
  return [...section.matchAll(/^```(\w*)\n(.*?)^```$/gms)]
    .filter(([, name]) => name === language)
    .map((found) => found[2] ?? '')
}

/** A failing script does not throw: its code is part of what is tested. */
function bash(script: string, options: { cwd?: string; env: NodeJS.ProcessEnv }) {
  return promisify(execFile)('bash', ['-e', '-c', script], options).then(
    ({ stdout }) => ({ code: 0, stdout }),
    ({ code, stdout }) => ({ code, stdout }),
  )
}

it('lists the options that the command lists', () => {
  const optionsIn = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, name]) => name)
  const listed = optionsIn(README, /^\| `(--[\w-]+)/gm)
  expect([...listed, '--help']).toEqual(optionsIn(USAGE, /^ {2}(--[\w-]+)/gm))
})

it('names every source file, and no other', async () => {
  const [map = ''] = blocksOf('How it is built', '')
  const named = new Set(map.match(/[\w-]+\.ts\b/g))
  const files = await readdir(join(REPOSITORY, 'local-service/src'), { recursive: true })
  const sources = files.filter((file) => file.endsWith('.ts')).map((file) => basename(file))
  expect([...named].sort()).toEqual(sources.sort())
})

describe('the step that serves a project in a workflow', () => {
  interface WorkflowStep {
    readonly id?: string
    readonly run?: string
    readonly with?: Readonly<Record<string, string>>
  }
  const steps: readonly WorkflowStep[] = parse(blocksOf('In a workflow', 'yaml')[0] ?? '')
  const script = steps.find(({ id }) => id === 'service')?.run ?? ''

  /** The script meets an npx that runs this repository's service in place of the package. */
  async function runStep(cwd?: string) {
    const folder = await temporaryFolder()
    const bin = join(folder, 'bin')
    await mkdir(bin)
    const main = join(REPOSITORY, 'local-service/src/main.ts')
    await writeFiles(bin, {
      npx: `#!/bin/sh\necho $$ > '${folder}/pid'\nshift 2\nexec '${process.execPath}' '${main}' "$@"\n`,
    })
    await chmod(join(bin, 'npx'), 0o755)
    const env = {
      ...PLAIN_ENV,
      PATH: `${bin}:${join(process.execPath, '..')}:${PLAIN_ENV.PATH}`,
      XDG_STATE_HOME: join(folder, 'state'),
      PACKAGE: 'the package',
      RUNNER_TEMP: folder,
      GITHUB_OUTPUT: join(folder, 'output'),
    }
    const end = await bash(script, { cwd: cwd ?? folder, env })
    const pid = Number(await readFile(join(folder, 'pid'), 'utf8'))
    onTestFinished(() => {
      // It has exited if it could not start.
      if (end.code === 0) process.kill(pid)
    })
    const output = await readFile(env.GITHUB_OUTPUT, 'utf8').catch(() => '')
    const keyMode = (await stat(join(folder, 'service.json'))).mode & 0o777
    return { ...end, keyMode, outputs: Object.fromEntries(output.split('\n').map((line) => line.split('='))) }
  }

  it('starts the service, masks its random key and outputs key and address', async () => {
    const { code, stdout, outputs, keyMode } = await runStep(WEB_SHOP)
    expect(keyMode).toBe(0o600)
    expect({ code, stdout }).toEqual({ code: 0, stdout: `::add-mask::${outputs.key}\n` })
    expect(outputs.key).toMatch(/^[\w-]{32}$/)
    expect((await clientOf(outputs.url, outputs.key).get('none')).status).toBe(404)
    const inputs = steps.find((step) => step.with?.['base-url'] !== undefined)?.with
    for (const [input, output] of [
      ['base-url', 'url'],
      ['api-key', 'key'],
    ] as const) {
      expect(inputs?.[input]?.replace(/[${} ]/g, '')).toBe(`steps.service.outputs.${output}`)
    }
  })

  it('fails with the reason if the service cannot start', async () => {
    const { code, stdout } = await runStep()
    expect(code).toBe(1)
    expect(stdout).toMatch(/has neither a Vitest nor a Playwright configuration/)
  })
})

describe('the walk with curl', () => {
  it('gets a response to each of its requests, none of them an error', async () => {
    const service = await startScriptedService({ keys: ['demo'], script: { runningMs: Infinity } })
    onTestFinished(() => service.close())
    const [, setUp = '', ...walk] = blocksOf('Every endpoint, with curl', 'sh')
    const shell = setUp.replace('http://127.0.0.1:4380', service.url)
    const responses: string[] = []
    // A person copies the id of one response into the next commands.
    for (const part of walk.join('').split(/^(?=RUN=)/m)) {
      const id = /"(?:runId|testSuiteRunId)":"([^"]+)"/.exec(responses.at(-1) ?? '')?.[1] ?? ''
      const { code, stdout } = await bash(shell + part.replace(/^RUN=.*$/m, `RUN=${id}`), { env: PLAIN_ENV })
      expect(code, part).toBe(0)
      responses.push(...stdout.trim().split('\n'))
    }
    expect(service.requests.map(({ kind, response }) => [kind, response?.status])).toEqual([
      ['start', 200],
      ['get', 200],
      ['start', 200],
      ['cancel', 200],
      ['suite-start', 200],
      ['suite-status', 200],
      ['suite-result', 200],
    ])
    expect(responses).toHaveLength(service.requests.length)
    expectConformingRequests(service)
  })
})
