import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import type { Certificate } from './self-signed-certificate.ts'

export interface ReceivedRequest {
  readonly method: string
  /** The request target as it was received. */
  readonly target: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export type Answer = (response: ServerResponse, request: ReceivedRequest) => void

export interface RecordingServer {
  readonly origin: string
  readonly port: number
  /** The requests that arrived whole, in their order. */
  readonly received: readonly ReceivedRequest[]
  /** The TCP connections that were made. */
  readonly connections: readonly Socket[]
  /** Resolves when so many connections have been made. */
  connected(count: number): Promise<void>
  /** Resolves when so many requests have arrived. */
  arrived(count: number): Promise<void>
}

/** A real server on this machine that keeps what it receives. It closes when the test ends. */
export async function recordingServer(respond: Answer, certificate?: Certificate): Promise<RecordingServer> {
  const received: ReceivedRequest[] = []
  const arrivals = new Milestones(() => received.length)
  const server = certificate === undefined ? createServer() : createTlsServer(certificate)
  server.on('request', async (request, response) => {
    let body = ''
    request.setEncoding('utf8')
    try {
      for await (const chunk of request) body += chunk
    } catch {
      return // it did not arrive whole
    }
    const { method = '', url = '', headers } = request
    const whole = { method, target: url, headers, body }
    received.push(whole)
    arrivals.check()
    respond(response, whole)
  })
  const { port, connections, connected } = await listen(server)
  const origin = `${certificate === undefined ? 'http' : 'https'}://127.0.0.1:${port}`
  return { origin, port, received, connections, connected, arrived: (count) => arrivals.reached(count) }
}

/** A server without HTTP: the test decides what happens to each TCP connection. */
export async function tcpServer(
  onConnection: (socket: Socket) => void,
): Promise<Pick<RecordingServer, 'port' | 'connections' | 'connected'>> {
  const server = createTcpServer((socket) => {
    socket.on('error', () => {})
    onConnection(socket)
  })
  return listen(server)
}

/** A port of this machine that nobody listens on. */
export async function closedPort(): Promise<number> {
  const server = createTcpServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** Answers with JSON. */
export function json(body: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Answer {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
  }
}

export async function listen(server: Server): Promise<Pick<RecordingServer, 'port' | 'connections' | 'connected'>> {
  const connections: Socket[] = []
  const milestones = new Milestones(() => connections.length)
  server.on('connection', (socket: Socket) => {
    socket.on('error', () => {})
    connections.push(socket)
    milestones.check()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    const closed = new Promise((resolve) => server.close(resolve))
    for (const socket of connections) socket.destroy()
    await closed
  })
  const { port } = server.address() as AddressInfo
  return { port, connections, connected: (count) => milestones.reached(count) }
}

class Milestones {
  readonly #count: () => number
  #waiting: { readonly count: number; readonly resolve: () => void }[] = []

  constructor(count: () => number) {
    this.#count = count
  }

  reached(count: number): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push({ count, resolve })
      this.check()
    })
  }

  check(): void {
    for (const { resolve } of this.#waiting.filter(({ count }) => count <= this.#count())) resolve()
    this.#waiting = this.#waiting.filter(({ count }) => count > this.#count())
  }
}
