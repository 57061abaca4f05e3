import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { messageOf } from '../../../src/text/untrusted.ts'
import { ConfigurationError } from '../settings/configuration.ts'

// The service listens on loopback only, because whoever reaches it can run code on this machine.
const HOST = '127.0.0.1'

/** Without a port, the system chooses a free one. Throws a ConfigurationError if the service cannot listen on the port. */
export async function listen(port: string | undefined, fetch: Parameters<typeof getRequestListener>[0]) {
  const listener = getRequestListener(fetch, {
    overrideGlobalObjects: false,
    // If nobody has begun to read a body, Node reads it. So the response reaches a client that is still sending.
    autoCleanupIncoming: false,
    errorHandler: (error) => Response.json({ error: `The request is invalid: ${messageOf(error)}.` }, { status: 400 }),
  })
  const server = createServer(listener)
  try {
    await once(server.listen({ port, host: HOST }), 'listening')
  } catch (error) {
    throw new ConfigurationError(`${messageOf(error)}\nChoose another --port, or leave it out for any free one.`)
  }
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
