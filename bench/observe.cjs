// Preloaded into the measured process: writes down what it used from its last response to its end. JavaScript, since
// stripping types would take longer than what is measured; CommonJS, since it has to be there before the first module.
const diagnostics = require('node:diagnostics_channel')
const { writeFileSync } = require('node:fs')

let responded

diagnostics.subscribe('undici:request:headers', () => {
  responded = process.cpuUsage()
})
process.once('exit', () => {
  const { user, system } = process.cpuUsage(responded)
  const peakBytes = process.resourceUsage().maxRSS * 1024
  writeFileSync(process.env.BENCH_OBSERVATIONS, JSON.stringify({ cpuMs: (user + system) / 1000, peakBytes }))
})
