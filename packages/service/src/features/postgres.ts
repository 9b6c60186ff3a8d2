import { Context, Effect } from "effect"
import type { Feature } from "@satrail/postgres/client/Feature"
import { adjustments } from "@satrail/features/adjustments/postgres"
import { approvals } from "@satrail/features/approvals/postgres"
import { audit } from "@satrail/features/audit/postgres"
import { checkouts } from "@satrail/features/checkouts/postgres"
import { offers } from "@satrail/features/offers/postgres"
import { people } from "@satrail/features/people/postgres"
import { platform } from "@satrail/features/platform/postgres"
import { refunds } from "@satrail/features/refunds/postgres"
import { statements } from "@satrail/features/statements/postgres"
import { transfers } from "@satrail/features/transfers/postgres"
import { vouchers } from "@satrail/features/vouchers/postgres"
import { walletConnect } from "@satrail/features/wallet-connect/postgres"
import { webhooks } from "@satrail/features/webhooks/postgres"

/** Every feature with its own tables or reads. */
const features = [
  vouchers,
  refunds,
  transfers,
  checkouts,
  offers,
  adjustments,
  people,
  platform,
  webhooks,
  walletConnect,
  statements,
  audit,
  approvals
] as const

/** The same list, with the interface as the element type. */
export const all: ReadonlyArray<Feature> = features

type Reads = Exclude<(typeof features)[number]["reads"], undefined>
type PortsOf<R> = R extends Effect.Effect<Context.Context<infer Port>, unknown, unknown> ? Port : never

/** The features' read ports. */
export const reads: Effect.Effect<
  Context.Context<PortsOf<Reads>>,
  Effect.Error<Reads>,
  Effect.Services<Reads>
> = Effect.map(
  Effect.all(features.flatMap(({ reads }): ReadonlyArray<Reads> => (reads === undefined ? [] : [reads]))),
  // oxlint-disable-next-line typescript/consistent-type-assertions -- `PortsOf` types the same merge
  (ports) => Context.mergeAll(...(ports as ReadonlyArray<Context.Context<never>>)) as never
)
