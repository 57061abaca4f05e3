/** An earlier step of the job can announce a service in these variables. Each stands for the input beside it. */
const ANNOUNCED: Readonly<Record<string, string>> = {
  'base-url': 'TEST_RUN_SERVICE_URL',
  'api-key': 'TEST_RUN_SERVICE_KEY',
  project: 'TEST_RUN_SERVICE_PROJECT',
  branch: 'TEST_RUN_SERVICE_COMMIT',
}

/**
 * The environment variable that has the value of an input. If the user gives `base-url`, this is always the input's own variable,
 * so that what belongs to the announced service is sent to no other service.
 */
export function variableOf(env: NodeJS.ProcessEnv, input: string): string {
  const announced = ANNOUNCED[input]
  if (announced === undefined || !hasText(env, announced)) return inputVariable(input)
  const hasOtherTarget = input === 'project' && isGiven(env, 'test-suite')
  return isGiven(env, 'base-url') || isGiven(env, input) || hasOtherTarget ? inputVariable(input) : announced
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
