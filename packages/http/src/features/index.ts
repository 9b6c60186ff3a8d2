import type { Feature } from "./Feature.ts"
import { checkouts } from "./checkouts/index.ts"
import { refunds } from "./refunds/index.ts"
import { vouchers } from "./vouchers/index.ts"

/** Every feature that is asked over HTTP, in the order of the documents. */
export const features = [checkouts, vouchers, refunds] as const

/** The same, for whoever needs of each what any may have. */
export const all: ReadonlyArray<Feature> = features
