import "@satrail/bitcoin/checkRuntime"

export * as Sandbox from "./Sandbox.ts"
export * as FixedRates from "./FixedRates.ts"
export * as PretendNames from "./PretendNames.ts"
export * as PretendRelays from "./PretendRelays.ts"
