import type { Feature } from "../Feature.ts"
import * as Migration0007 from "./Migration0007.ts"

export const vouchers = { migrations: { "0007_vouchers": Migration0007.script } } satisfies Feature
