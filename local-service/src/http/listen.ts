import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

// The tests in local-service/test/interface test this file.

export const BODY_LIMIT_BYTES = 1024 * 1024

// The service listens on loopback only, because whoever reaches it can run code on this machine.
const HOST = '127.0.0.1'

/** With port 0, the system chooses a free port. */
export async function listen(port: number, onRequest: RequestListener) {
  const server = createServer(onRequest)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, HOST, resolve)
  })
  const address = server.address() as AddressInfo
  return {
    /** Scheme, address and port, without a slash at the end. */
    url: `http://${HOST}:${address.port}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** Undefined if the body is too large. It is still read then, so that the response reaches a client that is still sending. */
export async function readBody(message: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let sizeBytes = 0
  for await (const chunk of message as AsyncIterable<Buffer>) {
    sizeBytes += chunk.length
    if (sizeBytes <= BODY_LIMIT_BYTES) chunks.push(chunk)
  }
  return sizeBytes > BODY_LIMIT_BYTES ? undefined : Buffer.concat(chunks).toString()
}

/** A response with one of the status codes that docs/openapi.yaml has. */
export interface ServiceResponse {
  readonly status: 200 | 400 | 401 | 404 | 500
  /** If there is a `contentType`, the body is a text and is sent unchanged. Otherwise it is sent as JSON. */
  readonly body: unknown
  readonly contentType?: string | undefined
}

export function sendResponse(to: ServerResponse, { status, body, contentType }: ServiceResponse): void {
  const text = contentType === undefined ? JSON.stringify(body) : String(body)
  if (status === 401) to.setHeader('www-authenticate', 'Bearer')
  to.writeHead(status, {
    'content-type': contentType ?? 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
  })
  to.end(text)
}
