import { tmpdir } from 'node:os'
import { ConfigurationError } from './configuration.ts'
import { isStartedByNpm, readInvocation, UsageError } from './invocation.ts'
import { type LocalService, startLocalService } from './local-service.ts'

const PARENT_CHECK_MS = 500

/** npm and npx exit if a signal reaches only them, and do not pass it on. So this process watches its parent. */
function onParentExit(callback: () => void): void {
  const parent = process.ppid
  setInterval(() => process.ppid !== parent && callback(), PARENT_CHECK_MS).unref()
}

function printAddress({ url, keys, ...service }: LocalService, json: boolean): void {
  const projects = service.projects.map(({ id, folder, framework }) => ({ id, folder, framework }))
  if (json) {
    console.log(JSON.stringify({ url, key: keys[0], keys, projects }))
    return
  }
  console.log('The test run service is up; Ctrl-C stops it.')
  console.log(`Address: ${url}`)
  for (const key of keys) console.log(`Key: ${key}`)
  for (const { id, framework, folder } of projects) console.log(`Project: ${id} (${framework}, ${folder})`)
}

async function main(): Promise<void> {
  const stop = Promise.withResolvers<void>()
  // The service handles signals before it starts anything, so that nothing can be left behind.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop.resolve())
  if (isStartedByNpm(process.env)) onParentExit(stop.resolve)

  const invocation = await readInvocation(process.argv.slice(2), process.env, process.cwd())
  if ('text' in invocation) {
    console.log(invocation.text)
    return
  }
  // Tests must not see the service's key.
  const { LOCAL_SERVICE_KEY: _, ...env } = process.env
  const service = await startLocalService(invocation.settings, {
    folder: invocation.folder,
    env,
    dataFolder: invocation.dataFolder,
    temporaryFolder: tmpdir(),
    log: (line) => console.error(line),
  })
  printAddress(service, invocation.json)
  await stop.promise
  await service.close()
}

// If the reader of the output exits, the service continues.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)

main().catch((error: unknown) => {
  const isExpected = error instanceof UsageError || error instanceof ConfigurationError
  const message = isExpected ? error.message : describeListenError(error)
  console.error(message ?? error)
  process.exitCode = message === undefined ? 1 : 2
})

function describeListenError(error: unknown): string | undefined {
  if (!(error instanceof Error && 'syscall' in error && error.syscall === 'listen')) return undefined
  const { code, message, port } = error as NodeJS.ErrnoException & { port?: number }
  const problem = code === 'EADDRINUSE' ? `Port ${port} is in use` : message
  return `${problem}. Choose another --port, or leave it out for any free one.`
}
