// `npm version` runs this after it has written the new version to package.json. The script writes the version to all other
// places, and gives the changelog's section the date.
import { readFileSync, writeFileSync } from 'node:fs'
import { dateUnreleased } from './changelog.ts'

const { version } = JSON.parse(readFileSync('package.json', 'utf8'))

edit('CHANGELOG.md', (text) => dateUnreleased(text, version, new Date().toISOString().slice(0, 10)))
edit('src/version.ts', (text) => text.replace(/'.*'/, `'${version}'`))
edit('local-service/package.json', (text) => text.replace(/"version": ".*"/, `"version": "${version}"`))
edit('package-lock.json', (text) => {
  const lock = JSON.parse(text)
  lock.packages['local-service'].version = version
  return `${JSON.stringify(lock, undefined, 2)}\n`
})

function edit(file: string, change: (text: string) => string): void {
  writeFileSync(file, change(readFileSync(file, 'utf8')))
}
