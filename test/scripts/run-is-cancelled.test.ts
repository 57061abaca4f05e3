import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startScriptedService } from '../../tools/scripted-service/scripted-service.ts'
import { ROOT } from '../documents/documents.ts'

const POST = join(ROOT, '.github/actions/run-is-cancelled/post.js')

test.each([
  ['succeeds if the run is cancelled', { end: 'CANCELLED' }, 0, '200: {"status":"CANCELLED"'],
  ['fails if the run has failed', { end: 'FAILED' }, 1, '200: {"status":"FAILED"'],
  ['fails if the run is running', { runningMs: Number.POSITIVE_INFINITY }, 1, '200: {"status":"RUNNING"'],
  ['fails if the service does not know the run', { runId: 'run-2' }, 1, ' responded 404: '],
])("the post step of our workflows' own action %s", async (_, script, exitCode, line) => {
  const service = await startScriptedService({ script: { runId: 'run-1', ...script } })
  onTestFinished(() => service.close())
  const headers = { authorization: `Bearer ${service.key}`, 'content-type': 'application/json' }
  await fetch(`${service.url}/v1/projects/hangs/runs`, { method: 'POST', headers, body: '{}' })
  const ended = await runPost(`${service.url}/v1/projects/hangs/runs/run-1`, service.key)
  expect(ended).toEqual({ exitCode, stdout: expect.stringContaining(line) })
})

function runPost(run: string, key: string): Promise<{ exitCode: number | null; stdout: string }> {
  const env = { ...process.env, INPUT_RUN: run, INPUT_KEY: key }
  return new Promise((resolve) => {
    const post = execFile(process.execPath, [POST], { env }, (_, stdout) => {
      resolve({ exitCode: post.exitCode, stdout })
    })
  })
}
