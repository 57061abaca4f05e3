import type { Program } from '../frameworks/framework.ts'
import { describeOldFramework, findPackageCommand } from '../workspace/packages.ts'
import type { Place } from '../workspace/work-tree.ts'
import { needsSetup } from './prepare-files.ts'
import { environmentIn } from './run-in-source.ts'
import { findExecutable } from './test-environment.ts'
import type { TestRun } from './test-run.ts'

/** What starts the project's framework. Undefined if the framework is not installed. */
export function frameworkProgram(run: Pick<TestRun, 'project' | 'env'>, source: Place): Program | undefined {
  const { framework, command, container } = run.project
  if (command !== undefined) return { argv: command }
  const script = findPackageCommand(framework.packageName, source)
  if (container !== undefined) return script === undefined ? undefined : programOf(script, 'node')
  // PATH may have no Node, because a person can start the service by the path of its Node.
  const node = findExecutable('node', environmentIn(source, run)) ?? process.execPath
  return script === undefined ? undefined : programOf(script, node)
}

function programOf(script: string, node: string): Program {
  return { argv: [node, script], script, node }
}

/** Says that the framework is too old. Undefined if it is not, or if a command of the project chooses it. */
export function describeTooOld({ project }: TestRun, source: Place): string | undefined {
  return project.command === undefined ? describeOldFramework(project.framework, source) : undefined
}

/** If the run has a setup, the setup must install the framework. Otherwise a person must install it. */
export function describeMissing(run: TestRun, { folder }: Place): string {
  const { project } = run
  const place = needsSetup(run) ? `the work tree, in ${folder || 'its root'}` : project.folder
  const remedy = needsSetup(run) ? 'Let "setup" install' : 'Install'
  return `${project.framework.packageName} is not installed in ${place}. ${remedy} it, or set "command".`
}
