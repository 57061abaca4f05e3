// CHANGELOG.md has a section `## Unreleased`, and then a section `## X.Y.Z - YYYY-MM-DD` for each release, newest first.

/** Gives the section Unreleased the version and the date, and adds a new empty section Unreleased. */
export function dateUnreleased(changelog: string, version: string, date: string): string {
  const notes = textOf(changelog, 'Unreleased\n')
  if (!notes)
    throw new Error('CHANGELOG.md has nothing under "## Unreleased". Write down there what users will notice.')
  return changelog.replace('## Unreleased\n', () => `## Unreleased\n\n## ${version} - ${date}\n`)
}

/** The text of a release's section, without the heading. */
export function notesOf(changelog: string, version: string): string {
  const notes = textOf(changelog, `${version} - `)
  if (!notes) throw new Error(`CHANGELOG.md says nothing about ${version}: run npm version before you make the tag.`)
  return notes
}

function textOf(changelog: string, heading: string): string | undefined {
  const section = changelog.split(/^## /m).find((text) => text.startsWith(heading))
  return section?.slice(section.indexOf('\n')).trim()
}
