// For the workflows in .github/: asks a service what became of the run at the address RUN, with the key KEY, and prints it
// in the form of an output.
const { RUN = '', KEY = '' } = process.env
const answer = await fetch(RUN, { headers: { authorization: `Bearer ${KEY}` } })
if (!answer.ok) throw new Error(`${RUN} answered ${answer.status}: ${await answer.text()}`)
const { status } = (await answer.json()) as { status: string }
console.log(`status=${status}`)
