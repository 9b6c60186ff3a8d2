import "@satrail/bitcoin/checkRuntime"

export * as Program from "./Program.ts"
export * as Server from "./Server.ts"
export * as Environment from "./Environment.ts"
