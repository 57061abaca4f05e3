// CHANGELOG.md has a section `## Unreleased`, and then a section `## X.Y.Z - YYYY-MM-DD` for each release, newest first. The
// section of the first release says NOT_YET in place of the date until somebody releases it.

const NOT_YET = 'not released yet'

/**
 * Gives the version's own section the date. If there is none, gives the section Unreleased the version and the date, and
 * adds a new empty section Unreleased.
 */
export function dateUnreleased(changelog: string, version: string, date: string): string {
  const waiting = `## ${version} - ${NOT_YET}\n`
  if (changelog.includes(waiting)) return changelog.replace(waiting, () => `## ${version} - ${date}\n`)
  const notes = textOf(changelog, 'Unreleased\n')
  if (!notes)
    throw new Error('CHANGELOG.md has nothing under "## Unreleased". Write down there what users will notice.')
  return changelog.replace('## Unreleased\n', () => `## Unreleased\n\n## ${version} - ${date}\n`)
}

/** The text of a release's section, without the heading. */
export function notesOf(changelog: string, version: string): string {
  if (changelog.includes(`## ${version} - ${NOT_YET}\n`))
    throw new Error(`CHANGELOG.md says that ${version} is ${NOT_YET}: run npm version before you make the tag.`)
  const notes = textOf(changelog, `${version} - `)
  if (!notes) throw new Error(`CHANGELOG.md says nothing about ${version}: run npm version before you make the tag.`)
  return notes
}

function textOf(changelog: string, heading: string): string | undefined {
  const section = changelog.split(/^## /m).find((text) => text.startsWith(heading))
  return section?.slice(section.indexOf('\n')).trim()
}
