import { ServiceError } from '../outcome/failure.ts'
import { failureWithoutKey, type Redact, runWithoutKey } from '../outcome/without-key.ts'
import type { TestService } from './test-service.ts'

/**
 * The service with the API key masked in all that it says, before anything is cut or escaped, where the key would not
 * be found any more. Only the id of a run stays as it is: it goes back to the service.
 */
export function keyFree(service: TestService, redact: Redact): TestService {
  const { cancel } = service
  async function withoutKey<Answer>(answer: Promise<Answer>): Promise<Answer> {
    try {
      return await answer
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      throw new ServiceError(failureWithoutKey(error.failure, redact), { cause: error })
    }
  }
  return {
    start: (parameters, options) => withoutKey(service.start(parameters, options)),
    get: async (runId, options) => runWithoutKey(await withoutKey(service.get(runId, options)), redact),
    ...(cancel === undefined ? {} : { cancel: (runId, options) => withoutKey(cancel(runId, options)) }),
  }
}
