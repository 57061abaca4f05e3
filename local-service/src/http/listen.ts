import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { messageOf } from '../../../src/text/untrusted.ts'
import { ConfigurationError } from '../settings/configuration.ts'

// The service listens on loopback only, because whoever reaches it can run code on this machine.
const HOST = '127.0.0.1'

/** With port 0, the system chooses a free port. Throws a ConfigurationError if the service cannot listen on the port. */
export async function listen(port: number, fetch: Parameters<typeof getRequestListener>[0]) {
  const listener = getRequestListener(fetch, {
    overrideGlobalObjects: false,
    // If nobody has begun to read a body, Node reads it. So the response reaches a client that is still sending.
    autoCleanupIncoming: false,
    errorHandler: (error) => Response.json({ error: `The request is invalid: ${messageOf(error)}.` }, { status: 400 }),
  })
  const server = createServer(listener).listen(port, HOST)
  await once(server, 'listening').catch(({ code, message }: NodeJS.ErrnoException) => {
    const problem = code === 'EADDRINUSE' ? `Port ${port} is in use` : message
    throw new ConfigurationError(`${problem}. Choose another --port, or leave it out for any free one.`)
  })
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
