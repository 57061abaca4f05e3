import type { Target } from '../model/run.ts'
import type { ServiceAddress } from '../service/client.ts'
import type { Proxies } from '../service/connection.ts'
import { type Fragment, fragment } from '../text/safe-text.ts'
import { hasCredentials, isSecure, parseAddress, withoutSecrets } from '../text/web-address.ts'
import type { InputReader } from './input-reader.ts'

/** For each message that tells the user to skip a job. */
export const SKIPPED_PASSES = fragment`A skipped job counts as passed, so a required check then passes although nothing was tested.`

/** Reads how to reach the service, and records problems. Use the result only after `orThrow`. */
export function readServiceAddress(inputs: InputReader, env: NodeJS.ProcessEnv): ServiceAddress | undefined {
  const baseUrl = readBaseUrl(inputs)
  const apiKey = readApiKey(inputs)
  const target = readTarget(inputs)
  if (apiKey === undefined || baseUrl === undefined || target === undefined) return undefined
  return { apiKey, baseUrl, target, proxies: readProxies(inputs, env, baseUrl) }
}

/** Whether there is an address, given or announced. If there is none, only `readBaseUrl` says so, because one message is enough. */
function hasAddress(inputs: InputReader): boolean {
  return inputs.text('base-url') !== ''
}

function readBaseUrl(inputs: InputReader): URL | undefined {
  const given = inputs.text('base-url')
  if (given === '') {
    const why =
      inputs.text('api-key') === '' ? fragment` A service of your own also needs a key. ${KEY_ADVICE}` : fragment``
    return inputs.problem(
      fragment`Input base-url is empty, and no earlier step has announced a service. Set the input base-url to the address of the service, such as https://tests.example.com, or add a step with the local service before this step.${why}`,
    )
  }
  const refuse = (what: Fragment) => inputs.refuse('base-url', what, withoutSecrets(given))
  const url = parseAddress(given)
  const example = fragment`Give the address of the service, such as https://tests.example.com.`
  if (url === undefined) return refuse(fragment`is not an absolute address. ${example}`)
  const what = addressProblem(given, url)
  if (what !== undefined) return refuse(what)
  return /[?#]/.test(given) ? refuse(fragment`has a query or a fragment. Give the address without it.`) : url
}

/** GitHub gives a pull request from a fork neither secrets nor variables, so address and key may be missing for the same reason. */
const KEY_ADVICE = fragment`Pass the key from a secret, as in \${{ secrets.NAME }}. Pull requests from forks get no secrets and no variables, and those by Dependabot get only Dependabot's own. Skip the job for them. ${SKIPPED_PASSES}`

const LONGEST_KEY = 512

function readApiKey(inputs: InputReader): string | undefined {
  const key = inputs.text('api-key')
  if (key === '')
    return hasAddress(inputs) ? inputs.problem(fragment`Input api-key is empty. ${KEY_ADVICE}`) : undefined
  if (key.length > LONGEST_KEY || !/^[\x21-\x7e]+$/.test(key)) {
    return inputs.problem(
      fragment`${inputs.nameOf('api-key')} contains white space or non-ASCII characters, or has more than ${LONGEST_KEY} characters, so it cannot be sent as a Bearer token (it is not shown). Copy the key again, in one line.`,
    )
  }
  if (inputs.isGiven('api-key') && !inputs.isGiven('base-url') && hasAddress(inputs)) {
    return inputs.problem(
      fragment`Input api-key is given without the input base-url, so the key would go to the service at "${withoutSecrets(inputs.text('base-url'))}", which an earlier step or the workflow has announced. Give base-url too, or remove api-key.`,
    )
  }
  return key
}

export function addressProblem(given: string, url: URL): Fragment | undefined {
  if (hasCredentials(given, url)) return fragment`has credentials in it. Remove them.`
  if (isSecure(url)) return undefined
  return fragment`is not accepted. The address must begin with https://, unless it is an address of the runner's own machine, such as http://127.0.0.1:8080.`
}

function readTarget(inputs: InputReader): Target | undefined {
  const projectId = inputs.text('project')
  const testSuiteId = inputs.text('test-suite')
  if (projectId === '' && testSuiteId === '' && !hasAddress(inputs)) return undefined
  if ((projectId === '') === (testSuiteId === '')) {
    return inputs.problem(
      fragment`Inputs project ("${projectId}") and test-suite ("${testSuiteId}"): give exactly one of them. The input project takes the id of the project whose tests you want to run. The local service lists the ids of its projects in the log of its step.`,
    )
  }
  const kind = projectId === '' ? 'test-suite' : 'project'
  const id = projectId || testSuiteId
  if (id !== '.' && id !== '..' && id.isWellFormed()) return { kind, id }
  return inputs.refuse(
    kind,
    fragment`cannot be an id, because it would change the address of the request. Give the id as the service shows it.`,
  )
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
