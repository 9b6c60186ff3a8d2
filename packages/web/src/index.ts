import "@satrail/bitcoin/checkRuntime"

export * as Names from "./Names.ts"
export * as Outbound from "./Outbound.ts"
export * as Rates from "./Rates.ts"
export * as Resolver from "./Resolver.ts"
export * as Tickers from "./Tickers.ts"
export * as WebSocketRelays from "./WebSocketRelays.ts"
export * as WebhookPoster from "./WebhookPoster.ts"
