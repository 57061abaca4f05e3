import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

// The scripts of the recipes get a `gh` that has only `gh api`, and the routes of GitHub's API that the recipes use.

export interface PostedStatus {
  readonly sha: string
  readonly state: string
  readonly context: string
  readonly target_url: string
}

/** The response of a route. It is JSON, or pages of JSON. */
type Routes = Readonly<Record<string, unknown>>

export interface GitHubCommands extends AsyncDisposable {
  /** The first folder in the PATH of the scripts. */
  readonly folder: string
  /** For the action itself, as `api_url`. */
  readonly url: string
  /** By the path below the repository, such as `pulls/7`. If a route is a function, each request calls it with the query. */
  routes: Routes
  readonly statuses: readonly PostedStatus[]
}

const REPOSITORY = '/repos/octo-org/web-shop/'

/** GitHub's runners have both commands. */
export const HAS_COMMANDS = ['jq', 'curl'].every((name) => spawnSync(name, ['--version']).status === 0)

export async function startGitHubCommands(routes: Routes): Promise<GitHubCommands> {
  const statuses: PostedStatus[] = []
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://127.0.0.1')
    const route = pathname.replace(REPOSITORY, '')
    const body = await text(request)
    const [, sha] = /^statuses\/(.+)$/.exec(route) ?? []
    if (request.method === 'POST' && sha !== undefined) {
      statuses.push({ sha, ...Object.fromEntries(new URLSearchParams(body)) } as PostedStatus)
      return send(response, 201, {})
    }
    const found = request.method === 'GET' ? commands.routes[route] : undefined
    const value = typeof found === 'function' ? found(searchParams) : found
    if (value === undefined) return send(response, 404, { message: 'Not Found' })
    const pages: unknown[] = value instanceof Pages ? [...value.pages] : [value]
    const page = Number(searchParams.get('page') ?? 1)
    const next = page < pages.length ? { link: `${url}${pathname}?page=${page + 1}` } : {}
    send(response, 200, pages[page - 1], next)
  }
  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const folder = mkdtempSync(join(tmpdir(), 'commands-'))
  writeFileSync(join(folder, 'gh'), GH.replace('API_URL', url), { mode: 0o755 })
  const commands: GitHubCommands = {
    folder,
    url,
    routes,
    statuses,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      rmSync(folder, { recursive: true, force: true })
    },
  }
  return commands
}

export class Pages {
  readonly pages: readonly unknown[]

  constructor(...pages: readonly unknown[]) {
    this.pages = pages
  }
}

function send(response: ServerResponse, status: number, json: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers })
  response.end(JSON.stringify(json))
}

/** `gh api PATH [--method GET] [--paginate] [--silent] [--jq FILTER] [-f NAME=VALUE]…`, and nothing else. */
const GH = `#!/bin/bash
set -eo pipefail
[[ $1 = api && -n $GH_TOKEN ]]
url=API_URL/$2 filter=. options=()
shift 2
while test $# -gt 0; do
  case $1 in
    --method) test "$2" = GET; options+=(--get); shift ;;
    --paginate) paginate=yes ;;
    --silent) filter=empty ;;
    --jq) filter=$2; shift ;;
    -f) options+=(--data-urlencode "$2"); shift ;;
    *) exit 1 ;;
  esac
  shift
done
while test -n "$url"; do
  response=$(curl --fail --silent --show-error --write-out '\\n<%header{link}' "\${options[@]}" "$url")
  jq --raw-output "$filter" <<< "\${response%$'\\n'*}"
  url=\${paginate:+\${response##*<}}
done
`
