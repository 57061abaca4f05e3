import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { messageOf } from '../../../src/text/untrusted.ts'
import { ConfigurationError } from '../settings/project.ts'

// The service listens on loopback only, because whoever reaches it can run code on this machine.
const HOST = '127.0.0.1'

/**
 * Without a port, the system chooses a free one. Throws a ConfigurationError if the service cannot listen on the port. A request
 * waits until there is a handler.
 */
export async function listen(port: string | undefined, handler: () => Promise<RequestListener>) {
  const loaded = Promise.withResolvers<RequestListener>()
  const server = createServer(async (request, response) => (await loaded.promise)(request, response))
  try {
    await once(server.listen({ port, host: HOST }), 'listening')
  } catch (error) {
    throw new ConfigurationError(`${messageOf(error)}\nChoose another --port, or leave it out for any free one.`)
  }
  loaded.resolve(handler())
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
