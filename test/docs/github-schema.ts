import { registerHooks } from 'node:module'

// GitHub's parser imports its schemas as Node did before import attributes.
const hooks = registerHooks({
  load: (url, context, nextLoad) =>
    nextLoad(url, url.endsWith('.json') ? { ...context, importAttributes: { type: 'json' } } : context),
})
const { parseAction } = await import('@actions/workflow-parser/actions/index')
const { convertWorkflowTemplate, NoOperationTraceWriter, parseWorkflow } = await import('@actions/workflow-parser')
hooks.deregister()

/** What GitHub's published schema of action metadata finds wrong. */
export function mistakesInAction(yaml: string): string[] {
  const { context } = parseAction({ name: 'action.yml', content: yaml }, new NoOperationTraceWriter())
  return context.errors.getErrors().map(({ message }) => message)
}

/** What GitHub's published schema of workflows finds wrong. */
export async function mistakesInWorkflow(yaml: string): Promise<string[]> {
  const { context, value } = parseWorkflow({ name: 'workflow.yml', content: yaml }, new NoOperationTraceWriter())
  if (value !== undefined) await convertWorkflowTemplate(context, value)
  return context.errors.getErrors().map(({ message }) => message)
}
