import type { StepSettings } from '../action/run-action.ts'
import type { Target } from '../outcome/run.ts'
import { type Fragment, fragment } from '../text/safe-text.ts'
import { hasCredentials, isSecure, parseAddress, withoutSecrets } from '../text/web-address.ts'
import type { InputReader } from './input-reader.ts'

const PLACEHOLDER = /\{([^{}]*)\}/g
/** A scheme, then a host and a port without placeholders, then text and placeholders. */
const TEMPLATE = /^[a-z]+:\/\/[^/?#{}]+(?:[/?#](?:[^{}]|\{[^{}]*\})*)?$/i

const NO_URL: StepSettings['runUrlOf'] = () => undefined

/** Reads the template of the address of a run's page. Returns the function that fills in the run's id. */
export function readRunUrl(inputs: InputReader, target: Target | undefined): StepSettings['runUrlOf'] {
  const template = inputs.text('run-url')
  if (template === '') return NO_URL
  const problem = (what: Fragment) => {
    inputs.problem(
      fragment`Input run-url: "${withoutSecrets(template)}" ${what} Give an address such as https://app.example.com/p/{${target?.kind ?? 'project'}}/runs/{run-id}.`,
    )
    return NO_URL
  }

  const values = new Map([
    ['project', ''],
    ['test-suite', ''],
    ['run-id', 'x'],
  ])
  if (target !== undefined) values.set(target.kind, target.id)
  for (const [, name = ''] of template.matchAll(PLACEHOLDER)) {
    if (!values.has(name)) {
      return problem(
        fragment`has the unknown placeholder {${name}}. The accepted placeholders are {project}, {test-suite} and {run-id}.`,
      )
    }
    if (values.get(name) === '' && target !== undefined) {
      return problem(fragment`has the placeholder {${name}}, but the input ${name} is empty.`)
    }
  }
  const fill = (runId: string) =>
    template.replace(PLACEHOLDER, (_, name) => encodeURIComponent(name === 'run-id' ? runId : (values.get(name) ?? '')))
  const url = parseAddress(fill('x'))
  if (url === undefined || !TEMPLATE.test(template)) {
    return problem(
      fragment`is not accepted. Give an absolute address, with placeholders only after the host and the port. Use { and } only for placeholders.`,
    )
  }
  if (hasCredentials(template, url)) return problem(fragment`has credentials in it. Remove them.`)
  if (!isSecure(url)) {
    return problem(
      fragment`is not accepted. The address must begin with https://, unless it is an address of the runner's own machine.`,
    )
  }
  return (runId) => URL.parse(fill(runId))?.href.replace(/['()!*]/g, percentEncoded)
}

/** People put the address into scripts, where these characters have a meaning. URL parsing does not encode them. */
function percentEncoded(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`
}
