/**
 * Loaded before the service. Moves its clock ahead by the milliseconds in `CLOCK_FILE`, if the file exists.
 * Claims of a killed process are released when they expire, half a minute later. The successor's clock is
 * past that time, so no test waits for it.
 */
import { existsSync, readFileSync } from "node:fs"
import { flushCompileCache } from "node:module"

const file = process.env["CLOCK_FILE"] ?? ""
const read = () => (existsSync(file) ? Number(readFileSync(file, "utf8")) : 0)
let aheadMillis = read()
// Other processes keep running when one dies, so the file is read again.
setInterval(() => (aheadMillis = read()), 20).unref()
const now = Date.now
Date.now = () => now() + aheadMillis

// Node writes its compile cache at a normal exit, but these processes get killed.
setTimeout(flushCompileCache, 3000).unref()
