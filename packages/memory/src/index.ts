import "@satrail/bitcoin/checkRuntime"

export * as Memory from "./Memory.ts"
