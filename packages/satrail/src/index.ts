import "@satrail/bitcoin/checkRuntime"

export { satrail, type SimulatedOptions } from "./Satrail.ts"
export { bitcoind, esplora, ldk, lnd, simulated } from "./Options.ts"
export { OptionsInvalid } from "./KnownOptions.ts"
export { DirectoryLocked } from "./Satrail.ts"
export type {
  BitcoindOptions,
  Chain,
  EsploraOptions,
  LdkOptions,
  Lightning,
  LndOptions,
  Options,
  OwnFeature,
  WalletOptions
} from "./Options.ts"
export type {
  Clock,
  Consumer,
  EventsOptions,
  Metadata,
  OnOptions,
  Outside,
  Pay,
  SimulatedPay,
  Span
} from "./Pay.ts"
export type { AnyEvent, Event, EventType } from "./Events.ts"
export type { Handler } from "./Handler.ts"
export type { CompanyRef, List, Page } from "@satrail/client/Calls"
export type { MetadataNoun, Schemas, StandardSchema } from "@satrail/client/Schemas"
export type { Amount, Currency, Money, Sats } from "./Money.ts"
export { NotSettled, type Settled, type SettledOptions } from "./Settled.ts"
export { errors, type Errors, type Issue, SatrailError } from "./Errors.ts"
export * from "./ErrorClasses.ts"
export * from "./features/Errors.ts"
