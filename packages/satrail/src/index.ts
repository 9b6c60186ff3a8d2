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
  WalletOptions
} from "./Options.ts"
export type { OwnFeature } from "@satrail/service/features/own"
export type { Clock, Json, Metadata, Outside, Pay, SimulatedPay, Span } from "./Pay.ts"
export type { Handler } from "@satrail/server/serving/Handler"
export {
  errors,
  SatrailError,
  type Amount,
  type CallOptions,
  type CompanyRef,
  type Consumer,
  type Errors,
  type Event,
  type EventsQuery,
  type Issue,
  type List,
  type MetadataNoun,
  type Money,
  type OnOptions,
  type Page,
  type Sats,
  type Schemas,
  type StandardSchema
} from "@satrail/client"
