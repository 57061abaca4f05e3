// Prints the notes of the release whose tag the workflow `Release` runs for: the changelog's, and how to pin it.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { notesOf } from './changelog.ts'

const { GITHUB_REPOSITORY: repository, GITHUB_REF_NAME: tag = '' } = process.env
const notes = notesOf(readFileSync('CHANGELOG.md', 'utf8'), tag.replace(/^v/, ''))
const commit = execFileSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8' }).trim()

console.log(`${notes}

Pin this release:

\`\`\`yaml
- uses: ${repository}@${commit} # ${tag}
\`\`\`

Verify it: \`gh release verify ${tag} --repo ${repository}\``)
