import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { parse } from 'yaml'
import { expectConformingRequests } from '../../test/support/openapi.ts'
import { startScriptedService } from '../../tools/scripted-service/scripted-service.ts'
import { USAGE } from '../src/settings/command-line.ts'
import { PLAIN_ENV, REPOSITORY } from './support/a-local-service.ts'

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

it('lists the inputs and outputs of the action', () => {
  const { inputs, outputs } = parse(readFileSync(join(REPOSITORY, 'local-service/action.yml'), 'utf8'))
  const section = README.slice(README.indexOf('## Inputs and outputs')).split('\n## ')[0] ?? ''
  const listed = [...section.matchAll(/^\| `([\w-]+)`/gm)].map(([, name]) => name)
  expect(listed).toEqual([...Object.keys(inputs), ...Object.keys(outputs)])
})

describe('the walk with curl', () => {
  it('gets a response to each of its requests, none of them an error', async () => {
    const service = await startScriptedService({ keys: ['demo'], script: { runningMs: Infinity } })
    onTestFinished(() => service.close())
    const [, block = ''] = blocksOf('Requests with curl', 'sh')
    const [setUp = '', ...walk] = block.split(/^(?=call "|RUN=)/m)
    const shell = setUp.replace('http://127.0.0.1:4380', service.url)
    const responses: string[] = []
    // A person copies the id of one response into the next commands.
    for (const part of walk.join('').split(/^(?=RUN=)/m)) {
      const id = /"runId":"([^"]+)"/.exec(responses.at(-1) ?? '')?.[1] ?? ''
      const { code, stdout } = await bash(shell + part.replace(/^RUN=.*$/m, `RUN=${id}`), { env: PLAIN_ENV })
      expect(code, part).toBe(0)
      responses.push(...stdout.trim().split('\n'))
    }
    expect(service.requests.map(({ kind, response }) => [kind, response?.status])).toEqual([
      ['start', 200],
      ['get', 200],
      ['cancel', 200],
    ])
    expect(responses).toHaveLength(service.requests.length)
    expectConformingRequests(service)
  })
})
