/** An earlier step of the job can announce a service in these variables. Each stands for the input beside it. */
const ANNOUNCED: Readonly<Record<string, string>> = {
  'base-url': 'TEST_RUN_SERVICE_URL',
  'api-key': 'TEST_RUN_SERVICE_KEY',
  project: 'TEST_RUN_SERVICE_PROJECT',
  // The service takes the hash of a commit as a branch.
  branch: 'TEST_RUN_SERVICE_COMMIT',
}

/**
 * The variable of an announced service that stands for an input. If the user gives `base-url`, no variable counts, because the key and the
 * project of the announced service must not go to another service.
 */
export function announcedVariableOf(env: NodeJS.ProcessEnv, input: string): string | undefined {
  const variable = ANNOUNCED[input]
  if (variable === undefined || !hasText(env, variable)) return undefined
  if (isGiven(env, 'base-url') || isGiven(env, input)) return undefined
  // A run has one target, and a given target wins.
  if (input === 'project' && isGiven(env, 'test-suite')) return undefined
  return variable
}

/**
 * Whether the announced service says that nobody knows its commit. TEST_RUN_SERVICE_COMMIT has three states: not set, the hash of the tested
 * commit, or empty. The local service sets it to an empty text if git cannot read the checkout. The other variables have two states, because
 * an empty one counts as not set.
 */
export function isCommitUnknown(env: NodeJS.ProcessEnv): boolean {
  const usesAnnouncedService = announcedVariableOf(env, 'base-url') !== undefined
  return usesAnnouncedService && env.TEST_RUN_SERVICE_COMMIT === ''
}

/** The environment variable that has the value of an input. */
export function variableOf(env: NodeJS.ProcessEnv, input: string): string {
  return announcedVariableOf(env, input) ?? inputVariable(input)
}

/** Whether the user gives the input itself. */
export function isGiven(env: NodeJS.ProcessEnv, input: string): boolean {
  return hasText(env, inputVariable(input))
}

function inputVariable(name: string): string {
  return `INPUT_${name.toUpperCase()}`
}

/** An unset `${{ vars.X }}` is an empty text. */
function hasText(env: NodeJS.ProcessEnv, variable: string): boolean {
  return (env[variable] ?? '').trim() !== ''
}
