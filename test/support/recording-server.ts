import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { createServer as createTlsServer, type ServerOptions } from 'node:https'
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'

export interface ReceivedRequest {
  readonly method: string
  readonly target: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export type Respond = (response: ServerResponse, request: ReceivedRequest) => void

export interface TcpServer {
  readonly port: number
  readonly connections: readonly Socket[]
  readonly connected: Promise<void>
}

/** A real server on this machine that records its requests. It closes when the test ends. */
export async function recordingServer(respond: Respond, tls?: ServerOptions, host?: string) {
  /** The requests that arrived whole, in their order. */
  const received: ReceivedRequest[] = []
  const arrived = Promise.withResolvers<void>()
  const server = tls === undefined ? createServer() : createTlsServer(tls)
  server.on('request', async (request, response) => {
    const body = await text(request).catch(() => undefined)
    // The request did not arrive whole.
    if (body === undefined) return
    const { method = '', url = '', headers } = request
    const whole = { method, target: url, headers, body }
    received.push(whole)
    arrived.resolve()
    respond(response, whole)
  })
  const listening = await listen(server, host)
  const origin = `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${listening.port}`
  return { ...listening, origin, received, arrived: arrived.promise }
}

export type RecordingServer = Awaited<ReturnType<typeof recordingServer>>

/** A server without HTTP. The test decides what happens to each TCP connection. */
export function tcpServer(onConnection: (socket: Socket) => void): Promise<TcpServer> {
  return listen(createTcpServer(onConnection))
}

/** A port of this machine that nobody listens on. */
export async function closedPort(): Promise<number> {
  const server = createTcpServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

export function json(body: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Respond {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
  }
}

export async function listen(server: Server, host = '127.0.0.1'): Promise<TcpServer> {
  const connections: Socket[] = []
  const connected = Promise.withResolvers<void>()
  server.on('connection', (socket: Socket) => {
    socket.on('error', () => {})
    connections.push(socket)
    connected.resolve()
  })
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  onTestFinished(async () => {
    const closed = new Promise((resolve) => server.close(resolve))
    for (const socket of connections) socket.destroy()
    await closed
  })
  const { port } = server.address() as AddressInfo
  return { port, connections, connected: connected.promise }
}
