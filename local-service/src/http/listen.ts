import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Parsed } from './request-bodies.ts'
import type { ServiceRequest, ServiceResponse } from './request-handler.ts'

export const BODY_LIMIT_BYTES = 1024 * 1024

// The service listens on loopback only, because whoever reaches it can run code on this machine.
const HOST = '127.0.0.1'

/**
 * Far more than the clients of one machine need. Node closes further connections, and ends idle connections after seconds.
 */
export const CONNECTION_LIMIT = 256

/** With port 0, the system chooses a free port. A client may take `requestLimitMs` to send one request. */
export async function listen(port: number, onRequest: RequestListener, requestLimitMs = 30_000) {
  const server = createServer({
    requestTimeout: requestLimitMs,
    headersTimeout: Math.min(requestLimitMs, 10_000),
    // How often Node looks for requests over their limit. By default, it looks every 30 s.
    connectionsCheckingInterval: Math.min(requestLimitMs, 1_000),
  })
  server.maxConnections = CONNECTION_LIMIT
  // By itself, Node asks for the body on `Expect: 100-continue` before the key is checked. For other expectations, it responds
  // with 417.
  for (const event of ['request', 'checkContinue', 'checkExpectation']) server.on(event, onRequest)
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => endWithError(socket as Socket, error.code))
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

/** The headers are read. `readBody` reads the body later. */
export function toServiceRequest(message: IncomingMessage, response: ServerResponse): ServiceRequest {
  return {
    method: message.method ?? '',
    target: message.url ?? '',
    headers: message.headers,
    hosts: message.headersDistinct.host ?? [],
    readBody() {
      if (message.headers.expect?.toLowerCase() === '100-continue') response.writeContinue()
      return readBody(message)
    },
  }
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

async function readBody(message: IncomingMessage): Promise<Parsed<string>> {
  const chunks: Buffer[] = []
  let sizeBytes = 0
  try {
    for await (const chunk of message as AsyncIterable<Buffer>) {
      sizeBytes += chunk.length
      // A body that is too large is still read, so that the response reaches a client that is still sending.
      if (sizeBytes <= BODY_LIMIT_BYTES) chunks.push(chunk)
    }
  } catch {
    return { kind: 'invalid', error: 'The body is not complete.' }
  }
  if (sizeBytes > BODY_LIMIT_BYTES) {
    const error = `The body is larger than ${BODY_LIMIT_BYTES} bytes, which is all this service reads.`
    return { kind: 'invalid', error }
  }
  try {
    return { kind: 'valid', value: new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks)) }
  } catch {
    return { kind: 'invalid', error: 'The body is not UTF-8.' }
  }
}

function endWithError(socket: Socket, code: string | undefined): void {
  if (!socket.writable) return
  const body = JSON.stringify({ error: describeClientError(code) })
  const response = [
    'HTTP/1.1 400 Bad Request',
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
    '',
    body,
  ].join('\r\n')
  // If a client continues to send, it would otherwise keep the connection open.
  socket.end(response, () => socket.destroy())
}

function describeClientError(code: string | undefined): string {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'The request did not arrive within the time limit.'
  if (code === 'HPE_HEADER_OVERFLOW') return "The request's headers are too large."
  return 'This is not an HTTP/1.1 request that this service can read.'
}
