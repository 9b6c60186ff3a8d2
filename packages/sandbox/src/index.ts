import "@satrail/bitcoin/checkRuntime"

export * as Sandbox from "./Sandbox.ts"
export * as FixedRates from "./FixedRates.ts"
export * as SimulatedDns from "./SimulatedDns.ts"
export * as SimulatedRelays from "./SimulatedRelays.ts"
