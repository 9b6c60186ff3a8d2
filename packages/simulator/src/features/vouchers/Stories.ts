import type { Act } from "../../plot/Operation.ts"
import { company, slot, surely, takenOver, wait } from "../../plot/Scenes.ts"
import type { Stories } from "../Feature.ts"

const voucher = (expirySeconds: number): Act => ({
  _tag: "CreateVoucher",
  company: 0,
  slot,
  isOnce: true,
  sats: 1000,
  expirySeconds
})
export const claim = {
  _tag: "ClaimVoucher",
  slot,
  which: 0,
  into: "outside",
  behaviour: "settle"
} as const satisfies Act

export const stories: Stories = {
  recipes: [],
  crashes: {
    "voucher that is claimed": {
      before: [...company(5000), voucher(3600)],
      during: [claim, wait(1000), claim, wait(1000)]
    },
    "voucher that expires": { before: company(5000), during: [...surely(voucher(60)), ...takenOver] }
  }
}
