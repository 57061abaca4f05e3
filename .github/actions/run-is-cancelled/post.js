const { INPUT_RUN: run = '', INPUT_KEY: key = '' } = process.env
const response = await fetch(run, { headers: { authorization: `Bearer ${key}` } })
const text = await response.text()
console.log(`${run} responded ${response.status}: ${text}`)
if (JSON.parse(text).status !== 'CANCELLED') {
  console.log('::error::The run is not cancelled at the end of the job.')
  process.exitCode = 1
}
