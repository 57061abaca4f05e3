import type { Job } from '../model/outcome.ts'

/** This job and its page. Older servers do not give the id of the job. Then its page is that of the workflow run's attempt. */
export function readJob(env: NodeJS.ProcessEnv): Job | undefined {
  const { GITHUB_SERVER_URL, GITHUB_REPOSITORY, GITHUB_RUN_ID, GITHUB_RUN_ATTEMPT, GITHUB_JOB = '' } = env
  if (!GITHUB_SERVER_URL || !GITHUB_REPOSITORY || !GITHUB_RUN_ID) return undefined
  const jobId = env['INPUT_CHECK-RUN-ID'] ?? ''
  const page = /^\d+$/.test(jobId) ? `job/${jobId}` : `attempts/${GITHUB_RUN_ATTEMPT || '1'}`
  return { name: GITHUB_JOB, url: `${workflowRunUrl(env)}/${page}` }
}

/** The page of this attempt of the workflow run. Undefined if the runner's variables do not make a plain https: address. */
export function attemptUrl(env: NodeJS.ProcessEnv): string | undefined {
  const url = `${workflowRunUrl(env)}/attempts/${env.GITHUB_RUN_ATTEMPT}`
  const isPlain = /^https:\/\/[A-Za-z0-9.-]+(:\d+)?(\/[A-Za-z0-9._-]+){2}\/actions\/runs\/\d+\/attempts\/\d+$/.test(url)
  return isPlain ? url : undefined
}

/** The address of the repository's files at a commit. */
export function sourceUrl(env: NodeJS.ProcessEnv, commit: string): string | undefined {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository } = env
  return server && repository ? `${server}/${repository}/blob/${commit}` : undefined
}

function workflowRunUrl({ GITHUB_SERVER_URL, GITHUB_REPOSITORY, GITHUB_RUN_ID }: NodeJS.ProcessEnv): string {
  return `${GITHUB_SERVER_URL}/${GITHUB_REPOSITORY}/actions/runs/${GITHUB_RUN_ID}`
}
