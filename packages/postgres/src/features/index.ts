import type { Feature } from "./Feature.ts"
import { vouchers } from "./vouchers/index.ts"

/** Every feature that has tables of its own. */
export const features: ReadonlyArray<Feature> = [vouchers]
