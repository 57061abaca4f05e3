// The workflows in .github/ use this script. It reads the status of the run at the address RUN with the key KEY, and
// prints it as a line of GITHUB_OUTPUT.
const { RUN = '', KEY = '' } = process.env
const response = await fetch(RUN, { headers: { authorization: `Bearer ${KEY}` } })
if (!response.ok) throw new Error(`${RUN} responded ${response.status}: ${await response.text()}`)
const { status } = (await response.json()) as { status: string }
console.log(`status=${status}`)
