// Preloaded into the measured process: writes down when it did what. JavaScript, since stripping types would take
// longer than what is measured; CommonJS, since it has to be there before the first module.
const diagnostics = require('node:diagnostics_channel')
const { writeFileSync } = require('node:fs')
const { registerHooks } = require('node:module')

const marks = []
let parsingCpuMs = 0

function cpuMs() {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

function mark(what) {
  marks.push({ what, atMs: performance.now(), cpuMs: cpuMs(), parsingCpuMs })
}

mark('node')
registerHooks({
  load(url, context, nextLoad) {
    if (url.startsWith('file:')) mark(url)
    return nextLoad(url, context)
  },
})
for (const what of ['undici:request:create', 'undici:client:sendHeaders', 'undici:request:headers']) {
  diagnostics.subscribe(what, () => mark(what))
}

const { parse } = JSON
JSON.parse = (...given) => {
  const beforeMs = cpuMs()
  try {
    return parse(...given)
  } finally {
    parsingCpuMs += cpuMs() - beforeMs
  }
}

process.once('exit', () => {
  mark('exit')
  const peakBytes = process.resourceUsage().maxRSS * 1024
  writeFileSync(process.env.BENCH_OBSERVATIONS, JSON.stringify({ marks, peakBytes }))
})
