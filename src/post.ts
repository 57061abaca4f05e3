import { findMainFiles } from './handover/main-file.ts'

// If main has removed its file, nothing is left to do, and post loads nothing else.
const files = findMainFiles(process.env)
if (files.length > 0) {
  const { abortOnSignals, exitAfter, maskKey } = await import('./process.ts')
  const { signal } = abortOnSignals()
  maskKey(process.env)
  const task = async () => {
    const { runPost } = await import('./run-post.ts')
    await runPost(process.env, files, signal)
    return 0
  }
  await exitAfter(task, { signal, crashLevel: 'warning' })
} else if (process.env.RUNNER_DEBUG === '1') {
  process.stdout.write('::debug::Post found no file of main, so nothing is left to do.\n')
}
