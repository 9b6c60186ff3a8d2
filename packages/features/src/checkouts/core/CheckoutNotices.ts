import * as Msat from "@satrail/bitcoin/Msat"
import * as Conversion from "@satrail/core/ledger/Conversion"
import * as Checkout from "./Checkout.ts"

const types = ["checkout.paid", "checkout.underpaid", "checkout.expired", "checkout.canceled"] as const
type Type = (typeof types)[number]

/** Returns a checkout in the state that an event reports. `received` is the amount known when the event is sent. */
const asOf = (row: Checkout.Checkout, type: Type, atMillis: number): Checkout.Shown => {
  const isPaid = type === "checkout.paid"
  return {
    ...row,
    pending: Msat.zero,
    pendingHeight: null,
    depositIds: null,
    isAsking: true,
    bip21: null,
    status: isPaid
      ? "paid"
      : type === "checkout.underpaid"
        ? "underpaid"
        : type === "checkout.expired"
          ? "expired"
          : "canceled",
    paidAtMillis: isPaid ? row.paidAtMillis : null,
    endedAtMillis: type === "checkout.underpaid" ? null : row.endedAtMillis,
    updatedAtMillis: atMillis
  }
}

const telling = <const T extends Type>(type: T) => ({
  as: [type],
  convert: Conversion.ofSubject(Checkout.noun, (row, atMillis) => ({
    kind: "checkout" as const,
    type,
    record: asOf(row, type, atMillis)
  }))
})

export const notices = {
  kind: "checkout",
  types,
  byEvent: {
    "checkout.paid": telling("checkout.paid"),
    "checkout.underpaid": telling("checkout.underpaid"),
    "checkout.expired": telling("checkout.expired"),
    "checkout.canceled": telling("checkout.canceled")
  }
} as const
