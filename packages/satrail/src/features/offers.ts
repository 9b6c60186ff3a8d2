import { listed, page } from "../Pages.ts"

export const defaults = {
  offers: { create: [{ asked: null, description: "", lightningAddressId: null, metadata: {} }], list: [undefined, page] }
} as const
export const options = {
  offers: { create: ["amount company description idempotencyKey lightningAddressId metadata"], list: [undefined, listed] }
} as const
