import { createServer, type IncomingHttpHeaders } from 'node:http'
import { connect } from 'node:net'
import { listen } from './recording-server.ts'

interface ForwardProxyOptions {
  /** The status to refuse every CONNECT with. */
  readonly refusal?: string
  /** The port of this machine to which a `host:port` leads. Other hosts are resolved as usual. */
  readonly ports?: Readonly<Record<string, number>>
}

/** An HTTP proxy that only makes tunnels (RFC 9110, 9.3.6). */
export async function forwardProxy({ refusal, ports = {} }: ForwardProxyOptions = {}) {
  /** The requests to the proxy, as `CONNECT host:port`. */
  const asked: string[] = []
  const headers: IncomingHttpHeaders[] = []
  const server = createServer()
  server.on('connect', (incoming, socket, head) => {
    asked.push(`CONNECT ${incoming.url}`)
    headers.push(incoming.headers)
    if (refusal !== undefined) {
      socket.end(`HTTP/1.1 ${refusal}\r\n\r\n`)
      return
    }
    const [host, port] = (incoming.url ?? '').split(':')
    const ownPort = ports[incoming.url ?? '']
    const tunnel = connect(ownPort ?? Number(port), ownPort === undefined ? host : '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      tunnel.write(head)
      tunnel.pipe(socket).pipe(tunnel)
    })
    const close = () => {
      tunnel.destroy()
      socket.destroy()
    }
    for (const end of [tunnel, socket]) end.on('error', close).on('close', close)
  })
  const { port, connections } = await listen(server)
  return { address: `http://127.0.0.1:${port}`, asked, headers, connections }
}
