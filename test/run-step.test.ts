import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { StepAborted } from '../src/action/abort.ts'
import { StepRecorder } from '../src/handover/recorder.ts'
import { runStep } from '../src/run-step.ts'
import { startScriptedService } from '../tools/scripted-service/scripted-service.ts'
import { MemoryFile } from './support/memory-file.ts'
import { inputVariables } from './support/process-effects.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

function aRecorder(): StepRecorder {
  return new StepRecorder(new MemoryFile({ phase: 'nothing started' }), () => false)
}

test('a signal that came while the action was loading is handled before anything is started', async () => {
  const service = await startScriptedService()
  onTestFinished(() => service.close())
  const controller = new AbortController()
  const lines: string[] = []
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
    lines.push(String(chunk))
    // The last line before the start. The abort waits in the event loop, as a signal that came while a file was loaded.
    if (String(chunk).startsWith('Testing the branch')) {
      const abort = () => controller.abort(new StepAborted('SIGINT', performance.now()))
      setImmediate(() => setImmediate(abort))
    }
    return true
  })
  onTestFinished(() => write.mockRestore())
  const recorder = aRecorder()
  const env = {
    ...inputVariables({ 'base-url': service.url, 'api-key': service.key, project: 'web-shop', branch: '@{event}' }),
    RUNNER_TEMP: temporaryFolder(),
    GITHUB_EVENT_NAME: 'repository_dispatch',
    GITHUB_REF_NAME: 'main',
    GITHUB_REF_TYPE: 'branch',
  }
  expect(await runStep(env, controller.signal, recorder, () => false)).toBe(false)
  expect(lines.join('')).toContain('before this step started a run')
  expect(service.requests).toEqual([])
})

test('the log has the warnings about inputs also if the step ends because the branch cannot be looked up', async () => {
  const lines: string[] = []
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => lines.push(String(chunk)) > 0)
  onTestFinished(() => write.mockRestore())
  const inputs = { 'base-url': 'https://tests.example.com', 'api-key': 'sk-live-0123456789', project: 'web-shop' }
  const env = {
    ...inputVariables({ ...inputs, branch: '@{event}', 'env-overrides': 'COLOR="red"' }),
    GITHUB_EVENT_NAME: 'deployment',
  }
  const recorder = aRecorder()
  expect(await runStep(env, new AbortController().signal, recorder, () => false)).toBe(false)
  expect(lines.join('')).toMatch(/^::warning::.*COLOR begins and ends with quotation marks.*^::error .*look-up/ms)
})

test('invalid inputs are in the job summary, unless the input summary is never', async () => {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  onTestFinished(() => write.mockRestore())
  const summaryWith = async (summary: string) => {
    const path = join(temporaryFolder(), 'summary.md')
    writeFileSync(path, '')
    const env = { ...inputVariables({ 'base-url': 'ftp://x', summary }), GITHUB_STEP_SUMMARY: path }
    const recorder = aRecorder()
    expect(await runStep(env, new AbortController().signal, recorder, () => false)).toBe(false)
    return readFileSync(path, 'utf8')
  }
  for (const when of ['', 'always', 'on-failure'])
    expect(await summaryWith(when), when).toMatch(/^## ❌ Invalid inputs\n/)
  expect(await summaryWith('never')).toBe('')
})
