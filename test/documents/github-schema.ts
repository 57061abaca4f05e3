import { registerHooks } from 'node:module'
import { FeatureFlags } from '@actions/expressions'

// GitHub's parser imports its schemas without import attributes, which Node requires.
const hooks = registerHooks({
  load: (url, context, nextLoad) =>
    nextLoad(url, url.endsWith('.json') ? { ...context, importAttributes: { type: 'json' } } : context),
})
const { parseAction } = await import('@actions/workflow-parser/actions/index')
const { convertWorkflowTemplate, NoOperationTraceWriter, parseWorkflow } = await import('@actions/workflow-parser')
const { TemplateContext, TemplateValidationErrors } = await import(
  '@actions/workflow-parser/templates/template-context'
)
const { getWorkflowSchema } = await import('@actions/workflow-parser/workflows/workflow-schema')
hooks.deregister()

// Everybody can use background steps since June 2026, but GitHub's parser still calls them an experiment.
const FEATURES = new FeatureFlags({ allowBackgroundSteps: true })

export function mistakesInAction(yaml: string): string[] {
  const { context } = parseAction({ name: 'action.yml', content: yaml }, new NoOperationTraceWriter())
  return context.errors.getErrors().map(({ message }) => message)
}

export async function mistakesInWorkflow(yaml: string): Promise<string[]> {
  const context = new TemplateContext(new TemplateValidationErrors(), getWorkflowSchema(), new NoOperationTraceWriter())
  context.state.featureFlags = FEATURES
  const { value } = parseWorkflow({ name: 'workflow.yml', content: yaml }, context)
  if (value !== undefined) await convertWorkflowTemplate(context, value, undefined, { featureFlags: FEATURES })
  return context.errors.getErrors().map(({ message }) => message)
}
