import { cleanUpAfterMain } from './action/clean-up.ts'
import { systemClock } from './clock.ts'
import { attemptUrl } from './github/job.ts'
import { runnerOutput } from './github/outputs.ts'
import { hasIdentityOf, type MainFile } from './handover/main-file.ts'
import { InputReader } from './inputs/input-reader.ts'
import { readServiceAddress } from './inputs/service-address.ts'
import { join, NONE, SPACE } from './report/phrases.ts'
import { openService } from './service/client.ts'

/** Creates the effects and cleans up. Throws only if there is a bug. */
export async function runPost(env: NodeJS.ProcessEnv, files: readonly MainFile[], signal: AbortSignal): Promise<void> {
  const { log } = runnerOutput(env)
  // The inputs are read late, so that invalid inputs cannot keep post from stopping main.
  const open = async () => {
    const inputs = new InputReader(env)
    const address = readServiceAddress(inputs, env)
    if (address === undefined || inputs.problems.length > 0) return { problem: join(inputs.problems, SPACE) ?? NONE }
    return openService(address, systemClock, { workflowRunUrl: attemptUrl(env), debug: log.debug })
  }
  await cleanUpAfterMain(files, {
    log,
    clock: systemClock,
    random: Math.random,
    signal,
    open,
    hasSameInputs: (file) => hasIdentityOf(env, file),
  })
}
