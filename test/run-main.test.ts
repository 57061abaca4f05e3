import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { StepAborted } from '../src/action/abort.ts'
import { systemClock } from '../src/clock.ts'
import { MainFileWriter } from '../src/handover/main-file-writer.ts'
import { runMain } from '../src/run-main.ts'
import { startScriptedService } from '../tools/scripted-service/scripted-service.ts'
import { MemoryFile } from './support/memory-file.ts'
import { inputVariables } from './support/process-effects.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

test('a signal that came while the action was loading is handled before anything is started', async () => {
  const service = await startScriptedService()
  onTestFinished(() => service.close())
  const controller = new AbortController()
  const lines: string[] = []
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
    lines.push(String(chunk))
    // The mask of the token is the last line before the start. The abort waits in the event loop, as a signal that came while a file was loaded.
    if (String(chunk).startsWith('::add-mask::')) {
      const abort = () => controller.abort(new StepAborted('system signal', systemClock.now()))
      setImmediate(() => setImmediate(abort))
    }
    return true
  })
  onTestFinished(() => write.mockRestore())
  const mainFile = new MainFileWriter(new MemoryFile({ phase: 'nothing started' }))
  const folder = temporaryFolder()
  const event = join(folder, 'event.json')
  writeFileSync(event, '{}')
  const target = { 'base-url': service.url, 'api-key': service.key, project: 'web-shop' }
  const env = {
    ...inputVariables({ ...target, 'github-token': 'ghs_token' }),
    RUNNER_TEMP: folder,
    GITHUB_EVENT_PATH: event,
    GITHUB_EVENT_NAME: 'push',
    GITHUB_REF_NAME: 'main',
    GITHUB_REF_TYPE: 'branch',
  }
  expect(await runMain(env, controller.signal, mainFile)).toBe(false)
  expect(lines.join('')).toContain('before this step started a run')
  expect(service.requests).toEqual([])
})

test('invalid inputs are an error, leave post nothing, and are in the job summary, unless the input summary is never', async () => {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  onTestFinished(() => write.mockRestore())
  const summaryWith = async (summary: string) => {
    const [path, output] = ['summary.md', 'output'].map((name) => join(temporaryFolder(), name)) as [string, string]
    for (const file of [path, output]) writeFileSync(file, '')
    const inputs = inputVariables({ 'base-url': 'ftp://x', summary })
    const env = { ...inputs, GITHUB_STEP_SUMMARY: path, GITHUB_OUTPUT: output }
    const file = new MemoryFile({ phase: 'nothing started' })
    expect(await runMain(env, new AbortController().signal, new MainFileWriter(file))).toBe(false)
    expect(file.exists()).toBe(false)
    expect(readFileSync(output, 'utf8')).toContain('conclusion=error')
    return readFileSync(path, 'utf8')
  }
  for (const when of ['', 'always', 'on-failure'])
    expect(await summaryWith(when), when).toMatch(/^## ❌ Invalid inputs\n/)
  expect(await summaryWith('never')).toBe('')
  expect(write.mock.calls.join('')).toContain('::error title=Invalid input::Input base-url')
})
