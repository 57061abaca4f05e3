// The way from a merged change to a release; CONTRIBUTING.md describes it.
//   npm run release -- owner octo-org       once: who publishes it, in all pages, workflows and CODEOWNERS
//   npm run release -- prepare 1.2.0        on a branch: the version and the changelog, everywhere alike; then a build
//   npm run release -- tag [--dry-run]      on main: looks at everything, makes the tag v1.2.0 and pushes it
// and, in the release workflow that the tag starts:
//   npm run release -- check v1.2.0         the tag is on main and names what is in the files
//   npm run release -- notes v1.2.0         the release's notes, from the changelog, and how to pin it
//   npm run release -- move-major v1.2.0 [--dry-run]
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { findRelease, newestRelease, releaseUnreleased } from './changelog.ts'

const REMOTE = 'origin'
const MAIN = 'main'

/** What keeps a release from being made; each sentence says what to do. */
class Refusal extends Error {
  constructor(reasons: readonly string[]) {
    super(reasons.join('\n'))
  }
}

/** What stands for the publisher until there is one: before the repository's name, and in CODEOWNERS. */
const NOBODY = /\bOWNER(?=\/test-run-action)|(?<=@)OWNER\b/g

function owner(name: string): void {
  if (!/^[A-Za-z0-9][A-Za-z0-9-]*$/.test(name)) {
    throw new Refusal([`"${name}" is no user or organisation of GitHub. Give one such as octo-org.`])
  }
  const files = filesWithoutOwner()
  for (const file of files) writeFileSync(file, read(file).replaceAll(NOBODY, name))
  console.log(`Put ${name} into ${files.length} files. Look at the changes, commit them, and merge them.`)
}

/** The files into which nobody has put a publisher. */
function filesWithoutOwner(): string[] {
  const files = git('ls-files', '--', '*.md', '*.yml', '.github/CODEOWNERS').split('\n')
  return files.filter((file) => file !== '' && read(file).search(NOBODY) !== -1)
}

function prepare(version: string): void {
  const current = versionsInFiles()['package.json'] ?? ''
  if (!isVersion(version)) throw new Refusal([`"${version}" is no version. Give one such as 1.2.0.`])
  if (compareVersions(version, current) <= 0)
    throw new Refusal([`${version} is not above ${current}, the version in package.json.`])
  const changelog = releaseUnreleased(read('CHANGELOG.md'), version, new Date().toISOString().slice(0, 10))
  writeFileSync('CHANGELOG.md', changelog)
  writeFileSync('src/version.ts', read('src/version.ts').replace(VERSION_CONSTANT, `$1${version}$2`))
  for (const file of ['package-lock.json', ...manifests()]) {
    const json = JSON.parse(read(file))
    for (const entry of [json, ...ownEntries(json)]) entry.version = version
    writeFileSync(file, `${JSON.stringify(json, undefined, 2)}\n`)
  }
  npm('build')
  console.log(
    `Prepared ${version}. Look at the changes, commit them, and merge them. Then, on ${MAIN}: npm run release -- tag`,
  )
}

function tag(isDryRun: boolean): void {
  const version = versionsInFiles()['package.json'] ?? ''
  const name = `v${version}`
  const head = git('rev-parse', 'HEAD')
  const released = releasedVersions()
  const newest = released.at(-1)
  const reasons = mismatches(version)
  if (git('status', '--porcelain') !== '')
    reasons.push('The tree is not clean. Commit what belongs to the release, and remove the rest.')
  if (head !== remoteCommit(`refs/heads/${MAIN}`)) {
    reasons.push(`HEAD is not what ${REMOTE} has as ${MAIN}. Release what is merged: git switch ${MAIN} && git pull`)
  }
  if (released.includes(version) || git('tag', '--list', name) !== '') {
    reasons.push(`The tag ${name} exists. Tags of releases never move: prepare a new version.`)
  } else if (newest !== undefined && compareVersions(version, newest) < 0) {
    reasons.push(`${version} is below ${newest}, which is released. Prepare a version above it.`)
  }
  // The slow check last, and only if nothing else is wrong.
  if (reasons.length === 0) {
    try {
      npm('check-dist')
    } catch {
      reasons.push('dist/ is stale. Run npm run build, and merge what it changes.')
    }
  }
  if (reasons.length > 0) throw new Refusal(reasons)
  change(isDryRun, 'tag', '--annotate', name, '--message', name, head)
  change(isDryRun, 'push', REMOTE, `refs/tags/${name}`)
  if (!isDryRun) console.log(`Pushed ${name}. The workflow "Release" publishes it.`)
}

/** The workflow's second look: a tag may have been pushed by hand. */
function check(name: string): void {
  const version = versionOfTag(name)
  if (git('tag', '--list', name) === '') throw new Refusal([`There is no tag ${name} here: git fetch --tags`])
  const reasons = mismatches(version)
  const commit = git('rev-parse', `${name}^{commit}`)
  if (commit !== git('rev-parse', 'HEAD')) reasons.push(`The files here are not those of ${name}. Check out the tag.`)
  if (!isAncestor(commit, `${REMOTE}/${MAIN}`))
    reasons.push(`${name} is not on ${MAIN}. Only what is merged is released.`)
  if (reasons.length > 0) throw new Refusal(reasons)
  console.log(`${name} may be published.`)
}

function notes(name: string): void {
  const release = findRelease(read('CHANGELOG.md'), versionOfTag(name))
  if (release === undefined) throw new Refusal([`CHANGELOG.md has no section for ${name}.`])
  const repository = process.env.GITHUB_REPOSITORY || 'OWNER/test-run-action'
  console.log(`${release.notes}

Pin this release:

\`\`\`yaml
- uses: ${repository}@${git('rev-parse', `${name}^{commit}`)} # ${name}
\`\`\`

Verify it: \`gh release verify ${name} --repo ${repository}\``)
}

function moveMajor(name: string, isDryRun: boolean): void {
  const version = versionOfTag(name)
  const [major] = version.split('.')
  const newest = releasedVersions().findLast((other) => other.startsWith(`${major}.`))
  if (newest === undefined) throw new Refusal([`${REMOTE} has no tag ${name}. Push it first.`])
  if (newest !== version) console.log(`v${major} stays: v${newest} is newer than ${name}.`)
  else change(isDryRun, 'push', '--force', REMOTE, `${git('rev-parse', `${name}^{commit}`)}:refs/tags/v${major}`)
}

const VERSION_CONSTANT = /(export const VERSION = ')[^']*(')/

/** The `package.json` of the action and of each workspace: all are released together. */
function manifests(): string[] {
  const { workspaces = [] } = JSON.parse(read('package.json'))
  return ['package.json', ...workspaces.map((folder: string) => `${folder}/package.json`)]
}

/** What a package-lock.json says of these packages. */
function ownEntries({ packages = {} }: { packages?: Record<string, { version?: string }> }): { version?: string }[] {
  const folders = ['', ...manifests().map((file) => file.replace(/\/?package\.json$/, ''))]
  return [...new Set(folders)].flatMap((folder) => packages[folder] ?? [])
}

/** Where the version stands, and what it is there. */
function versionsInFiles(): Record<string, string | undefined> {
  const lock = JSON.parse(read('package-lock.json'))
  const locked = ownEntries(lock)
  return {
    ...Object.fromEntries(manifests().map((file) => [file, JSON.parse(read(file)).version])),
    'package-lock.json':
      locked.length > 0 && locked.every(({ version }) => version === lock.version) ? lock.version : undefined,
    'src/version.ts': read('src/version.ts').match(VERSION_CONSTANT)?.[0].split("'")[1],
    'CHANGELOG.md': newestRelease(read('CHANGELOG.md'))?.version,
  }
}

function mismatches(version: string): string[] {
  const reasons = Object.entries(versionsInFiles())
    .filter(([, found]) => found !== version)
    .map(
      ([file, found]) =>
        `${file} says ${found ?? 'no version'}, and the release is ${version}. Run npm run release -- prepare VERSION.`,
    )
  const [unowned, ...others] = filesWithoutOwner()
  if (unowned !== undefined) {
    const files = others.length === 0 ? unowned : `${unowned} and ${others.length} more`
    reasons.push(`${files} still say OWNER. Run npm run release -- owner NAME, and merge what it changes.`)
  }
  if (findRelease(read('CHANGELOG.md'), version)?.notes === '') {
    reasons.push(`CHANGELOG.md says nothing about ${version}. Write down what users will notice.`)
  }
  return reasons
}

/** The versions that the remote has tags for, in ascending order. */
function releasedVersions(): string[] {
  const names = git('ls-remote', '--tags', '--refs', REMOTE)
    .split('\n')
    .map((line) => line.split('refs/tags/v')[1] ?? '')
  return names.filter(isVersion).sort(compareVersions)
}

function remoteCommit(ref: string): string {
  return git('ls-remote', REMOTE, ref).split('\t')[0] ?? ''
}

function isAncestor(commit: string, of: string): boolean {
  try {
    git('merge-base', '--is-ancestor', commit, of)
    return true
  } catch {
    return false
  }
}

function isVersion(text: string): boolean {
  return /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$/.test(text)
}

function versionOfTag(name: string): string {
  const version = name.replace(/^v/, '')
  if (name === version || !isVersion(version))
    throw new Refusal([`"${name}" is no tag of a release. Give one such as v1.2.0.`])
  return version
}

function compareVersions(a: string, b: string): number {
  const [left, right] = [a.split('.').map(Number), b.split('.').map(Number)]
  return left.map((part, index) => part - (right[index] ?? 0)).find((difference) => difference !== 0) ?? 0
}

function read(file: string): string {
  return readFileSync(file, 'utf8')
}

function git(...args: readonly string[]): string {
  return execFileSync('git', args, { encoding: 'utf8' }).trim()
}

function change(isDryRun: boolean, ...args: readonly string[]): void {
  console.log(`${isDryRun ? 'would run' : 'running'}: git ${args.join(' ')}`)
  if (!isDryRun) git(...args)
}

function npm(script: string): void {
  execFileSync('npm', ['run', '--silent', script], { stdio: 'inherit', shell: process.platform === 'win32' })
}

const COMMANDS = 'owner NAME, prepare VERSION, tag, check TAG, notes TAG or move-major TAG'

function main(): void {
  const options = { 'dry-run': { type: 'boolean', default: false }, help: { type: 'boolean', default: false } } as const
  const { values, positionals } = parseArgs({ options, allowPositionals: true })
  const [command = '', argument = ''] = positionals
  const isDryRun = values['dry-run']
  if (values.help) console.log(`The commands are ${COMMANDS}; CONTRIBUTING.md says what for.`)
  else if (command === 'owner') owner(argument)
  else if (command === 'prepare') prepare(argument)
  else if (command === 'tag') tag(isDryRun)
  else if (command === 'check') check(argument)
  else if (command === 'notes') notes(argument)
  else if (command === 'move-major') moveMajor(argument, isDryRun)
  else throw new Refusal([`Say what to do: ${COMMANDS}. Got "${command}".`])
}

try {
  main()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
