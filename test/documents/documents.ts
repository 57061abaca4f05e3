import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parse } from 'yaml'
import { renderedPage, textIn } from '../support/rendered-page.ts'

export const ROOT = resolve(import.meta.dirname, '../..')

export function read(path: string): string {
  return readFileSync(resolve(ROOT, path), 'utf8')
}

export interface CodeBlock {
  /** The heading above it. */
  readonly section: string
  readonly language: string
  readonly text: string
}

export interface Document {
  readonly blocks: readonly CodeBlock[]
  /** The targets of links and pictures. */
  readonly links: readonly string[]
  /** The names that a link can have after `#`. */
  readonly anchors: ReadonlySet<string>
  /** The `<code>`s outside blocks. */
  readonly codes: readonly string[]
}

export function readDocument(path: string): Document {
  const blocks: CodeBlock[] = []
  const links: string[] = []
  const anchors = new Set<string>()
  const codes: string[] = []
  const blockCodes = new Set<unknown>()
  let section = ''
  for (const element of renderedPage(read(path)).elements) {
    const attribute = (name: string) => element.attrs.find((one) => one.name === name)?.value
    if (/^h[1-6]$/.test(element.tagName)) {
      section = textIn(element)
      anchors.add(anchorOf(section))
    } else if (element.tagName === 'pre') {
      const [code] = element.childNodes.filter((child) => 'attrs' in child)
      blockCodes.add(code)
      const language = code?.attrs.find(({ name }) => name === 'class')?.value.replace('language-', '') ?? ''
      blocks.push({ section, language, text: element.childNodes.map(textIn).join('') })
    } else if (element.tagName === 'code' && !blockCodes.has(element)) {
      codes.push(textIn(element))
    }
    const to = attribute('href') ?? attribute('src')
    if (to !== undefined) links.push(to)
  }
  return { blocks, links, anchors, codes }
}

/** GitHub's rule for the anchors of headings. */
function anchorOf(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')
}

/** How a workflow names this action, whoever publishes it. Only our own workflows use the default branch. */
export const OWN_ACTION = /^[\w-]+\/test-run-action@(?:v1|main)$/
/** The action that starts the local service. */
export const SERVICE_ACTION = /^(\.|[\w-]+\/test-run-action)\/local-service(@(?:v1|main))?$/

export function readActionManifest(file = 'action.yml'): { readonly inputs: object; readonly outputs: object } {
  return parse(read(file))
}
