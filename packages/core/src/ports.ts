import "@satrail/bitcoin/checkRuntime"

// Interfaces for adapters to implement: storage, nodes, and external systems.
export * as Records from "./service/Records.ts"
export * as Tasks from "./ledger/Tasks.ts"
export * as NounReads from "./ledger/NounReads.ts"
export * as LightningReceiver from "./nodes/LightningReceiver.ts"
export * as LightningSender from "./nodes/LightningSender.ts"
export * as LightningBooks from "./nodes/LightningBooks.ts"
export * as ChainSource from "./nodes/ChainSource.ts"
export * as ChainWallet from "./nodes/ChainWallet.ts"
export * as ChainBooks from "./nodes/ChainBooks.ts"
export * as Channels from "./nodes/Channels.ts"
export * as Coin from "./nodes/Coin.ts"
export * as Signer from "./nodes/Signer.ts"
export * as Resolver from "./nodes/Resolver.ts"
export * as ExchangeRates from "./nodes/ExchangeRates.ts"
export * as OfferIssuer from "./nodes/OfferIssuer.ts"
export * as OfferSender from "./nodes/OfferSender.ts"
export * as Dns from "./base/Dns.ts"
export * as Outage from "./base/Outage.ts"
export * as Entropy from "./base/Entropy.ts"

// Lets a host decide whether a withdrawal may start.
export * as WithdrawalHooks from "./sending/WithdrawalHooks.ts"

// For custom features: records, Changes and pages.
export * as Feature from "./ledger/Feature.ts"
export * as HostFeatures from "./ledger/HostFeatures.ts"
export * as Noun from "./ledger/Noun.ts"
export * as Written from "./ledger/Written.ts"
export * as Change from "./ledger/Change.ts"
export * as Page from "./ledger/Page.ts"
