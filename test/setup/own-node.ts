import { delimiter, dirname } from 'node:path'

// An editor may start the tests with the right Node, and have another one on its PATH. What tests start as `node` is then the right one.
const ofTests = dirname(process.execPath)
if (process.env.PATH?.split(delimiter)[0] !== ofTests) process.env.PATH = ofTests + delimiter + process.env.PATH
