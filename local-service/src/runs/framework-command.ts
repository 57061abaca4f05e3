import { findPackageCommand, usesPlugAndPlay } from '../workspace/packages.ts'
import type { Source } from './prepare-files.ts'
import { environmentIn } from './run-in-source.ts'
import { findExecutable } from './test-environment.ts'
import type { TestRun } from './test-run.ts'

/** The program and the first arguments that start the project's framework. Undefined if the framework is not installed. */
export function frameworkCommand(run: TestRun, source: Source): readonly string[] | undefined {
  const { framework, node: chosen, command } = run.project
  if (command !== undefined) return command
  // What a setup installs in a container may be a link out of the work tree. Without a setup, a person installed the packages.
  const within = source.needsSetup && run.engine !== undefined ? source.root : undefined
  const script = findPackageCommand(framework.packageName, source.needsSetup ? source : run.checkout.place, within)
  if (script === undefined) {
    // The project may have a script of this name, so Yarn is asked for a program only.
    const isThroughYarn = run.engine === undefined && usesPlugAndPlay(source)
    return isThroughYarn ? ['yarn', 'run', '--binaries-only', framework.name] : undefined
  }
  if (run.engine !== undefined) return ['node', script]
  const node = chosen ?? findExecutable('node', environmentIn(source, run))
  // PATH may have no Node, because a person can start the service by the path of its Node.
  return [node ?? process.execPath, script]
}

/** If the run has a setup, the setup must install the framework. Otherwise a person must install it. */
export function describeMissing({ project, checkout }: TestRun, { folder, needsSetup }: Source): string {
  const place = needsSetup ? `the work tree, in ${folder || 'its root'}` : project.folder
  const remedy = needsSetup ? 'Let "setup" install' : 'Install'
  const missing = `${project.framework.packageName} is not installed in ${place}. ${remedy} it, or set "command".`
  if (!usesPlugAndPlay(checkout.place)) return missing
  return (
    `${missing} Yarn uses Plug'n'Play here: for a branch, commit .pnp.cjs or set "setup" to ["yarn", "install"]; ` +
    'for a container, set "nodeLinker: node-modules" in .yarnrc.yml.'
  )
}
