import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { githubContext } from '../../tools/runner-emulator/step-runner/contexts.ts'
import { listen } from '../../tools/scripted-service/scripted-service.ts'
import type { Certificate } from './self-signed-certificate.ts'

// A stand-in for GitHub's REST and GraphQL API over a real socket. It has the parts for the comments of a pull request. It follows
// GitHub's rules for pages, and for what each kind of token may do.

/** The account that the token of every workflow run belongs to. */
export const ACTIONS_BOT = 'github-actions[bot]'

const CONTEXT = githubContext()
/** The token of the emulator's workflow runs. It may write comments. */
export const TOKEN = String(CONTEXT.token)
/** The only repository of the API. */
export const REPOSITORY = { id: 1, full_name: String(CONTEXT.repository), default_branch: 'main' }

/** A push to pull request 7. The branch lies in this repository, if `head` does not say otherwise. */
export function onPullRequest({ draft = false, head: repo = REPOSITORY } = {}) {
  const head = { ref: 'faster-checkout', sha: 'c'.repeat(40), repo }
  const pull_request = { number: 7, draft, head, base: { ref: 'main', repo: REPOSITORY } }
  return { name: 'pull_request', payload: { action: 'synchronize', number: 7, repository: REPOSITORY, pull_request } }
}

export interface StoredComment {
  readonly id: number
  readonly issue: number
  /** The login of its account. Undefined if the account was deleted. */
  author: string | undefined
  body: string
}

export interface RecordedRequest {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

interface ApiResponse {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** A text is a page of HTML, as a captive portal sends it. */
  readonly content?: unknown
}

/**
 * What happens to a request: another response, no response at all, a connection that breaks, or something before the request is
 * carried out.
 */
export type Fault = ApiResponse | 'hang' | 'reset' | (() => void)

interface Occasion {
  readonly method: string
  readonly path: RegExp
}

type Access = 'write' | 'read' | 'none'

const failed = (status: number, message: string): ApiResponse => ({ status, content: { message, status: `${status}` } })
const NOT_FOUND = failed(404, 'Not Found')

/** With a certificate, clients reach the API by https, and only if they trust the certificate. */
export async function startGitHubApi({
  pathPrefix = '',
  certificate,
}: {
  pathPrefix?: string
  certificate?: Certificate | undefined
} = {}) {
  const api = new Api(pathPrefix)
  const { url, close } = await listen({ tls: certificate }, (request, response) => {
    api.handle(request, response).catch(() => response.destroy())
  })
  api.url = `${url}${pathPrefix}`
  api.grant(TOKEN, ACTIONS_BOT, 'write')
  return Object.assign(api, { close })
}

export type GitHubApi = Awaited<ReturnType<typeof startGitHubApi>>

class Api {
  /** What the runner gives as `GITHUB_API_URL`. */
  url = ''
  /** Each issue of this repository is a pull request. There are no other repositories. */
  readonly repository = REPOSITORY.full_name
  readonly requests: RecordedRequest[] = []
  comments: StoredComment[] = []
  /** The server in the addresses of the comments. */
  serverUrl = 'https://github.com'
  readonly #pathPrefix: string
  readonly #tokens = new Map<string, { readonly login: string; readonly access: Access }>()
  readonly #faults: { readonly occasion: Occasion; readonly fault: Fault; readonly hit: () => void }[] = []
  #nextId = 1_000_001

  constructor(pathPrefix: string) {
    this.#pathPrefix = pathPrefix
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

  /** Lets the next request of a kind have a fault. The promise resolves when the request comes. */
  inject(occasion: Occasion, fault: Fault): Promise<void> {
    return new Promise((hit) => this.#faults.push({ occasion, fault, hit }))
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url: path = '', headers } = request
    const recorded = { method, path, headers, body: await text(request) }
    this.requests.push(recorded)

    const fault = this.#takeFault(recorded)
    if (fault === 'hang') return
    if (fault === 'reset') return void response.destroy()
    if (typeof fault === 'function') fault()
    const { status = 200, content, ...others } = typeof fault === 'object' ? fault : this.#respond(recorded)
    const [type, body] =
      typeof content === 'string' ? ['text/html', content] : ['application/json', JSON.stringify(content)]
    response.writeHead(status, { 'content-type': type, ...others.headers }).end(body)
  }

  #takeFault({ method, path }: RecordedRequest): Fault | undefined {
    const index = this.#faults.findIndex(({ occasion }) => occasion.method === method && occasion.path.test(path))
    const [due] = index < 0 ? [] : this.#faults.splice(index, 1)
    due?.hit()
    return due?.fault
  }

  #respond({ method, path, headers, body }: RecordedRequest): ApiResponse {
    const holder = this.#tokens.get(/^(?:token|bearer) (.+)$/i.exec(headers.authorization ?? '')?.[1] ?? '')
    if (holder === undefined) return failed(401, 'Bad credentials')
    const url = new URL(path, this.url)
    // GitHub Enterprise Server has REST at /api/v3 and GraphQL at /api/graphql.
    const graphQlPath = this.#pathPrefix === '/api/v3' ? '/api/graphql' : `${this.#pathPrefix}/graphql`
    if (method === 'POST' && url.pathname === graphQlPath) return viewer(body, holder.login)

    const root = `${this.#pathPrefix}/repos/${this.repository}/issues/`
    if (!url.pathname.startsWith(root) || holder.access === 'none') return NOT_FOUND
    if (method !== 'GET' && holder.access === 'read') return failed(403, 'Resource not accessible by integration')
    const [, issue, id] = /^(?:(\d+)\/comments|comments\/(\d+))$/.exec(url.pathname.slice(root.length)) ?? []
    const comment = this.comments.find((candidate) => candidate.id === Number(id))
    if (method === 'GET' && issue !== undefined) return this.#list(Number(issue), url)
    if (!(method === 'POST' && issue !== undefined) && !(method === 'PATCH' && comment !== undefined)) return NOT_FOUND
    const { body: given } = JSON.parse(body)
    if (typeof given !== 'string' || given === '') return failed(422, 'Validation Failed')
    if (comment === undefined)
      return { status: 201, content: this.#asJson(this.addComment(holder.login, given, Number(issue))) }
    comment.body = given
    return { content: this.#asJson(comment) }
  }

  /** One page of the comments of an issue, with the addresses of the pages before and after it. */
  #list(issue: number, url: URL): ApiResponse {
    const perPage = Math.min(100, Number(url.searchParams.get('per_page') ?? 30))
    const page = Number(url.searchParams.get('page') ?? 1)
    const all = this.comments.filter((comment) => comment.issue === issue)
    const links = [
      ...(page > 1 ? [link(url, page - 1, 'prev')] : []),
      ...(page * perPage < all.length ? [link(url, page + 1, 'next')] : []),
    ]
    return {
      headers: links.length > 0 ? { link: links.join(', ') } : {},
      content: all.slice((page - 1) * perPage, page * perPage).map((comment) => this.#asJson(comment)),
    }
  }

  #asJson({ id, issue, author, body }: StoredComment) {
    const html_url = `${this.serverUrl}/${this.repository}/pull/${issue}#issuecomment-${id}`
    return { id, html_url, user: author === undefined ? null : { login: author }, body }
  }
}

function viewer(body: string, login: string): ApiResponse {
  const isKnown = /^\{\s*viewer\s*\{\s*login\s*\}\s*\}$/.test(JSON.parse(body).query)
  return { content: isKnown ? { data: { viewer: { login } } } : { errors: [{ message: 'Parse error' }] } }
}

function link(url: URL, page: number, rel: string): string {
  const target = new URL(url)
  target.searchParams.set('page', String(page))
  return `<${target}>; rel="${rel}"`
}
