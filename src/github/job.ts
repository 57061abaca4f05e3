import type { Job } from '../outcome/step-outcome.ts'
import type { Environment } from './event.ts'

/** This job and the address of its page; the workflow run's, on a server that does not tell the job's id. */
export function readJob(env: Environment): Job | undefined {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository, GITHUB_RUN_ID: runId } = env
  if (!server || !repository || !runId) return undefined
  const run = `${server}/${repository}/actions/runs/${runId}`
  const jobId = env['INPUT_CHECK-RUN-ID'] ?? ''
  const url = /^\d+$/.test(jobId) ? `${run}/job/${jobId}` : `${run}/attempts/${env.GITHUB_RUN_ATTEMPT || '1'}`
  return { name: env.GITHUB_JOB ?? '', url }
}
