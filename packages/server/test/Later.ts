/**
 * Loaded before the service, has its clock ahead by as many milliseconds as `CLOCK_FILE` says, where it is there. What a killed process had
 * claimed is free again when the claim ends, half a minute later: its successor lives after that, and no test waits for it.
 */
import { existsSync, readFileSync } from "node:fs"
import { flushCompileCache } from "node:module"

const file = process.env["CLOCK_FILE"] ?? ""
const read = () => (existsSync(file) ? Number(readFileSync(file, "utf8")) : 0)
let aheadMillis = read()
// Others live on while one dies.
setInterval(() => (aheadMillis = read()), 20).unref()
const now = Date.now
Date.now = () => now() + aheadMillis

// What it has compiled is kept when it ends by itself, and it is here to be killed.
setTimeout(flushCompileCache, 3000).unref()
