import "@satrail/bitcoin/checkRuntime"

export * as Lnd from "./Lnd.ts"
export * as LndBooks from "./LndBooks.ts"
export * as LndInfo from "./LndInfo.ts"
export * as Ldk from "./Ldk.ts"
export * as Macaroon from "./Macaroon.ts"
