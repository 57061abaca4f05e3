import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { ROOT } from '../../../test/documents/documents.ts'
import { readConfiguration, SUITE } from '../../src/settings/configuration.ts'
import { PROJECT } from '../../src/settings/project.ts'
import { WEB_SHOP } from '../support/a-local-service.ts'

describe('a configuration', () => {
  it('is the example of the README, which can be used as it is', async () => {
    const readme = await readFile(join(ROOT, 'local-service/README.md'), 'utf8')
    const [, example = ''] = /^```json\n(.*?)^```$/ms.exec(readme.slice(readme.indexOf('## Configuration'))) ?? []
    const { projects } = readConfiguration(JSON.parse(example), WEB_SHOP)
    expect([...projects.keys()]).toEqual(['unit', 'e2e'])
    expect(projects.get('e2e')).toMatchObject({ folder: WEB_SHOP, args: ['--grep=@smoke'] })
  })

  it('has relative folders start at its own folder', () => {
    const { projects } = readConfiguration({ projects: { shop: { folder: 'examples/web-shop' } } }, ROOT)
    expect(projects.get('shop')?.folder).toBe(WEB_SHOP)
  })

  const shop = (settings: object) => ({ projects: { shop: { folder: '.', ...settings } } })

  it.each([
    [[], /^The configuration: "projects": It is missing\.$/],
    [{ ...shop({}), prot: 1 }, /^The configuration: "prot": The service does not know "prot"\.$/],
    [{ projects: {} }, /^The configuration: "projects": It has no project\. Give at least one\.$/],
    [{ projects: [{ folder: '.' }] }, /^The configuration: "projects": It is not an object\.$/],
    [{ projects: { shop: {} } }, /"projects.shop.folder": It is missing\./],
    [shop({ setup: [] }), /"projects.shop.setup": It is empty\./],
    [shop({ fix: 5 }), /"projects.shop.fix": It is neither a string nor a list of strings/],
    [shop({ environments: { a: { B: [1] } } }), /"projects.shop.environments.a.B": Invalid type/],
    [shop({ environments: { a: { 'B=C': '1' } } }), /"projects.shop.environments.a.B=C": It cannot be the name/],
    [
      shop({ container: { image: 'node:24', engine: ['/usr/bin/sudo', 'podman'] } }),
      /"projects\.shop\.container\.engine": It begins with "sudo", .* that your user can run without "sudo"\.$/,
    ],
    [
      shop({ framework: 'junit' }),
      /"projects\.shop\.framework": It is "junit"\. Give "vitest", "playwright" or "jest"\. For any other test tool, give "report" instead\.$/,
    ],
    [
      { projects: { '..': { folder: '.' } } },
      /^The configuration: "projects\.\.\.": An id is not empty, "\." or "\.\."\.$/,
    ],
    [
      { projects: { shop: { folder: 'nowhere' } } },
      /^Project "shop" has no folder .*nowhere\. Check "folder", or the input working-directory\.$/,
    ],
    [shop({ args: ['--watch'] }), /^Project "shop" cannot be served: "args" has "--watch"\. The run would not end/],
    [{ ...shop({}), suites: { s: { project: 'x' } } }, /^Suite "s": There is no project "x"\.$/],
    [{ ...shop({}), suites: { s: { project: 'shop', files: ['--x'] } } }, /"suites.s.files.0": It is empty or begins/],
  ])('is refused with a sentence: %j', (settings, message) => {
    expect(() => readConfiguration(settings, WEB_SHOP)).toThrow(message)
  })

  it.each([
    [['./bin/podman']],
    [['bin/podman']],
    [['podman', '--root', '../images']],
    [['podman', '--root=./images']],
  ])('is refused if its engine has a relative path: %j', (engine) => {
    const problem = 'It has a relative path. Give the whole path, because the service also calls the engine in other'
    expect(() => readConfiguration(shop({ container: { image: 'node:24', engine } }), WEB_SHOP)).toThrow(problem)
  })

  it.each(['constructor', 'prototype', '__proto__', 'toString'])('may call everything %s', (name) => {
    const project = { folder: '.', environments: JSON.parse(`{ "${name}": { "${name}": "1" } }`) }
    const settings = { projects: { [name]: project }, suites: { [name]: { project: name } } }
    const { projects, suites } = readConfiguration(settings, WEB_SHOP)
    expect([[...projects.keys()], [...suites.keys()]]).toEqual([[name], [name]])
    expect(projects.get(name)?.environments).toEqual(new Map([[name, new Map([[name, '1']])]]))
  })

  it('has variables of environments as text', () => {
    const project = { folder: '.', environments: { staging: { SHOP_PORT: 8080, SHOP_OPEN: true } } }
    const { projects } = readConfiguration({ projects: { shop: project } }, WEB_SHOP)
    const variables = projects.get('shop')?.environments.get('staging') ?? []
    expect([...variables]).toEqual([
      ['SHOP_PORT', '8080'],
      ['SHOP_OPEN', 'true'],
    ])
  })
})

describe('the README', () => {
  it.each([
    ['| setting of a project |', PROJECT.entries],
    ['{ "suites": ', SUITE.entries],
  ])('has every setting in the part that begins with %s', async (beginning, entries) => {
    const readme = await readFile(join(ROOT, 'local-service/README.md'), 'utf8')
    const [part = ''] = readme.slice(readme.indexOf(beginning)).split('\n\n')
    const names = [...part.matchAll(/[`"](\w+)[`"]/g)].map(([, name]) => name)
    expect(names).toEqual(expect.arrayContaining(Object.keys(entries)))
  })
  it('has the inputs and outputs of the action', async () => {
    const { inputs, outputs } = parse(await readFile(join(ROOT, 'local-service/action.yml'), 'utf8'))
    const readme = await readFile(join(ROOT, 'local-service/README.md'), 'utf8')
    const section = readme.slice(readme.indexOf('## Inputs and outputs')).split('\n## ')[0] ?? ''
    const listed = [...section.matchAll(/^\| `([\w-]+)`/gm)].map(([, name]) => name)
    expect(listed).toEqual([...Object.keys(inputs), ...Object.keys(outputs)])
  })
})
