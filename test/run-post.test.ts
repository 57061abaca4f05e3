import { expect, onTestFinished, test, vi } from 'vitest'
import { createMainFile } from '../src/handover/main-file.ts'
import { runPost } from '../src/run-post.ts'
import { startScriptedService } from '../tools/scripted-service/scripted-service.ts'
import { inputVariables } from './support/process-effects.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

type Variables = Readonly<Record<string, string>>

/** The file of a main that has started a run. Nobody lives who could answer, so post need not wait. */
function fileOf(env: Variables, runId: string) {
  const file = createMainFile(env)
  file.append({ phase: 'started', runId, mayCancel: true })
  file.askToStop = () => false
  return file
}

async function warningsOfPost(env: Variables, files: ReturnType<typeof fileOf>[]): Promise<string[]> {
  const lines: string[] = []
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => lines.push(String(chunk)) > 0)
  onTestFinished(() => write.mockRestore())
  await runPost(env, files, new AbortController().signal)
  return lines.filter((line) => line.startsWith('::warning::'))
}

test('each warning of post names an invalid input once, also if the state is lost and two files are left', async () => {
  const target = { 'base-url': 'https://tests.example.com', 'api-key': 'two words', project: 'web-shop' }
  const env = { ...inputVariables(target), RUNNER_TEMP: temporaryFolder() }
  const files = ['run-1', 'run-2'].map((runId) => fileOf(env, runId))
  const warnings = await warningsOfPost(env, files)
  expect(warnings.map((line) => line.match(/run-\d|contains white space/g))).toEqual([
    ['run-1', 'contains white space'],
    ['run-2', 'contains white space'],
  ])
})

test('if another service has been announced meanwhile, post sends it nothing and names the run', async () => {
  const later = await startScriptedService()
  onTestFinished(() => later.close())
  const announced = { TEST_RUN_SERVICE_KEY: later.key, TEST_RUN_SERVICE_PROJECT: 'web-shop' }
  const env = { ...announced, TEST_RUN_SERVICE_URL: 'http://127.0.0.1:1', RUNNER_TEMP: temporaryFolder() }
  const warnings = await warningsOfPost({ ...env, TEST_RUN_SERVICE_URL: later.url }, [fileOf(env, 'run-1')])
  expect(warnings).toEqual([expect.stringContaining('Run run-1 may still be running.')])
  expect(later.requests).toEqual([])
})
