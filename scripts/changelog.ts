// CHANGELOG.md: a section `## Unreleased`, then one `## X.Y.Z - YYYY-MM-DD` for each release, the newest first.

export interface ChangelogRelease {
  readonly version: string
  /** What the section says, without its heading. */
  readonly notes: string
}

const HEADING = /^## (?:Unreleased|(\d+\.\d+\.\d+) - \d{4}-\d{2}-\d{2})$/gm

/** The sections in the order of the file. The one for what is not released yet has no version. */
function sections(
  changelog: string,
): { readonly version: string | undefined; readonly start: number; readonly end: number }[] {
  const headings = [...changelog.matchAll(HEADING)]
  return headings.map((heading, index) => ({
    version: heading[1],
    start: heading.index + heading[0].length,
    end: headings[index + 1]?.index ?? changelog.length,
  }))
}

export function newestRelease(changelog: string): ChangelogRelease | undefined {
  return releases(changelog)[0]
}

export function findRelease(changelog: string, version: string): ChangelogRelease | undefined {
  return releases(changelog).find((release) => release.version === version)
}

function releases(changelog: string): ChangelogRelease[] {
  return sections(changelog).flatMap(({ version, start, end }) =>
    version === undefined ? [] : [{ version, notes: changelog.slice(start, end).trim() }],
  )
}

/** Makes a release of what is not released yet, and leaves an empty section for what comes next. */
export function releaseUnreleased(changelog: string, version: string, date: string): string {
  const unreleased = sections(changelog).find((section) => section.version === undefined)
  const notes = unreleased === undefined ? '' : changelog.slice(unreleased.start, unreleased.end).trim()
  if (unreleased === undefined || notes === '') {
    throw new Error('CHANGELOG.md has nothing under "## Unreleased". Write down there what users will notice.')
  }
  return `${changelog.slice(0, unreleased.start)}\n\n## ${version} - ${date}\n\n${notes}\n\n${changelog.slice(unreleased.end)}`
    .trimEnd()
    .concat('\n')
}
