import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { messageOf } from '../../../src/text/untrusted.ts'
import type { ServiceContext } from '../runs/start.ts'
import type { Configuration } from '../settings/configuration.ts'
import { ConfigurationError } from '../settings/project.ts'

// The service listens on loopback only, because whoever reaches it can run code on this machine.
const HOST = '127.0.0.1'

/** Without a port, the system chooses a free one. Throws a ConfigurationError if the service cannot listen on the port. */
export async function listen(
  port: string | undefined,
  configuration: Configuration,
  service: ServiceContext,
  key: string,
) {
  // `api` is set in the same turn as the event `listening`, so before the first request.
  let api: Promise<RequestListener>
  const server = createServer(async (request, response) => (await api)(request, response))
  try {
    await once(server.listen({ port, host: HOST }), 'listening')
  } catch (error) {
    throw new ConfigurationError(`${messageOf(error)}\nChoose another --port, or leave it out for any free one.`)
  }
  api = loadApi(configuration, service, key)
  const address = server.address() as AddressInfo
  return {
    url: `http://${HOST}:${address.port}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/**
 * The API loads Node's classes for requests, which takes 35 ms. So it is loaded when the service has an address. While it loads, the client
 * learns the address and starts. The first request waits.
 */
async function loadApi(...args: [Configuration, ServiceContext, key: string]): Promise<RequestListener> {
  // The import blocks this thread. So the caller of `listen` first gets the address, and can pass it on.
  await nextTurn()
  const { createRequestListener } = await import('./api.ts')
  return createRequestListener(...args)
}
