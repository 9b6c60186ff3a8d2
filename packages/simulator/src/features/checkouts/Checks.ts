import * as Msat from "@satrail/bitcoin/Msat"
import * as Checkout from "@satrail/features/checkouts/core/Checkout"
import { checkouts as core } from "@satrail/features/checkouts/core"
import { claim, same } from "../../checks/Violation.ts"
import { text } from "../../story/Json.ts"
import * as Feature from "../Feature.ts"
import { acts } from "./Acts.ts"
import { path } from "./Plot.ts"
import { stories } from "./Stories.ts"

const sum = (rows: ReadonlyArray<{ readonly amount: Msat.Msat }>) =>
  Msat.sum(...rows.map(({ amount }) => amount))

/**
 * Parts created before their checkout. If two requests use one key at the same time, the refused one leaves its
 * parts behind. No customer ever sees these parts, and they expire.
 */
const parts = new Set(["InvoiceCreated", "OnChainAddressCreated"])

/**
 * First steps of a request to cancel a checkout. A request that has taken these steps may still be refused, for
 * one of three reasons: the checkout was paid on-chain in the meantime, which also closes its invoice; or it
 * was paid over Lightning before the node was called, so the canceled invoice is settled; or it has expired, so
 * it can no longer be paid either.
 */
const closing = new Set(["InvoiceCanceled", "InvoiceClosed"])

const excuses: Feature.Excuses = (hear) => {
  /**
   * `checkoutOf` maps an invoice to its checkout. `closedBy` maps a request to the checkout whose invoice it
   * canceled, and the time. `ended` maps a paid or expired checkout to the time until which it could be
   * canceled.
   */
  const checkoutOf = new Map<string, string | null>()
  const closedBy = new Map<number, { readonly id: string; readonly atMillis: number }>()
  const ended = new Map<string, number>()
  hear((change, asking) => {
    if (change._tag === "InvoiceCreated") checkoutOf.set(change.id, change.writes[0].record.checkoutId)
    if (change._tag === "DepositConfirmed") ended.set(`paid ${change.writes[0].found.checkoutId}`, Infinity)
    if (change._tag === "InvoiceSettled") ended.set(`paid ${change.writes[1].record.checkoutId}`, Infinity)
    if (change._tag === "InternalTransferred") ended.set(`paid ${change.deposit.checkoutId}`, Infinity)
    if (change._tag === "CheckoutExpired")
      ended.set(`expired ${change.id}`, change.writes[0].found.expiresAtMillis)
    const id = change._tag === "InvoiceCanceled" && checkoutOf.get(change.id)
    if (asking !== null && id) closedBy.set(asking, { id, atMillis: change.atMillis })
  })
  /**
   * Returns whether a request that had already canceled a checkout's invoice was rightly refused because the
   * checkout has since ended.
   */
  const hasEnded = ({ path: asked, asking, body }: Feature.Refused): boolean => {
    const closed = closedBy.get(asking)
    const [, status] = /\b(paid|expired)\b/.exec(text(body, "message")) ?? []
    if (text(body, "error", "code") !== "checkout_not_open") return false
    if (closed === undefined || asked !== `${path}/${closed.id}/cancel`) return false
    return (ended.get(`${status} ${closed.id}`) ?? 0) > closed.atMillis
  }
  return (tag, refused) =>
    (closing.has(tag) && hasEnded(refused)) ||
    (refused.path === path &&
      text(refused.body, "error", "code") === "idempotency_mismatch" &&
      parts.has(tag))
}

/** Checks that the status of every checkout matches its deposits. */
const ended = (checkouts: ReadonlyArray<Checkout.Checkout>, { deposits }: Feature.Moved): void => {
  for (const checkout of checkouts) {
    const { id, status } = checkout
    const own = deposits.filter(({ checkoutId }) => checkoutId === id)
    const credited = sum(own.filter((deposit) => deposit.status === "settled"))
    claim(status !== "open" && status !== "underpaid", `no checkout stays open: ${id} is ${status}`)
    const kept =
      credited -
      Msat.sum(...own.filter((deposit) => deposit.status === "settled").map(({ refunded }) => refunded))
    if (kept >= Checkout.least(checkout))
      same(status, "paid", `a fully paid checkout has the status paid: ${id}`)
    // Count amounts that a reorganization removed, because they had been credited earlier.
    const ever = sum(own)
    if (status === "paid")
      claim(ever >= Checkout.least(checkout), `a checkout is paid only if enough was credited: ${id}`)
  }
}

export const checkouts = Feature.make(core)({
  acts,
  stories,
  reading: ["arrivedFor", "depositsFor"],
  changes: {
    CheckoutCreated: "happens",
    CheckoutPaid: "happens",
    CheckoutUnderpaid: "happens",
    CheckoutExpired: "happens",
    CheckoutCanceled: "happens"
  },
  transitions: [
    "checkout: nothing to open",
    "checkout: open to underpaid",
    "checkout: open to paid",
    "checkout: open to expired",
    "checkout: open to canceled",
    "checkout: underpaid to paid",
    "checkout: expired to paid",
    "checkout: canceled to paid"
  ],
  records: [
    Feature.record(Checkout.noun, {
      kind: "checkout",
      moves: {
        open: ["underpaid", "paid", "expired", "canceled"],
        underpaid: ["open", "paid", "expired", "canceled"],
        expired: ["paid"],
        canceled: ["paid"]
      },
      rests: ["expired", "canceled"],
      told: {},
      held: () => Msat.zero,
      became: () => null,
      asked: ({ metadata }) => metadata,
      ending: ({ status, received, endedAtMillis }) =>
        `checkout ${status} ${received} ${endedAtMillis === null}`,
      ended
    })
  ],
  change: (change) => {
    if (change._tag !== "CheckoutPaid") return
    const [{ found, set }] = change.writes
    const received = "received" in set && typeof set.received === "bigint" ? set.received : 0n
    claim(received >= Checkout.least(found), `a checkout is paid only if enough was credited: ${change.id}`)
  },
  excuses
})
