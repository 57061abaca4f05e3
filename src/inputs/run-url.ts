import type { StepRequest } from '../action/run-action.ts'
import type { Target } from '../outcome/run.ts'
import { type LogLine, logLine } from '../text/safe-text.ts'
import { hasCredentials, isSecure, parseAddress, withoutSecrets } from '../text/web-address.ts'
import type { InputReader } from './input-reader.ts'

const RUN_URL_EXAMPLE = logLine`Give an address such as https://app.example.com/p/{project}/runs/{run-id}.`

/** Reads the template of the address of a run's page. Returns the function that fills in the run's id. */
export function readRunUrl(inputs: InputReader, target: Target | undefined): StepRequest['runUrl'] {
  const template = inputs.text('run-url')
  if (template === '') return undefined
  const problem = (what: LogLine) =>
    inputs.problem(logLine`Input run-url: "${withoutSecrets(template)}" ${what} ${RUN_URL_EXAMPLE}`)

  const values = new Map([
    ['project', target?.kind === 'project' ? target.projectId : undefined],
    ['test-suite', target?.kind === 'test-suite' ? target.testSuiteId : undefined],
  ])
  const names = [...template.matchAll(/\{([^{}]*)\}/g)].map(([, name = '']) => name)
  const unknown = names.find((name) => name !== 'run-id' && !values.has(name))
  if (unknown !== undefined) {
    return problem(
      logLine`has the unknown placeholder {${unknown}}. The accepted placeholders are {project}, {test-suite} and {run-id}.`,
    )
  }
  const missing = names.find((name) => values.has(name) && values.get(name) === undefined)
  if (missing !== undefined && target !== undefined) {
    return problem(logLine`has the placeholder {${missing}}, but the input ${missing} is empty.`)
  }
  const fill = (runId: string) =>
    template.replace(/\{([^{}]*)\}/g, (_, name) => encodeURIComponent(values.get(name) ?? runId))
  // People put the address into scripts, where these characters have a meaning. URL parsing does not encode them.
  const address = (runId: string) =>
    URL.parse(fill(runId))?.href.replace(
      /['()!*]/g,
      (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
    )
  const url = parseAddress(fill('x'))
  if (url === undefined || !/^[a-z]+:\/\/[^/?#{}]+(?:[/?#]|$)/i.test(template) || /[{}]/.test(fill('x'))) {
    return problem(
      logLine`is not accepted. Give an absolute address, with placeholders only after the host and the port. Use { and } only for placeholders.`,
    )
  }
  if (hasCredentials(template, url)) return problem(logLine`has credentials in it. Remove them.`)
  if (isSecure(url)) return address
  return problem(
    logLine`is not accepted. The address must begin with https://, unless it is an address of the runner's own machine.`,
  )
}
