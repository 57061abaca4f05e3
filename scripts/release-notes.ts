// Prints the notes of a release for the workflow `Release`: the changelog's section, and how to pin and verify the release.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { notesOf } from './changelog.ts'

const { GITHUB_REPOSITORY: repository } = process.env
const [tag = ''] = process.argv.slice(2)
const notes = notesOf(readFileSync('CHANGELOG.md', 'utf8'), tag.replace(/^v/, ''))
const commit = execFileSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8' }).trim()

console.log(`${notes}

Pin this release:

\`\`\`yaml
- uses: ${repository}@${commit} # ${tag}
\`\`\`

If you use the local service, pin it too:

\`\`\`yaml
- uses: ${repository}/local-service@${commit} # ${tag}
\`\`\`

Verify it: \`gh release verify ${tag} --repo ${repository}\``)
