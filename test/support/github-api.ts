import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Certificate } from './self-signed-certificate.ts'

// A stand-in for GitHub's REST and GraphQL API over a real socket. It has the parts for the comments of a pull request. It follows GitHub's rules for pages, for rate limits, and for what each kind of token may do.

/** The account that the token of every workflow run belongs to. */
export const ACTIONS_BOT = 'github-actions[bot]'

export interface StoredComment {
  readonly id: number
  readonly issue: number
  /** The login of its account. Undefined if the account was deleted. */
  author: string | undefined
  body: string
}

export interface RecordedRequest {
  readonly method: string
  /** Without the host, with the query. */
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

export type Fault =
  | {
      readonly kind: 'status'
      readonly status: number
      readonly message?: string
      readonly headers?: Record<string, string>
    }
  /** By default with status 200. */
  | {
      readonly kind: 'json'
      readonly json: unknown
      readonly status?: number
      readonly headers?: Record<string, string>
    }
  /** The request is read, and no response is ever sent. */
  | { readonly kind: 'hang' }
  /** The connection breaks before the request is carried out. */
  | { readonly kind: 'reset' }
  /** The body of the response is shorter than its length says. */
  | { readonly kind: 'cut-short' }
  /** A page of HTML with status 200, as a captive portal sends it. */
  | { readonly kind: 'not-json' }
  /** The response is right, but something happens before the request is carried out. */
  | { readonly kind: 'meanwhile'; readonly happens: () => void }

export interface Occasion {
  readonly method: string
  /** If absent, all paths. */
  readonly path?: RegExp
  /** If absent, once. */
  readonly times?: number
}

type Access = 'write' | 'read' | 'none'

interface ApiResponse {
  readonly status: number
  readonly headers?: Record<string, string>
  readonly json?: unknown
}

const FORBIDDEN: ApiResponse = {
  status: 403,
  json: {
    message: 'Resource not accessible by integration',
    documentation_url: 'https://docs.github.com/rest',
    status: '403',
  },
}
const NOT_FOUND: ApiResponse = { status: 404, json: { message: 'Not Found', status: '404' } }
const COMMENT_LIMIT = 65_536

export interface GitHubApiOptions {
  readonly pathPrefix?: string | undefined
  /** If given, clients reach the API by https, and only if they trust the certificate. */
  readonly certificate?: Certificate | undefined
}

export async function startGitHubApi(options: GitHubApiOptions = {}): Promise<GitHubApi> {
  const api = new GitHubApi(options)
  await api.listen()
  return api
}

export class GitHubApi {
  /** Each issue of this repository is a pull request. There are no other repositories. */
  readonly repository = 'octo-org/web-shop'
  readonly requests: RecordedRequest[] = []
  comments: StoredComment[] = []
  /** The server in the addresses of the comments. */
  serverUrl = 'https://github.com'
  readonly #pathPrefix: string
  readonly #tokens = new Map<string, { login: string; access: Access }>()
  readonly #faults: { occasion: Occasion; fault: Fault; left: number; hit: () => void }[] = []
  readonly #server: ReturnType<typeof createServer>
  readonly #scheme: string
  #nextId = 1_000_001
  #origin = ''

  constructor({ pathPrefix = '', certificate }: GitHubApiOptions) {
    this.#pathPrefix = pathPrefix
    const handle = (request: IncomingMessage, response: ServerResponse): void => {
      this.#handle(request, response).catch(() => response.destroy())
    }
    this.#server = certificate === undefined ? createServer(handle) : createTlsServer(certificate, handle)
    this.#scheme = certificate === undefined ? 'http' : 'https'
    this.#server.keepAliveTimeout = 500
  }

  /** What the runner gives as `GITHUB_API_URL`. */
  get url(): string {
    return `${this.#origin}${this.#pathPrefix}`
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    this.#origin = `${this.#scheme}://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  /** Adds a token. A token with access `none` cannot see the repository, like a private repository of others. */
  grant(token: string, login: string, access: Access): void {
    this.#tokens.set(token, { login, access })
  }

  addComment(author: string, body: string, issue = 7): StoredComment {
    const comment = { id: this.#nextId++, issue, author, body }
    this.comments.push(comment)
    return comment
  }

  /** Lets the next requests of a kind have a fault. The promise resolves at the first fault. */
  inject(occasion: Occasion, fault: Fault): Promise<void> {
    return new Promise((hit) => this.#faults.push({ occasion, fault, left: occasion.times ?? 1, hit }))
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const recorded: RecordedRequest = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      body: Buffer.concat(chunks).toString(),
    }
    this.requests.push(recorded)

    const fault = this.#takeFault(recorded)
    switch (fault?.kind) {
      case 'hang':
        return
      case 'reset':
        response.destroy()
        return
      case 'cut-short': {
        const text = JSON.stringify(this.#respond(recorded).json)
        response.writeHead(200, { 'content-type': 'application/json; charset=utf-8', 'content-length': text.length })
        response.write(text.slice(0, text.length / 2), () => response.destroy())
        return
      }
      case 'not-json':
        response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Please log in</html>')
        return
      case 'meanwhile':
        fault.happens()
        break
    }
    const { status, headers, json } = (fault && responseOfFault(fault)) ?? this.#respond(recorded)
    response.writeHead(status, {
      ...(json === undefined ? {} : { 'content-type': 'application/json; charset=utf-8' }),
      'x-ratelimit-remaining': '998',
      ...headers,
    })
    response.end(json === undefined ? undefined : JSON.stringify(json))
  }

  #takeFault({ method, path }: RecordedRequest): Fault | undefined {
    const due = this.#faults.find(
      ({ occasion, left }) => left > 0 && occasion.method === method && (occasion.path?.test(path) ?? true),
    )
    if (due === undefined) return undefined
    due.left--
    due.hit()
    return due.fault
  }

  #respond({ method, path, headers, body }: RecordedRequest): ApiResponse {
    const [, token = ''] = /^(?:token|bearer) (.+)$/i.exec(headers.authorization ?? '') ?? []
    const holder = this.#tokens.get(token)
    if (holder === undefined) return { status: 401, json: { message: 'Bad credentials', status: '401' } }

    const url = new URL(path, this.#origin)
    // GitHub Enterprise Server has REST at /api/v3 and GraphQL at /api/graphql.
    const graphQlPath = this.#pathPrefix === '/api/v3' ? '/api/graphql' : `${this.#pathPrefix}/graphql`
    if (method === 'POST' && url.pathname === graphQlPath) return viewer(body, holder.login)
    if (!url.pathname.startsWith(`${this.#pathPrefix}/`)) return NOT_FOUND
    const route = `${method} ${url.pathname.slice(this.#pathPrefix.length)}`

    const [, verb = '', repository, resource = ''] = /^(\w+) \/repos\/([^/]+\/[^/]+)\/(.+)$/.exec(route) ?? []
    if (repository !== this.repository || holder.access === 'none') return NOT_FOUND
    if (verb !== 'GET' && holder.access === 'read') return FORBIDDEN
    const [, rest = ''] = /^issues\/(.+)$/.exec(resource) ?? []
    const [, issue] = /^(\d+)\/comments$/.exec(rest) ?? []
    if (issue !== undefined) return this.#respondOnIssue(verb, Number(issue), url, body, holder.login)
    const [, id] = /^comments\/(\d+)$/.exec(rest) ?? []
    return id === undefined ? NOT_FOUND : this.#respondOnComment(verb, Number(id), body)
  }

  #respondOnIssue(verb: string, issue: number, url: URL, body: string, login: string): ApiResponse {
    if (verb === 'POST') {
      const text = commentText(body)
      return typeof text === 'string' ? { status: 201, json: this.#asJson(this.addComment(login, text, issue)) } : text
    }
    if (verb !== 'GET') return NOT_FOUND

    const perPage = Math.min(100, Number(url.searchParams.get('per_page') ?? 30))
    const page = Number(url.searchParams.get('page') ?? 1)
    const all = this.comments.filter((comment) => comment.issue === issue)
    const links = [
      ...(page > 1 ? [link(url, page - 1, 'prev')] : []),
      ...(page * perPage < all.length ? [link(url, page + 1, 'next')] : []),
    ]
    return {
      status: 200,
      headers: links.length > 0 ? { link: links.join(', ') } : {},
      json: all.slice((page - 1) * perPage, page * perPage).map((comment) => this.#asJson(comment)),
    }
  }

  #respondOnComment(verb: string, id: number, body: string): ApiResponse {
    const comment = this.comments.find((candidate) => candidate.id === id)
    if (comment === undefined) return NOT_FOUND
    if (verb !== 'PATCH') return NOT_FOUND
    const text = commentText(body)
    if (typeof text !== 'string') return text
    comment.body = text
    return { status: 200, json: this.#asJson(comment) }
  }

  #asJson({ id, issue, author, body }: StoredComment) {
    return {
      id,
      url: `${this.url}/repos/${this.repository}/issues/comments/${id}`,
      html_url: `${this.serverUrl}/${this.repository}/pull/${issue}#issuecomment-${id}`,
      user: author === undefined ? null : { login: author },
      body,
    }
  }
}

function viewer(body: string, login: string): ApiResponse {
  const { query } = JSON.parse(body)
  if (typeof query !== 'string' || !/^\{\s*viewer\s*\{\s*login\s*\}\s*\}$/.test(query)) {
    return { status: 200, json: { errors: [{ message: 'Parse error' }] } }
  }
  return { status: 200, json: { data: { viewer: { login } } } }
}

function commentText(body: string): string | ApiResponse {
  const { body: text } = JSON.parse(body)
  if (typeof text !== 'string' || text === '')
    return { status: 422, json: { message: 'Validation Failed', status: '422' } }
  if (text.length <= COMMENT_LIMIT) return text
  return { status: 422, json: { message: `Body is too long (maximum is ${COMMENT_LIMIT} characters)`, status: '422' } }
}

function link(url: URL, page: number, rel: string): string {
  const target = new URL(url)
  target.searchParams.set('page', String(page))
  return `<${target}>; rel="${rel}"`
}

function responseOfFault(fault: Fault): ApiResponse | undefined {
  switch (fault.kind) {
    case 'json':
      return { status: fault.status ?? 200, headers: fault.headers ?? {}, json: fault.json }
    case 'status':
      return {
        status: fault.status,
        headers: fault.headers ?? {},
        json: { message: fault.message ?? 'Server Error' },
      }
    default:
      return undefined
  }
}
