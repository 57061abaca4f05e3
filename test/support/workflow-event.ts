import { mkdtempDisposableSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readEvent, type WorkflowEvent } from '../../src/github/event.ts'
import { type GithubContext, githubContext, githubVariables } from '../../tools/runner-emulator/step-runner/contexts.ts'

export type Payload = Readonly<Record<string, unknown>>

/** The GITHUB_ variables of a step, and its event as the action reads it from the runner's file. A text is a broken file. */
export function workflowEvent(
  name: string,
  given: Payload | string = {},
  overrides: GithubContext = {},
): { readonly env: Readonly<Record<string, string>>; readonly event: WorkflowEvent } {
  const payload = typeof given === 'string' ? {} : given
  const env = githubVariables(githubContext({ name, payload }, overrides))
  using folder = mkdtempDisposableSync(join(tmpdir(), 'event-'))
  const path = join(folder.path, 'event.json')
  writeFileSync(path, typeof given === 'string' ? given : JSON.stringify(payload))
  return { env, event: readEvent({ ...env, GITHUB_EVENT_PATH: path }) }
}

interface Webhook {
  readonly name: string
  readonly examples: readonly Payload[]
}

const WEBHOOKS: readonly Webhook[] = createRequire(import.meta.url)('@octokit/webhooks-examples')

/** Payloads that GitHub once sent for an event. */
export function realPayloads(name: string): readonly Payload[] {
  const found = WEBHOOKS.find((webhook) => webhook.name === name)?.examples ?? []
  if (found.length === 0) throw new Error(`There is no example of the event ${name}`)
  return found
}
