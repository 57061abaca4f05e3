import { execFileSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { matchesGlob } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { commandsOf, type GhFolder, ghFolder } from '../support/gh-folder.ts'
import { HAS_COMMANDS } from '../support/github-commands.ts'
import { ROOT, read, readDocument } from './documents.ts'
import { problemsOfRuleset } from './ruleset-types.ts'

const action = parse(read('action.yml'))

test('Node is the same major version for users, contributors and workflows', () => {
  const major = read('.node-version').trim()
  expect(action.runs.using).toBe(`node${major}`)
  expect(JSON.parse(read('package.json')).devDependencies.node).toMatch(new RegExp(`^\\^${major}\\.`))
})

test.each(
  globSync(['*.md', 'docs/*.md', 'bench/*.md', '.github/*.md'], { cwd: ROOT }),
)('the npm scripts that %s names exist', (page) => {
  const { scripts } = JSON.parse(read('package.json'))
  const named = [...read(page).matchAll(/npm run (?:--silent )?([a-z][\w-]*)/g)].map(([, name = '']) => name)
  expect(named.filter((name) => scripts[name] === undefined)).toEqual([])
})

test('a code owner reviews a change to any file', () => {
  const rules = read('.github/CODEOWNERS')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
  expect(rules).toEqual([expect.stringMatching(/^\* @[\w/-]+$/)])
})

describe('the release workflow', () => {
  const { jobs } = parse(read('.github/workflows/release.yml'))

  const commands = (job: string) => jobs[job].steps.map(({ run = '' }: { run?: string }) => run).join('\n')
  const actions = (job: string) => jobs[job].steps.map(({ uses = '' }: { uses?: string }) => uses.split('@')[0])

  test('installs packages only in jobs that may not write', () => {
    for (const job of ['build', 'test']) expect(jobs[job].permissions).toEqual({ contents: 'read' })
    expect(commands('build')).toMatch(/^npm ci --ignore-scripts$/m)
    expect(commands('publish')).not.toMatch(/\bnpm (?!sbom --package-lock-only)|\bnpx\b/)
  })

  test('publishes what was built in a job that runs no tests', () => {
    expect(commands('build')).not.toMatch(/\bnpm (cit|test|run (?!owner))/)
    expect(actions('test')).not.toContain('actions/upload-artifact')
    const [download] = jobs.publish.steps.filter(({ uses }: { uses?: string }) => uses?.includes('download-artifact'))
    expect(download.with['artifact-ids']).toBe(`\${{ needs.build.outputs.artifact }}`)
  })

  test('gives the key of the app only to a job that runs no code of the repository', () => {
    const text = read('.github/workflows/release.yml')
    expect(text.match(/secrets\.\w+/g)).toEqual(['secrets.RELEASE_APP_KEY'])
    expect(JSON.stringify(jobs.major)).toContain('secrets.RELEASE_APP_KEY')
    expect(actions('major').filter((name: string) => name !== '')).toEqual(['actions/create-github-app-token'])
    expect(jobs.major).toMatchObject({ needs: ['publish'], permissions: {}, environment: 'major-tag' })
  })

  test('attests every file that runs, and the review page verifies the same files', () => {
    const attest = jobs.publish.steps.find(
      ({ name }: { name?: string }) => name === 'Attest where the files were built',
    )
    const subjects: readonly string[] = attest.with['subject-path'].trim().split('\n')
    const [, list = ''] = /^ *for file in (.*); do$/m.exec(read('docs/review.md')) ?? []
    const verified = execFileSync('bash', ['-c', `printf '%s\\n' ${list}`], { cwd: ROOT, encoding: 'utf8' })
    const files = verified.trim().split('\n')
    const running = ['', 'local-service/'].flatMap((folder) => {
      const { runs } = parse(read(`${folder}action.yml`))
      return [`${folder}action.yml`, `${folder}${runs.main}`, `${folder}${runs.post}`]
    })
    expect(files).toEqual(expect.arrayContaining(running))
    expect(files.filter((file) => !subjects.some((subject) => matchesGlob(file, subject)))).toEqual([])
  })

  // The commands need Bash, as on Linux and macOS.
  describe.skipIf(process.platform === 'win32' || !HAS_COMMANDS)(
    'is verified by the commands of the review page',
    () => {
      const FILES = ['action.yml', 'local-service/action.yml', 'dist/main/index.js', 'local-service/dist/main/index.js']
      const MAKE_RELEASE = [
        'export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a',
        'git init --quiet --initial-branch main origin && cd origin',
        ...FILES.map((file) => `mkdir -p "$(dirname ${file})" && touch ${file}`),
        'git add . && git commit --quiet --message release && git tag v1.2.3',
      ].join('\n')

      function verify(folder: GhFolder, more = 'true') {
        const [, commands = ''] = readDocument('docs/review.md').blocks.flatMap(({ language, text }) =>
          language === 'sh' ? text : [],
        )
        const local = commands.replace(/https:\S+/, 'origin test-run-action')
        expect(local).not.toBe(commands)
        return folder.run(`${MAKE_RELEASE}\n${more}\ncd ..\nset +e\n${local}`)
      }

      test('checks each file that runs, from this commit', () => {
        const folder = ghFolder()
        expect(verify(folder)).toMatchObject({ status: 0, stdout: 'verified\n' })
        const calls = folder.calls().map(({ args }) => args)
        expect(calls[0]).toMatch(/^release verify v1\.2\.3 /)
        const { stdout } = folder.run('git -C origin rev-parse v1.2.3')
        const checks = `.*--source-ref refs/tags/v1\\.2\\.3 --source-digest ${stdout.trim()} --deny-self-hosted-runners `
        expect(calls.slice(1)).toEqual(
          FILES.map((file) => expect.stringMatching(new RegExp(`^attestation verify ${file} ${checks}`))),
        )
      })

      test('finds a file that is not attested, and a tag that has moved', () => {
        for (const call of ['attestation verify local-service/dist', 'release verify']) {
          const folder = ghFolder()
          folder.fail({ [call]: 'no attestations' })
          expect(verify(folder)).toMatchObject({ status: 1, stdout: '' })
        }
      })

      test('finds a tag that is not on main', () => {
        const more =
          'git switch --quiet --create side && git commit --quiet --allow-empty --message x && git tag --force v1.2.3'
        const { status, stdout } = verify(ghFolder(), `${more} > /dev/null`)
        expect([status, stdout]).toEqual([1, ''])
      })
    },
  )
})

describe('the settings of this repository', () => {
  const rulesets = globSync('.github/rulesets/*.json', { cwd: ROOT })
  const load = (name: string) => JSON.parse(read(`.github/rulesets/${name}.json`))

  test.each(rulesets)('%s has the shape that GitHub documents', (file) => {
    expect(problemsOfRuleset(JSON.parse(read(file)), 'repos/create-repo-ruleset')).toEqual([])
  })

  test('require checks that the workflows report for pull requests and for the merge queue', () => {
    const { rules } = load('main')
    const { required_status_checks: required } = rules.find(
      ({ type }: { type: string }) => type === 'required_status_checks',
    ).parameters
    const names = globSync('.github/workflows/*.yml', { cwd: ROOT })
      .map((file) => parse(read(file)))
      .filter(({ on }) => 'pull_request' in Object(on) && 'merge_group' in Object(on))
      .flatMap(({ jobs }) =>
        Object.values(jobs as Record<string, { name: string; strategy?: { matrix: { language?: string[] } } }>).flatMap(
          ({ name, strategy }) =>
            strategy?.matrix.language?.map((language) => name.replace(/\$\{\{ matrix\.language \}\}/, language)) ?? [
              name,
            ],
        ),
      )
    const contexts = required.map(({ context }: { context: string }) => context)
    expect(contexts).toEqual(['CI', 'No run left behind', 'Analyze (javascript-typescript)', 'Analyze (actions)'])
    expect(names).toEqual(expect.arrayContaining(contexts))
  })

  test('protect every tag of a release, and the major tags apart from them', () => {
    const [created, fixed, major] = ['release-tags', 'fixed-tags', 'major-tags'].map(load)
    const protects = (
      { conditions }: { conditions: { ref_name: Record<'include' | 'exclude', string[]> } },
      tag: string,
    ) =>
      conditions.ref_name.include.some((pattern) => matchesGlob(tag, pattern)) &&
      !conditions.ref_name.exclude.some((pattern) => matchesGlob(tag, pattern))
    for (const tag of ['refs/tags/v1.2.3', 'refs/tags/v10.0.12']) {
      expect([created, fixed, major].map((ruleset) => protects(ruleset, tag))).toEqual([true, true, false])
    }
    expect([created, fixed, major].map((ruleset) => protects(ruleset, 'refs/tags/v1'))).toEqual([false, false, true])
    const rulesOf = ({ rules }: { rules: { type: string }[] }) => rules.map(({ type }) => type)
    expect([created, fixed, major].map(rulesOf)).toEqual([
      ['creation'],
      ['update', 'deletion'],
      ['creation', 'update', 'deletion'],
    ])
    expect([fixed, major].map(({ bypass_actors }) => bypass_actors)).toEqual([undefined, undefined])
  })

  // The commands need Bash, as on Linux and macOS.
  test.skipIf(process.platform === 'win32' || !HAS_COMMANDS)(
    'are made by the commands of the page for contributors',
    () => {
      const folder = ghFolder({ 'teams/maintainers': { id: 9 } })
      folder.run('mkdir -p .github/rulesets')
      for (const file of rulesets) folder.write(file, read(file))
      const { status, stderr } = folder.run(
        commandsOf('CONTRIBUTING.md', 'Settings').join('\n').replaceAll('APP_ID', '77'),
      )
      expect(status, stderr).toBe(0)
      const calls = folder.calls()
      const bodies = calls.filter(({ args }) => args.includes('/rulesets')).map(({ input }) => JSON.parse(input))
      expect(bodies).toHaveLength(rulesets.length)
      for (const body of bodies) expect(problemsOfRuleset(body, 'repos/create-repo-ruleset')).toEqual([])
      expect(bodies.filter(({ bypass_actors }) => bypass_actors?.[0].actor_type === 'Integration')).toMatchObject([
        { name: load('major-tags').name, bypass_actors: [{ actor_id: 77, bypass_mode: 'always' }] },
      ])
      const environments = calls.filter(({ args }) => /PUT .*environments/.test(args))
      expect(
        environments.map(({ args, input }) => [/environments\/([\w-]+)/.exec(args)?.[1], JSON.parse(input)]),
      ).toEqual([
        ['release', expect.objectContaining({ prevent_self_review: true, reviewers: [{ type: 'Team', id: 9 }] })],
        [
          'major-tag',
          expect.objectContaining({
            deployment_branch_policy: { protected_branches: false, custom_branch_policies: true },
          }),
        ],
      ])
      const used = Object.values(
        parse(read('.github/workflows/release.yml')).jobs as Record<string, { environment?: string }>,
      )
      expect(used.flatMap(({ environment }) => environment ?? [])).toEqual(['release', 'major-tag'])
      expect(calls.filter(({ args }) => args.includes('deployment-branch-policies')).map(({ args }) => args)).toEqual([
        expect.stringMatching(/environments\/release\/.* -f name=v\*\.\*\.\* -f type=tag/),
        expect.stringMatching(/environments\/major-tag\/.* -f name=v\*\.\*\.\* -f type=tag/),
      ])
    },
  )

  test('pin images to digests, as they pin actions to commits', () => {
    const workflows = globSync('.github/workflows/*.yml', { cwd: ROOT }).map(read).join('\n')
    const images = [...workflows.matchAll(/^ +(?:container|image): *(\S+)$/gm)].map(([, image = '']) => image)
    expect(images).toHaveLength(3)
    expect(new Set(images).size).toBe(1)
    expect(images[0]).toMatch(/^node:24\.\d+\.\d+@sha256:[0-9a-f]{64}$/)
    expect(workflows).toMatch(/zizmor-action@[\s\S]*?\n +version: \d+\.\d+\.\d+\n/)
  })

  test('let CodeQL read everything but what is built', () => {
    const { jobs } = parse(read('.github/workflows/codeql.yml'))
    const { config } = jobs.analyze.steps.find(({ uses }: { uses?: string }) =>
      uses?.includes('codeql-action/init'),
    ).with
    expect(parse(config)).toEqual({ 'paths-ignore': ['dist', 'local-service/dist'] })
  })
})
