import { expect, onTestFinished, test, vi } from 'vitest'
import { createMainFile, findMainFiles } from '../src/handover/main-file.ts'
import { performPost } from '../src/post-step.ts'
import { startScriptedService } from '../tools/scripted-service/scripted-service.ts'
import { inputVariables } from './support/process-effects.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

/** Post of a step with the input `run-id`. The service does not know the new run of another step at first. */
async function postOfGivenRun({ isStateLost }: { readonly isStateLost: boolean }) {
  const unknown = { to: 1, do: { status: 404, body: { error: 'no such run' } } }
  const faults = (['cancel', 'get'] as const).map((on) => ({ on, ...unknown }))
  const service = await startScriptedService({ script: { runningMs: Infinity }, faults })
  onTestFinished(() => service.close())
  const headers = { authorization: `Bearer ${service.key}`, 'content-type': 'application/json' }
  await fetch(`${service.url}/v1/projects/shop/runs`, { method: 'POST', headers, body: '{}' })
  const runId = service.runs[0]?.runId ?? expect.fail()
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  onTestFinished(() => write.mockRestore())
  const inputs = { 'base-url': service.url, 'api-key': service.key, project: 'shop', 'run-id': runId }
  const env = { ...inputVariables(inputs), RUNNER_TEMP: temporaryFolder() }
  const file = createMainFile(env)
  file.append({ phase: 'started', runId, mayCancel: true, hasEnded: true })
  const ofPost = isStateLost ? env : { ...env, STATE_file: file.path }
  await performPost(ofPost, findMainFiles(ofPost), new AbortController().signal)
  return service.runs[0]?.status
}

test('if the state is lost, the file may be of another step, so a 404 does not prove that its new run is gone', async () => {
  expect(await postOfGivenRun({ isStateLost: true })).toBe('CANCELLED')
})

test('if the state has the file, run-id names its run, and the service has known this run before', async () => {
  expect(await postOfGivenRun({ isStateLost: false })).toBe('RUNNING')
})
