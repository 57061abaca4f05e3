import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, expect, test } from 'vitest'

// A name server that never responds, in a network and a file system of its own: that takes Linux, root and iproute2.
const hasNamespaces = spawnSync('unshare', ['--mount', '--net', 'ip', 'link', 'set', 'lo', 'up']).status === 0

const folder = mkdtempSync(join(tmpdir(), 'name-look-up-'))
afterAll(() => rmSync(folder, { recursive: true }))

const MAIN = resolve(import.meta.dirname, '../../dist/main/index.js')
const NAME_SERVER = `
  const server = require('node:dgram').createSocket('udp4')
  server.on('message', () => console.log('the name server was asked'))
  server.bind(53, '127.0.0.1')
`
// A shell loses variables with a dash in their names.
const SCRIPT = `
  ip link set lo up &&
  mount --bind "$FOLDER/resolv.conf" /etc/resolv.conf &&
  { "$NODE" --eval "$NAME_SERVER" & } &&
  exec env INPUT_BASE-URL=https://tests.example.com INPUT_API-KEY=key-12345678 "$NODE" "$MAIN"
`

/** When the runner sends its second signal. */
const SIGTERM_AFTER_MS = 7_500

test.skipIf(!hasNamespaces)(
  'ends by SIGINT alone if it is cancelled while a host name is being looked up',
  async () => {
    writeFileSync(join(folder, 'resolv.conf'), 'nameserver 127.0.0.1\n')
    for (const name of ['output', 'state', 'summary']) writeFileSync(join(folder, name), '')
    const step = spawn('unshare', ['--mount', '--net', 'sh', '-c', SCRIPT], {
      cwd: folder,
      // Its own process group, so that the name server ends with it.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: process.env.PATH,
        FOLDER: folder,
        NODE: process.execPath,
        NAME_SERVER,
        MAIN,
        INPUT_PROJECT: 'web-shop',
        INPUT_BRANCH: 'main',
        GITHUB_OUTPUT: join(folder, 'output'),
        GITHUB_STATE: join(folder, 'state'),
        GITHUB_STEP_SUMMARY: join(folder, 'summary'),
        RUNNER_TEMP: folder,
        GITHUB_WORKSPACE: folder,
      },
    })
    try {
      const log = await untilLogged(step, 'the name server was asked')
      const signalsSent: NodeJS.Signals[] = []
      const send = (signal: NodeJS.Signals) => {
        signalsSent.push(signal)
        step.kill(signal)
      }
      const exited = once(step, 'exit')
      send('SIGINT')
      const nextSignal = setTimeout(send, SIGTERM_AFTER_MS, 'SIGTERM')
      expect(await exited).toEqual([1, null])
      clearTimeout(nextSignal)
      expect(signalsSent).toEqual(['SIGINT'])
      expect(log.join('')).toContain('::error title=Step cancelled::')
    } finally {
      if (step.pid !== undefined) process.kill(-step.pid, 'SIGKILL')
    }
  },
)

/** What the process writes, then and later. */
async function untilLogged(step: ChildProcess, text: string): Promise<readonly string[]> {
  const log: string[] = []
  for (const stream of [step.stdout, step.stderr]) stream?.on('data', (chunk) => log.push(String(chunk)))
  while (!log.join('').includes(text)) {
    if (step.exitCode !== null) throw new Error(`exited with ${step.exitCode}: ${log.join('')}`)
    await Promise.race([once(step.stdout ?? step, 'data'), once(step, 'exit')])
  }
  return log
}
