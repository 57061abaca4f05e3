import { expect, onTestFinished, test, vi } from 'vitest'
import { createMainFile } from '../src/handover/main-file.ts'
import { runPost } from '../src/run-post.ts'
import { inputVariables } from './support/process-effects.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

test('each warning of post names an invalid input once, also if the state is lost and two files are left', async () => {
  const lines: string[] = []
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => lines.push(String(chunk)) > 0)
  onTestFinished(() => write.mockRestore())
  const target = { 'base-url': 'https://tests.example.com', 'api-key': 'two words', project: 'web-shop' }
  const env = { ...inputVariables(target), RUNNER_TEMP: temporaryFolder() }
  const files = ['run-1', 'run-2'].map((runId) => {
    const file = createMainFile(env)
    file.append({ phase: 'started', runId, mayCancel: true })
    // Nobody lives who could answer, so post need not wait.
    file.askToStop = () => false
    return file
  })
  await runPost(env, files, new AbortController().signal)
  const warnings = lines.filter((line) => line.startsWith('::warning::'))
  expect(warnings.map((line) => line.match(/run-\d|contains white space/g))).toEqual([
    ['run-1', 'contains white space'],
    ['run-2', 'contains white space'],
  ])
})
