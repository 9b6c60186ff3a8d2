/**
 * Loaded before the service, moves its clock ahead by `CLOCK_AHEAD_MILLIS`. What a killed process had claimed is free again when the claim
 * ends, half a minute later: its successor lives after that, and no test waits for it.
 */
const aheadMillis = Number(process.env["CLOCK_AHEAD_MILLIS"])
if (!Number.isSafeInteger(aheadMillis)) throw new Error("CLOCK_AHEAD_MILLIS says by how many milliseconds")
const now = Date.now
Date.now = () => now() + aheadMillis
