// The root of each package imports this first. Without it, an older Node would start, but reject valid amounts,
// because its JSON.parse doesn't pass the source text, and later crash on a missing function.
import { problem } from "./Runtime.ts"

const node = "process" in globalThis ? globalThis.process.versions.node : undefined
const why = node === undefined ? undefined : problem(node)
if (why !== undefined) throw new Error(why)
