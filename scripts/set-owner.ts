// `npm run owner octo-org` replaces OWNER by the publisher's name in pages, recipes and CODEOWNERS. It is run once.
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'

const [name = ''] = process.argv.slice(2)
const files = execFileSync('git', ['ls-files', '-z', '*.md', '*.yml', '.github/CODEOWNERS'], { encoding: 'utf8' })
if (/^[A-Za-z0-9][A-Za-z0-9-]*$/.test(name)) {
  for (const file of files.split('\0').filter((path) => path !== '')) {
    const text = readFileSync(file, 'utf8')
    const named = text.replaceAll(/\bOWNER(?=\/test-run-action)|(?<=@)OWNER\b/g, name)
    if (named !== text) writeFileSync(file, named)
  }
} else {
  console.error(`"${name}" cannot be the name of a user or an organisation at GitHub. Give a name such as octo-org.`)
  process.exitCode = 1
}
