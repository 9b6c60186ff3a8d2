import { listed, page } from "../Pages.ts"

export const defaults = {
  offers: { create: [{ amount: null, lightningAddressId: null, memo: "", metadata: {} }], list: [undefined, page] }
} as const
export const options = {
  offers: { create: ["amount company idempotencyKey lightningAddressId memo metadata"], list: [undefined, listed] }
} as const
export const inMsat = { "offers.create": true } as const
