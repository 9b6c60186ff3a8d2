/**
 * Loaded before the service. Moves the service's clock ahead by the number of milliseconds in `CLOCK_FILE`, if
 * the file exists. A killed process's claims expire after half a minute. The successor's clock is moved past
 * that time, so that no test has to wait.
 */
import { existsSync, readFileSync } from "node:fs"
import { flushCompileCache } from "node:module"

const file = process.env["CLOCK_FILE"] ?? ""
const read = () => (existsSync(file) ? Number(readFileSync(file, "utf8")) : 0)
let aheadMillis = read()
// A process that keeps running while another is killed must also see the new time, so poll the file.
setInterval(() => (aheadMillis = read()), 20).unref()
const now = Date.now
Date.now = () => now() + aheadMillis

// Node writes its compile cache only on a normal exit, but these processes get killed.
setTimeout(flushCompileCache, 3000).unref()
