import { adjustments } from "./adjustments/Checks.ts"
import { checkouts } from "./checkouts/Checks.ts"
import type { Feature } from "./Feature.ts"
import { approvals } from "./approvals/Checks.ts"
import { offers } from "./offers/Checks.ts"
import { refunds } from "./refunds/Checks.ts"
import { statements } from "./statements/Checks.ts"
import { transfers } from "./transfers/Checks.ts"
import { vouchers } from "./vouchers/Checks.ts"
import { webhooks } from "./webhooks/Checks.ts"
import { zaps } from "./zaps/Checks.ts"

/** Every feature covered by scenarios. */
export const features = [
  approvals,
  checkouts,
  vouchers,
  refunds,
  offers,
  zaps,
  webhooks,
  adjustments,
  statements,
  transfers
] as const

/** The same list, typed by the interface. */
export const all: ReadonlyArray<Feature> = features

export const records = all.flatMap(({ records = [] }) => records)

export const injections = all.flatMap(({ inject }) => inject ?? [])

const told = all.flatMap(({ stories }) => stories ?? [])
export const early = told.filter(({ isEarly }) => isEarly === true)
export const stories = told.filter(({ isEarly }) => isEarly !== true)
