import "@satrail/bitcoin/checkRuntime"

export * as Memory from "./memory/Memory.ts"
