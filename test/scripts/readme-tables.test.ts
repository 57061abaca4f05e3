import { describe, expect, it } from 'vitest'
import { withTables } from '../../scripts/readme-tables.ts'

const ACTION = `
inputs:
  key:
    description: The key.
    required: true
  choice:
    description: >-
      One of \`a\` | \`b\`,
      as you like.
    default: a
  context:
    description: A context.
    default: \${{ toJSON(matrix) }}
  branch:
    description: The branch.
    default: \${{ github.head_ref || github.event.pull_request.head.ref || '' }}
outputs:
  second:
    description: What came second.
  first:
    description: What came first.
`

const README = `# Title
<!-- inputs -->
| an | old | table |
<!-- /inputs -->
Between.
<!-- outputs --><!-- /outputs -->
End.
`

describe('the tables of the README', () => {
  it('have a row for each input and output, in the order of action.yml', () => {
    expect(withTables(README, ACTION)).toBe(`# Title
<!-- inputs -->
| input | default | meaning |
| --- | --- | --- |
| \`key\` | required | The key. |
| \`choice\` | \`a\` | One of \`a\` \\| \`b\`, as you like. |
| \`context\` | \`\${{ toJSON(matrix) }}\` | A context. |
| \`branch\` | [an expression](action.yml) | The branch. |
<!-- /inputs -->
Between.
<!-- outputs -->
| output | meaning |
| --- | --- |
| \`second\` | What came second. |
| \`first\` | What came first. |
<!-- /outputs -->
End.
`)
  })

  it('are grouped by the comments above the inputs', () => {
    const grouped = ACTION.replace('  key:', '  # What to run\n  key:').replace(
      '  branch:',
      '\n  # Rarely set\n  branch:',
    )
    const readme = withTables(README, grouped)
    expect(readme).toContain(
      '<!-- inputs -->\n### What to run\n\n| input | default | meaning |\n| --- | --- | --- |\n| `key` |',
    )
    expect(readme).toContain(
      '| A context. |\n\n### Rarely set\n\n| input | default | meaning |\n| --- | --- | --- |\n| `branch` |',
    )
    expect(withTables(readme, grouped)).toBe(readme)
  })

  it('cannot be written if their marks are missing', () => {
    const readme = README.replace('<!-- /inputs -->', '')
    expect(() => withTables(readme, ACTION)).toThrow('The README has no place for the table of inputs')
  })
})
