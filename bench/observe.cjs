// Preloaded into the measured process: writes down what it had used at each response and at its end. JavaScript, since
// stripping types would take longer than what is measured; CommonJS, since it has to be there before the first module.
const diagnostics = require('node:diagnostics_channel')
const { writeFileSync } = require('node:fs')

const marks = []

function mark() {
  const { user, system } = process.cpuUsage()
  marks.push({ atMs: performance.now(), cpuMs: (user + system) / 1000 })
}

diagnostics.subscribe('undici:request:headers', mark)
process.once('exit', () => {
  mark()
  const peakBytes = process.resourceUsage().maxRSS * 1024
  writeFileSync(process.env.BENCH_OBSERVATIONS, JSON.stringify({ marks, peakBytes }))
})
