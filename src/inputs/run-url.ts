import { fragment } from '../text/safe-text.ts'
import { parseAddress, withoutSecrets } from '../text/web-address.ts'
import type { InputReader } from './input-reader.ts'
import { addressProblem } from './service-address.ts'

/** Reads the template of the address of a run's page. Returns the function that fills in the run's id. */
export function readRunUrl(inputs: InputReader): ((runId: string) => string) | undefined {
  const template = inputs.text('run-url')
  if (template === '') return undefined
  const [before = '', after = '', ...more] = template.split('{run-id}')
  const url = parseAddress(`${before}x${after}`)
  // The id must not choose the host, as it would in https://{run-id}.example.com.
  const isAfterHost = url !== undefined && url.host === URL.parse(before)?.host
  const hasOnePlace = template.includes('{run-id}') && more.length === 0 && !/[{}]/.test(before + after)
  const notAccepted = fragment`is not accepted. It must be an absolute address that has {run-id} once, after the host, and no other braces.`
  const what = isAfterHost && hasOnePlace ? addressProblem(template, url) : notAccepted
  const example = fragment`Give an address such as https://app.example.com/p/web-shop/runs/{run-id}.`
  if (what !== undefined) return inputs.refuse('run-url', fragment`${what} ${example}`, withoutSecrets(template))
  return (runId) => new URL(before + encodeURIComponent(runId) + after).href.replace(/['()!*]/g, percentEncoded)
}

/** People put the address into scripts, where these characters have a meaning. URL parsing does not encode them. */
function percentEncoded(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`
}
