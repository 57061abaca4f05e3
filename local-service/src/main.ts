import { waitForStopSignal } from './machine/processes.ts'
import { type LocalService, startLocalService } from './service.ts'
import { readCommandLine, USAGE } from './settings/command-line.ts'
import { ConfigurationError } from './settings/project.ts'

function printAddress({ url, key, projects }: LocalService, json: boolean): void {
  if (json) {
    const printed = projects.map(({ id, folder, framework }) => ({ id, folder, framework: framework.name }))
    console.log(JSON.stringify({ url, key, projects: printed }))
    return
  }
  console.log('The test run service is up; Ctrl-C stops it.')
  console.log(`Address: ${url}`)
  console.log(`Key: ${key}`)
  for (const { id, framework, folder } of projects) console.log(`Project: ${id} (${framework.name}, ${folder})`)
}

async function main(): Promise<void> {
  // A signal during the start is not lost. The service stops when it is up.
  const stopSignal = waitForStopSignal()
  const commandLine = readCommandLine(process.argv.slice(2), process.env, process.cwd())
  if (commandLine === undefined) {
    console.log(USAGE)
    return
  }
  const { configuration, json, ...options } = commandLine
  // Tests must not see the service's key.
  const { LOCAL_SERVICE_KEY: _, ...env } = process.env
  const log = (line: string) => console.error(line)
  const service = await startLocalService(configuration, { ...options, env, log })
  printAddress(service, json)
  await stopSignal
  await service.close()
}

// If the reader of the output exits, the service continues.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)

main().catch((error: unknown) => {
  const isMistake = error instanceof ConfigurationError
  console.error(isMistake ? error.message : error)
  process.exitCode = isMistake ? 2 : 1
})
