import { micromark } from 'micromark'
import { gfm, gfmHtml } from 'micromark-extension-gfm'
import { type DefaultTreeAdapterTypes, parseFragment } from 'parse5'

type Node = DefaultTreeAdapterTypes.ChildNode
type Element = DefaultTreeAdapterTypes.Element

/** A page as a browser shows it, from Markdown that is rendered like GitHub's (CommonMark and GFM, with HTML). */
export interface RenderedPage {
  readonly elements: readonly Element[]
  readonly text: string
  readonly codes: readonly string[]
  /** Tags, attributes and text without the contents of every `<code>` and `<pre>`. This is all that is not text of others. */
  readonly skeleton: string
}

export function renderedPage(markdown: string): RenderedPage {
  const markup = micromark(markdown, {
    extensions: [gfm()],
    htmlExtensions: [gfmHtml()],
    allowDangerousHtml: true,
    allowDangerousProtocol: true,
  })
  const { childNodes } = parseFragment(markup)
  const elements = childNodes.flatMap(elementsIn)
  return {
    elements,
    text: childNodes.map(textIn).join(''),
    codes: elements.filter(({ tagName }) => tagName === 'code').map(textIn),
    skeleton: childNodes.map(skeletonOf).join(''),
  }
}

/** The cells of each row. Header rows are included. */
export function tableRows(page: RenderedPage): readonly (readonly string[])[] {
  return page.elements
    .filter(({ tagName }) => tagName === 'tr')
    .map((row) => row.childNodes.filter((cell) => 'tagName' in cell).map((cell) => textIn(cell).trim()))
}

function elementsIn(node: Node): Element[] {
  if (!('tagName' in node)) return []
  return [node, ...node.childNodes.flatMap(elementsIn)]
}

export function textIn(node: Node): string {
  if ('value' in node) return node.value
  if ('tagName' in node && node.tagName === 'br') return '\n'
  const start = 'tagName' in node && ['pre', 'details'].includes(node.tagName) ? '\n' : ''
  return start + ('childNodes' in node ? node.childNodes.map(textIn).join('') : '')
}

function skeletonOf(node: Node): string {
  if ('value' in node) return node.value
  if (!('tagName' in node)) return `<!-- ${'data' in node ? node.data : ''} -->`
  const attributes = node.attrs.map(({ name, value }) => ` ${name}="${value}"`).join('')
  const inside = ['code', 'pre'].includes(node.tagName) ? '' : node.childNodes.map(skeletonOf).join('')
  return `<${node.tagName}${attributes}>${inside}</${node.tagName}>`
}

/** Tags that are only opened or only closed. Browsers would repair them without a message. */
export function unbalancedTags(markdown: string): readonly string[] {
  const open: string[] = []
  for (const [, slash, name = ''] of markdown.matchAll(/<(\/?)(?!br\b)([a-z][a-z0-9]*)\b/g)) {
    if (slash === '') open.push(name)
    else if (open.pop() !== name) return [...open, `/${name}`]
  }
  return open
}
