import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'

// The service listens on loopback only, because whoever reaches it can run code on this machine.
const HOST = '127.0.0.1'

/** Listens on a free port. A request waits until there is a handler. */
export async function listen(handler: () => Promise<RequestListener>) {
  const loaded = Promise.withResolvers<RequestListener>()
  const server = createServer(async (request, response) => (await loaded.promise)(request, response))
  await once(server.listen({ port: 0, host: HOST }), 'listening')
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
