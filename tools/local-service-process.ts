import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'

const MAIN = join(import.meta.dirname, '../local-service/src/main.ts')

export interface ServiceProcess extends AsyncDisposable {
  readonly url: string
  readonly key: string
}

/** Starts the local service as its users do, with these arguments. Its log goes to a file. Throws if it does not start. */
export async function startServiceProcess(args: readonly string[], logFile: string): Promise<ServiceProcess> {
  const log = openSync(logFile, 'a')
  const data = mkdtempSync(join(tmpdir(), 'local-service-data-'))
  const command = [MAIN, '--json', '--data', data, ...args]
  // The process is detached, so Ctrl-C in the terminal does not end it. The caller first cancels the run, and then ends the service.
  const child = spawn(process.execPath, command, { stdio: ['ignore', 'pipe', log], detached: true })
  closeSync(log)
  const exited = once(child, 'exit')
  const printed: Promise<unknown[]> = once(child.stdout as Readable, 'data')
  const [line] = await Promise.race([printed, exited.then(() => [])])
  if (line === undefined) throw new Error(`The local service did not start; ${logFile} says why.`)
  const { url, key } = JSON.parse(String(line))
  const stop = async () => {
    child.kill()
    await exited
    rmSync(data, { recursive: true, force: true })
  }
  return { url, key, [Symbol.asyncDispose]: stop }
}
