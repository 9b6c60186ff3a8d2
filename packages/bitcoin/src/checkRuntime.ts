// Imported before anything else by the root of each package. An older Node would not refuse: it would take amounts for no numbers, because JSON.parse
// does not tell it their text, and end the process for a function that it does not have.
import { problem } from "./Runtime.ts"

const node = "process" in globalThis ? globalThis.process.versions.node : undefined
const why = node === undefined ? undefined : problem(node)
if (why !== undefined) throw new Error(why)
