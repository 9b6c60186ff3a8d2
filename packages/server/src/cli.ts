import { local } from "./commands/Local.ts"

// A wallet's file and its new folder are accessible only to their owner.
process.umask(0o077)

// Only commands that load the service import its modules one by one. In a release, all other commands are
// bundled into one file, which starts four times as fast.
const [, , command = "", ...args] = process.argv
const isLocal = local.includes(command) && !args.some((one) => one === "--help" || one === "-h")
const { run } = await (isLocal ? import("./run.ts") : import("./remote.ts"))
run()
