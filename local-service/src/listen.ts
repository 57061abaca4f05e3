import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { BODY_LIMIT_BYTES, type ServiceRequest, type ServiceResponse } from './request-handler.ts'

export interface Listener {
  /** Scheme, address and port, without a slash at the end. */
  readonly url: string
  readonly port: number
  /** Ends every connection and frees the port. */
  close(): Promise<void>
}

export interface ListenOptions {
  /** 0 or absent: any free port. */
  readonly port?: number
  /** PEM texts. With them the service speaks HTTPS. */
  readonly tls?: { readonly key: string; readonly cert: string }
}

// Loopback only: whoever reaches the service can run code on this machine.
const HOST = '127.0.0.1'

/** How long a client may take to send one request. */
const REQUEST_LIMIT_MS = 30_000

/** Listens on this machine's loopback address. */
export async function listen(options: ListenOptions, onRequest: RequestListener): Promise<Listener> {
  const server: Server = options.tls ? createTlsServer(options.tls, onRequest) : createServer(onRequest)
  server.requestTimeout = REQUEST_LIMIT_MS
  server.on('clientError', (_error, socket) => {
    if (socket.writable) socket.end(malformedHttp())
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port ?? 0, HOST, resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `${options.tls ? 'https' : 'http'}://${HOST}:${port}`,
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** Reads a request whole, up to the size limit; undefined if the client closed the connection before its end. */
export async function readRequest(message: IncomingMessage): Promise<ServiceRequest | undefined> {
  const chunks: Buffer[] = []
  let sizeBytes = 0
  try {
    for await (const chunk of message as AsyncIterable<Buffer>) {
      sizeBytes += chunk.length
      // What is too much is still read off the wire, so that the response reaches a client that is still sending.
      if (sizeBytes <= BODY_LIMIT_BYTES) chunks.push(chunk)
    }
  } catch {
    return undefined
  }
  return {
    method: message.method ?? '',
    target: message.url ?? '',
    authorization: message.headers.authorization,
    contentType: message.headers['content-type'],
    body: sizeBytes > BODY_LIMIT_BYTES ? { kind: 'too-large' } : decode(Buffer.concat(chunks)),
  }
}

export function sendResponse(to: ServerResponse, response: ServiceResponse): void {
  const text = JSON.stringify(response.body)
  to.writeHead(response.status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
    ...(response.status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
  })
  to.end(text)
}

function decode(bytes: Buffer): ServiceRequest['body'] {
  try {
    return { kind: 'text', text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) }
  } catch {
    return { kind: 'not-utf8' }
  }
}

function malformedHttp(): string {
  const body = JSON.stringify({ error: 'This is not an HTTP/1.1 request that this service can read.' })
  return [
    'HTTP/1.1 400 Bad Request',
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
    '',
    body,
  ].join('\r\n')
}
