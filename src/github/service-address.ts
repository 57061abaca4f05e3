import { accessSync, constants } from 'node:fs'
import { setSecret } from '@actions/core'
import type { Target } from '../outcome/run.ts'
import type { ServiceAddress } from '../service/open-service.ts'
import { logLine } from '../text/safe-text.ts'
import { hasCredentials, isSecure, parseAddress, withoutSecrets } from '../text/web-address.ts'
import { type Environment, type WorkflowEvent, whyNoSecrets } from './event.ts'
import type { InputReader } from './input-reader.ts'
import { readProxies } from './proxies.ts'

/**
 * What the inputs and the environment say about the way to the service; undefined if there is a problem, which is then
 * noted. Masks the key first of all.
 */
export function readServiceAddress(
  inputs: InputReader,
  env: Environment,
  event: WorkflowEvent,
): ServiceAddress | undefined {
  const apiKey = readApiKey(inputs, event)
  // A fork gets no variables either: what is empty for that reason is no problem of its own.
  const isExcused = isForkWithoutSecrets(inputs, event)
  const baseUrl = readBaseUrl(inputs, isExcused)
  const target = readTarget(inputs, isExcused)
  if (apiKey === undefined || baseUrl === undefined || target === undefined) return undefined
  const hasUnreadableCaFile = isUnreadable(env.NODE_EXTRA_CA_CERTS)
  return { apiKey, baseUrl, target, proxies: readProxies(inputs, env, baseUrl), hasUnreadableCaFile }
}

function isUnreadable(path: string | undefined): boolean {
  if (!path) return false
  try {
    accessSync(path, constants.R_OK)
    return false
  } catch {
    return true
  }
}

export function isForkWithoutSecrets(inputs: InputReader, event: WorkflowEvent): boolean {
  return inputs.text('api-key') === '' && whyNoSecrets(event) === 'fork'
}

const SKIPPED_PASSES = logLine`A skipped job counts as passed, so a required check then passes although nothing was tested.`

/** Servers refuse longer headers. */
const LONGEST_KEY = 4_096

function readApiKey(inputs: InputReader, event: WorkflowEvent): string | undefined {
  const key = inputs.text('api-key')
  if (key !== '') {
    setSecret(key)
    if (key.length <= LONGEST_KEY && /^[\x21-\x7e]+$/.test(key)) return key
    return inputs.problem(
      logLine`Input api-key contains white space or non-ASCII characters, or has more than ${LONGEST_KEY} characters, so it cannot be sent as a Bearer token (it is not shown). Copy the key again, in one line.`,
    )
  }
  // The author of a pull request: a re-run changes the actor.
  const author = event.payload.pull_request === undefined ? 'github.actor' : 'github.event.pull_request.user.login'
  switch (whyNoSecrets(event)) {
    case 'fork':
      return inputs.problem(
        logLine`Input api-key is empty: this workflow runs for a pull request from a fork, and GitHub gives such workflows no secrets and no variables. Have a maintainer push the branch to this repository, or skip the step with if: github.event_name != '${event.name}' || github.event.pull_request.head.repo.full_name == github.repository. ${SKIPPED_PASSES}`,
      )
    case 'dependabot':
      return inputs.problem(
        logLine`Input api-key is empty: this workflow runs for Dependabot, and GitHub gives such workflows no Actions secrets. Add the key under the same name to the repository's Dependabot secrets, or skip the step with if: github.event_name != '${event.name}' || ${author} != 'dependabot[bot]'. ${SKIPPED_PASSES}`,
      )
    case undefined:
      return inputs.problem(
        logLine`Input api-key is empty. Create a key in the team API keys setting of your organisation at the service, store it as a secret of this repository, and pass it on: api-key: \${{ secrets.NAME }}.`,
      )
  }
}

function readBaseUrl(inputs: InputReader, mayBeEmpty: boolean): URL | undefined {
  const given = inputs.text('base-url')
  const accepted = logLine`Give the address of the service, such as https://tests.example.com.`
  if (given === '') return mayBeEmpty ? undefined : inputs.problem(logLine`Input base-url is empty. ${accepted}`)
  const shown = withoutSecrets(given)
  const url = parseAddress(given)
  if (url === undefined) {
    return inputs.problem(logLine`Input base-url: "${shown}" is not an absolute address. ${accepted}`)
  }
  if (hasCredentials(given, url)) {
    return inputs.problem(
      logLine`Input base-url: "${shown}" has credentials in it. Remove them; the key goes into api-key.`,
    )
  }
  if (/[?#]/.test(given)) {
    return inputs.problem(logLine`Input base-url: "${shown}" has a query or a fragment. Give the address without it.`)
  }
  if (isSecure(url)) return url
  return inputs.problem(
    logLine`Input base-url: "${shown}" is not accepted. The key may travel over https: only (http: only to this machine, such as http://127.0.0.1:8080).`,
  )
}

function readTarget(inputs: InputReader, mayBeEmpty: boolean): Target | undefined {
  const projectId = inputs.text('project')
  const testSuiteId = inputs.text('test-suite')
  if (projectId !== '' && testSuiteId !== '') {
    return inputs.problem(
      logLine`Inputs project ("${projectId}") and test-suite ("${testSuiteId}") are both given. Give exactly one of them.`,
    )
  }
  if (projectId === '' && testSuiteId === '') {
    return mayBeEmpty
      ? undefined
      : inputs.problem(
          logLine`Inputs project and test-suite are both empty. Give exactly one of them: project is the id of the project whose tests to run.`,
        )
  }
  const [name, id] = projectId === '' ? ['test-suite', testSuiteId] : ['project', projectId]
  if (id === '.' || id === '..' || !id.isWellFormed()) {
    return inputs.problem(
      logLine`Input ${name}: "${id}" cannot be an id, because it would change the address of the request. Give the id as the service shows it.`,
    )
  }
  return projectId === '' ? { kind: 'test-suite', testSuiteId } : { kind: 'project', projectId }
}
