// The facts of GitHub's metadata syntax for a JavaScript action, as the published schema has them
// (https://json.schemastore.org/github-action.json), and more strictly: what is not named is a mistake.

const text = { type: 'string', minLength: 1 } as const
const name = '^[A-Za-z_][A-Za-z0-9_-]*$'

export const ACTION_METADATA_SCHEMA = {
  type: 'object',
  required: ['name', 'description', 'runs', 'branding', 'author'],
  additionalProperties: false,
  properties: {
    name: text,
    author: text,
    description: { type: 'string', minLength: 1, maxLength: 125 }, // the Marketplace's limit
    inputs: {
      type: 'object',
      propertyNames: { pattern: name },
      additionalProperties: {
        type: 'object',
        required: ['description'],
        additionalProperties: false,
        properties: {
          description: text,
          required: { type: 'boolean' },
          // Only text: GitHub turns `true` and `60` into text, and readers of the file should see what arrives.
          default: { type: 'string' },
          deprecationMessage: text,
        },
      },
    },
    outputs: {
      type: 'object',
      propertyNames: { pattern: name },
      additionalProperties: {
        type: 'object',
        required: ['description'],
        additionalProperties: false,
        properties: { description: text },
      },
    },
    runs: {
      type: 'object',
      required: ['using', 'main'],
      additionalProperties: false,
      properties: {
        using: { enum: ['node20', 'node24'] },
        main: text,
        pre: text,
        'pre-if': text,
        post: text,
        'post-if': text,
      },
    },
    branding: {
      type: 'object',
      required: ['icon', 'color'],
      additionalProperties: false,
      properties: {
        // Of the Feather icons that the Marketplace takes, those that fit.
        icon: { enum: ['check', 'check-circle', 'check-square', 'play', 'play-circle', 'shield'] },
        color: { enum: ['white', 'black', 'yellow', 'blue', 'green', 'orange', 'red', 'purple', 'gray-dark'] },
      },
    },
  },
} as const

/** The contexts that an expression in an input's default may name; in post they are evaluated anew. */
export const CONTEXTS_OF_DEFAULTS = ['github', 'strategy', 'matrix', 'job', 'runner']
