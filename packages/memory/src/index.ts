import "@satrail/bitcoin/checkRuntime"

export * as CellRegistry from "./CellRegistry.ts"
export * as Memory from "./Memory.ts"
