import "@satrail/bitcoin/checkRuntime"

// For the commands of a program's own features, which `run` of `@satrail/server/run` adds to the command line.
export * as Commands from "@satrail/http/commands/CommandParts"
export * as Client from "@satrail/http/commands/Client"
export { CommandFailed } from "@satrail/http/commands/CommandFailed"
export type { Feature } from "@satrail/http/commands/Feature"
