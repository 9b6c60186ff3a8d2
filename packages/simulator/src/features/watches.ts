import type { Watch } from "./Watch.ts"
import { watch as webhooks } from "./webhooks/Deliveries.ts"

/** Checks of features that span a whole scenario. */
export const watches: ReadonlyArray<Watch> = [webhooks]
