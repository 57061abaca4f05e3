import { type WorkflowEvent, whyNoSecrets } from '../github/event.ts'
import type { Target } from '../model/run.ts'
import type { ServiceAddress } from '../service/client.ts'
import type { Proxies } from '../service/connection.ts'
import { type Fragment, fragment } from '../text/safe-text.ts'
import { hasCredentials, isSecure, parseAddress, withoutSecrets } from '../text/web-address.ts'
import type { InputReader } from './input-reader.ts'

/** Reads how to reach the service, and records problems. Use the result only after `orThrow`. */
export function readServiceAddress(
  inputs: InputReader,
  env: NodeJS.ProcessEnv,
  event: WorkflowEvent,
): ServiceAddress | undefined {
  const apiKey = readApiKey(inputs, event)
  // A fork's workflow gets no variables either, so empty inputs are then no problems of their own.
  const mayBeEmpty = isForkWithoutSecrets(inputs, event)
  const baseUrl = readBaseUrl(inputs, mayBeEmpty)
  const target = readTarget(inputs, mayBeEmpty)
  if (apiKey === undefined || baseUrl === undefined || target === undefined) return undefined
  return { apiKey, baseUrl, target, proxies: readProxies(inputs, env, baseUrl) }
}

export function isForkWithoutSecrets(inputs: InputReader, event: WorkflowEvent): boolean {
  return inputs.text('api-key') === '' && whyNoSecrets(event) === 'fork'
}

/** For each message that tells the user to skip a job. */
export const SKIPPED_PASSES = fragment`A skipped job counts as passed, so a required check then passes although nothing was tested.`

const LONGEST_KEY = 512

function readApiKey(inputs: InputReader, event: WorkflowEvent): string | undefined {
  const key = inputs.text('api-key')
  if (key !== '') {
    if (key.length <= LONGEST_KEY && /^[\x21-\x7e]+$/.test(key)) return key
    return inputs.problem(
      fragment`Input api-key contains white space or non-ASCII characters, or has more than ${LONGEST_KEY} characters, so it cannot be sent as a Bearer token (it is not shown). Copy the key again, in one line.`,
    )
  }
  // On a pull request the author counts, because a re-run changes the actor.
  const author = event.payload.pull_request === undefined ? 'github.actor' : 'github.event.pull_request.user.login'
  switch (whyNoSecrets(event)) {
    case 'fork':
      return inputs.problem(
        fragment`Input api-key is empty: this workflow runs for a pull request from a fork, and GitHub gives such workflows no secrets and no variables. Have a maintainer push the branch to this repository and open a pull request from there, or skip the job with \`if: github.event_name != '${event.name}' || github.event.pull_request.head.repo.full_name == github.repository\`. ${SKIPPED_PASSES}`,
      )
    case 'dependabot':
      return inputs.problem(
        fragment`Input api-key is empty: this workflow runs for Dependabot, and GitHub gives such workflows no Actions secrets. Add the key under the same name to the repository's Dependabot secrets, or skip the job with \`if: github.event_name != '${event.name}' || ${author} != 'dependabot[bot]'\`. ${SKIPPED_PASSES}`,
      )
    case undefined:
      return inputs.problem(
        fragment`Input api-key is empty. Store an API key of the service as a secret of this repository, and pass it on: api-key: \${{ secrets.NAME }}.`,
      )
  }
}

function readBaseUrl(inputs: InputReader, mayBeEmpty: boolean): URL | undefined {
  const given = inputs.text('base-url')
  if (given === '' && mayBeEmpty) return undefined
  const problem = (what: Fragment) => inputs.problem(fragment`Input base-url: "${withoutSecrets(given)}" ${what}`)
  const url = parseAddress(given)
  if (url === undefined) {
    return problem(
      fragment`is not an absolute address. Give the address of the service, such as https://tests.example.com.`,
    )
  }
  const what = addressProblem(given, url)
  if (what !== undefined) return problem(what)
  if (/[?#]/.test(given)) return problem(fragment`has a query or a fragment. Give the address without it.`)
  return url
}

/** Why an address is not accepted, although it is one. */
export function addressProblem(given: string, url: URL): Fragment | undefined {
  if (hasCredentials(given, url)) return fragment`has credentials in it. Remove them.`
  if (isSecure(url)) return undefined
  return fragment`is not accepted. The address must begin with https://, unless it is an address of the runner's own machine, such as http://127.0.0.1:8080.`
}

function readTarget(inputs: InputReader, mayBeEmpty: boolean): Target | undefined {
  const projectId = inputs.text('project')
  const testSuiteId = inputs.text('test-suite')
  if ((projectId === '') === (testSuiteId === '')) {
    if (projectId === '' && mayBeEmpty) return undefined
    return inputs.problem(
      fragment`Inputs project ("${projectId}") and test-suite ("${testSuiteId}"): give exactly one of them. The input project takes the id of the project whose tests you want to run.`,
    )
  }
  const kind = projectId === '' ? 'test-suite' : 'project'
  const id = projectId || testSuiteId
  if (id === '.' || id === '..' || !id.isWellFormed()) {
    return inputs.problem(
      fragment`Input ${kind}: "${id}" cannot be an id, because it would change the address of the request. Give the id as the service shows it.`,
    )
  }
  return { kind, id }
}

/**
 * Reads the proxy from its variables, in lower or upper case. Only requests to an https: address use a proxy, because
 * an http: address is this machine.
 */
export function readProxies(inputs: Pick<InputReader, 'problem'>, env: NodeJS.ProcessEnv, { protocol }: URL): Proxies {
  const given = env.https_proxy || env.HTTPS_PROXY
  if (!given || protocol !== 'https:') return {}
  // A proxy without a scheme is an HTTP proxy, as in curl.
  const httpsProxy = given.includes('://') ? given : `http://${given}`
  if (isProxyAddress(httpsProxy)) return { httpsProxy, noProxy: env.no_proxy || env.NO_PROXY }
  inputs.problem(
    fragment`The environment variable HTTPS_PROXY is not the address of a proxy (its value is not shown, because it may hold a password). Give one such as http://proxy.example.com:3128, or unset it.`,
  )
  return {}
}

function isProxyAddress(address: string): boolean {
  const url = URL.parse(address)
  if (url === null || url.hostname === '' || !/^(https?|socks5?):$/.test(url.protocol)) return false
  try {
    // The client decodes both before it sends them to the proxy.
    decodeURIComponent(`${url.username}:${url.password}`)
    return true
  } catch {
    return false
  }
}
