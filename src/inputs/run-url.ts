import type { StepSettings } from '../action/step.ts'
import type { Target } from '../model/run.ts'
import { type Fragment, fragment } from '../text/safe-text.ts'
import { parseAddress, withoutSecrets } from '../text/web-address.ts'
import type { InputReader } from './input-reader.ts'
import { addressProblem } from './service-address.ts'

// test/inputs/inputs.test.ts tests this input, too.

const PLACEHOLDER = /\{([^{}]*)\}/g

/** Reads the template of the address of a run's page. Returns the function that fills in the run's id. */
export function readRunUrl(inputs: InputReader, target: Target | undefined): StepSettings['runUrlOf'] {
  const template = inputs.text('run-url')
  if (template === '') return undefined
  const kind = target?.kind ?? 'project'
  const problem = (what: Fragment) =>
    inputs.problem(
      fragment`Input run-url: "${withoutSecrets(template)}" ${what} Give an address such as https://app.example.com/{${kind}}/runs/{run-id}.`,
    )
  const accepted = target === undefined ? ['project', 'test-suite', 'run-id'] : [kind, 'run-id']
  for (const [, name = ''] of template.matchAll(PLACEHOLDER)) {
    if (!accepted.includes(name)) {
      return problem(
        fragment`has the placeholder {${name}}, for which this step has no value. The accepted placeholders are {run-id}, and {project} or {test-suite} if this input is given.`,
      )
    }
  }
  const fill = (runId: string) =>
    template.replace(PLACEHOLDER, (_, name) => encodeURIComponent(name === 'run-id' ? runId : (target?.id ?? '')))
  const filled = fill('x')
  const url = parseAddress(filled)
  // An id must not choose the host, as in https://{project}.example.com. If it could, the filled address has another host than
  // the template.
  if (url === undefined || url.host !== URL.parse(template)?.host || /[{}]/.test(filled)) {
    return problem(
      fragment`is not accepted. Give an absolute address, with placeholders only after the host and the port. Use { and } only for placeholders.`,
    )
  }
  const what = addressProblem(template, url)
  if (what !== undefined) return problem(what)
  return (runId) => URL.parse(fill(runId))?.href.replace(/['()!*]/g, percentEncoded)
}

/** People put the address into scripts, where these characters have a meaning. URL parsing does not encode them. */
function percentEncoded(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`
}
