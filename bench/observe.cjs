// Node loads this before the measured process. It writes down what the process uses from its last response to its end.
// It is JavaScript, because removing types would take longer than what is measured. It is CommonJS, because it must run
// before the first module.
const diagnostics = require('node:diagnostics_channel')
const { writeFileSync } = require('node:fs')

let responded

diagnostics.subscribe('http.client.response.finish', () => {
  responded = process.cpuUsage()
})
process.once('exit', () => {
  const { user, system } = process.cpuUsage(responded)
  const total = process.cpuUsage()
  const totalCpuMs = (total.user + total.system) / 1000
  const peakBytes = process.resourceUsage().maxRSS * 1024
  writeFileSync(
    process.env.BENCH_OBSERVATIONS,
    JSON.stringify({ cpuMs: (user + system) / 1000, totalCpuMs, peakBytes }),
  )
})
