import { Context, Effect } from "effect"
import type { Feature } from "./Feature.ts"
import { adjustments } from "./adjustments/index.ts"
import { approvals } from "./approvals/index.ts"
import { audit } from "./audit/index.ts"
import { checkouts } from "./checkouts/index.ts"
import { offers } from "./offers/index.ts"
import { people } from "./people/index.ts"
import { refunds } from "./refunds/index.ts"
import { sessions } from "./sessions/index.ts"
import { statements } from "./statements/index.ts"
import { vouchers } from "./vouchers/index.ts"
import { walletConnect } from "./wallet-connect/index.ts"
import { webhooks } from "./webhooks/index.ts"

/** Every feature with its own tables or reads. */
const features = [
  vouchers,
  refunds,
  checkouts,
  offers,
  adjustments,
  sessions,
  people,
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
export const reads: Effect.Effect<Context.Context<PortsOf<Reads>>, Effect.Error<Reads>, Effect.Services<Reads>> = Effect.map(
  Effect.all(features.flatMap(({ reads }): ReadonlyArray<Reads> => (reads === undefined ? [] : [reads]))),
  // oxlint-disable-next-line typescript/consistent-type-assertions -- `PortsOf` types the same merge
  (ports) => Context.mergeAll(...(ports as ReadonlyArray<Context.Context<never>>)) as never
)
