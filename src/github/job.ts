import type { Job } from '../outcome/step-outcome.ts'
import type { Environment } from './event.ts'

/** This job and its page. If the server does not give the job's id, the page is that of the workflow run. */
export function readJob(env: Environment): Job | undefined {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository, GITHUB_RUN_ID: workflowRunId } = env
  if (!server || !repository || !workflowRunId) return undefined
  const workflowRunUrl = `${server}/${repository}/actions/runs/${workflowRunId}`
  const jobId = env['INPUT_CHECK-RUN-ID'] ?? ''
  const url = /^\d+$/.test(jobId)
    ? `${workflowRunUrl}/job/${jobId}`
    : `${workflowRunUrl}/attempts/${env.GITHUB_RUN_ATTEMPT || '1'}`
  return { name: env.GITHUB_JOB ?? '', url }
}
