import { type Fragment, fragment } from '../text/safe-text.ts'
import { parseAddress, withoutSecrets } from '../text/web-address.ts'
import type { InputReader } from './input-reader.ts'
import { addressProblem } from './service-address.ts'

const PLACE = '{run-id}'

/** Reads the template of the address of a run's page. Returns the function that fills in the run's id. */
export function readRunUrl(inputs: InputReader): ((runId: string) => string) | undefined {
  const template = inputs.text('run-url')
  if (template === '') return undefined
  const what = templateProblem(template)
  const example = fragment`Give an address such as https://app.example.com/p/web-shop/runs/{run-id}.`
  if (what !== undefined) return inputs.refuse('run-url', fragment`${what} ${example}`, withoutSecrets(template))
  return (runId) => new URL(template.replace(PLACE, encodeURIComponent(runId))).href.replace(/['()!*]/g, percentEncoded)
}

function templateProblem(template: string): Fragment | undefined {
  const [before = '', after, ...more] = template.split(PLACE)
  const hasOnePlace = after !== undefined && more.length === 0 && !/[{}]/.test(before + after)
  const url = parseAddress(template.replace(PLACE, 'x'))
  // The id must not choose the host, as it would in https://{run-id}.example.com.
  const isAfterHost = url !== undefined && url.host === URL.parse(before)?.host
  if (hasOnePlace && isAfterHost) return addressProblem(template, url)
  return fragment`is not accepted. It must be an absolute address that has {run-id} once, after the host, and no other braces.`
}

/** People put the address into scripts, where these characters have a meaning. URL parsing does not encode them. */
function percentEncoded(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`
}
