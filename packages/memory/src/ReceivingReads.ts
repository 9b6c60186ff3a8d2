import * as Msat from "@satrail/bitcoin/Msat"
import * as Balance from "@satrail/core/ledger/Balance"
import * as Deposit from "@satrail/core/receiving/Deposit"
import * as Invoice from "@satrail/core/receiving/Invoice"
import * as OnChainAddress from "@satrail/core/receiving/OnChainAddress"
import * as SuspenseAssignment from "@satrail/core/receiving/SuspenseAssignment"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import type { ReceivingReads, Unconfirmed } from "@satrail/core/receiving/ReceivingReads"
import { HashMap, Option } from "effect"
import * as Lists from "./Lists.ts"
import { compare, newestByTime, newestFirst, page, type Read, recordOf } from "./Reading.ts"
import * as State from "./State.ts"

const openInvoices = (state: State.State) =>
  State.all(state, Invoice.noun).filter(
    ({ status }) => status === "pending" || status === "claimed" || status === "canceling"
  )

type Expiry = Pick<Invoice.Invoice, "expiresAtMillis" | "id">

const byExpiry = (a: Expiry, b: Expiry): number =>
  compare(a.expiresAtMillis, b.expiresAtMillis) || compare(a.id, b.id)

const endedForWallets = (
  state: State.State,
  untilMillis: number,
  after: Expiry | null
): ReadonlyArray<Invoice.Invoice> =>
  openInvoices(state)
    .filter(
      (row) =>
        row.status === "pending" && row.lightningAddressId !== null && row.expiresAtMillis <= untilMillis
    )
    .toSorted(byExpiry)
    .filter((row) => after === null || byExpiry(row, after) > 0)

const depositOfInvoice = (state: State.State, companyId: CompanyId.CompanyId, invoiceId: string) =>
  Option.fromUndefinedOr(
    State.ownedBy(state, Deposit.noun, companyId).find(
      ({ lightningInvoiceId }) => lightningInvoiceId === invoiceId
    )
  )

const suspended = (state: State.State, status?: "open" | "assigned"): ReadonlyArray<Invoice.Unmatched> =>
  State.all(state, Invoice.unmatchedNoun).filter(
    ({ id }) =>
      status === undefined ||
      (status === "assigned") ===
        Option.isSome(State.named(state, SuspenseAssignment.noun, { unmatchedId: id }))
  )

const depositsInBlocks = (state: State.State) =>
  State.all(state, Deposit.noun).filter(({ status, height }) => status === "pending" && height !== null)

const depositsAbove = (state: State.State, above: number, upTo: number | null) =>
  State.all(state, Deposit.noun).filter(
    ({ height }) => height !== null && height > above && height <= (upTo ?? Infinity)
  )

const depositsInNoBlock = (state: State.State) =>
  State.all(state, Deposit.noun).filter(
    ({ rail, status, height, chainTxId }) =>
      rail === "on_chain" && status === "pending" && height === null && chainTxId !== null
  )

const depositsGivenUp = (state: State.State) =>
  State.all(state, Deposit.noun).filter(
    (row) => row.rail === "on_chain" && row.status === "failed" && !Deposit.isTooSmall(row)
  )

const depositsOwed = (state: State.State) =>
  State.all(state, Deposit.noun).filter(
    ({ absorbed, companyId }) => absorbed > 0n && Balance.available(State.balanceOf(state, companyId)) > 0n
  )

const depositsUnconfirmed = (state: State.State, above: number): Unconfirmed => {
  const ofCompany = new Map<string, Msat.Msat>()
  const inBlock = new Map<number, Msat.Msat>()
  for (const { companyId, height, amount } of depositsInBlocks(state)) {
    if (height === null || height <= above) continue
    ofCompany.set(companyId, Msat.sum(amount, ofCompany.get(companyId) ?? Msat.zero))
    inBlock.set(height, Msat.sum(amount, inBlock.get(height) ?? Msat.zero))
  }
  return { ofCompany, inBlock }
}

export const make = (read: Read): ReceivingReads["Service"] => ({
  invoice: recordOf(read, Invoice.noun),
  invoiceWithDeposit: (companyId, id) =>
    read((now) =>
      Option.map(State.get(now, Invoice.noun, companyId, id), (invoice) => ({
        invoice,
        depositId: Option.getOrNull(depositOfInvoice(now, companyId, id))?.id ?? null
      }))
    ),
  invoiceByHash: (paymentHash) => read((now) => State.named(now, Invoice.noun, { paymentHash })),
  invoicesOf: (companyId, query, looks) => read((now) => Lists.invoicesOf(now, companyId, query, looks)),
  openInvoices: (after, limit) => read((now) => page(openInvoices(now), after, limit)),
  openInvoicesWithin: (ranges, after, limit) =>
    read((now) => {
      const within = openInvoices(now).filter(({ id }) =>
        ranges.some(([from, until]) => id >= from && id < until)
      )
      return page(within, after, limit)
    }),
  openHolds: (companyId, limit) =>
    read((now) => {
      const open = Array.from(HashMap.values(now.tasks)).filter(
        (work) => work.kind === Invoice.holdTask && work.companyId === companyId
      )
      return Math.min(open.length, limit)
    }),
  endedForWallets: (untilMillis, after, limit) =>
    read((now) => endedForWallets(now, untilMillis, after).slice(0, limit)),
  unmatchedById: (id) => read((now) => HashMap.get(State.of(now, Invoice.unmatchedNoun), id)),
  suspended: (after, limit, status) => read((now) => newestByTime(suspended(now, status), after, limit)),
  onChainAddresses: (scripts) =>
    read((now) =>
      Array.from(new Set(scripts)).flatMap((scriptPubKey) =>
        Option.toArray(State.named(now, OnChainAddress.noun, { scriptPubKey }))
      )
    ),
  deposit: recordOf(read, Deposit.noun),
  depositById: (id) => read((now) => HashMap.get(State.of(now, Deposit.noun), id)),
  depositByOutpoint: (chainTxId, vout) => read((now) => State.named(now, Deposit.noun, { chainTxId, vout })),
  depositOfInvoice: (companyId, invoiceId) => read((now) => depositOfInvoice(now, companyId, invoiceId)),
  depositsInBlocks: (after, limit) => read((now) => page(depositsInBlocks(now), after, limit)),
  depositsAbove: (height, upTo, after, limit) =>
    read((now) => page(depositsAbove(now, height, upTo), after, limit)),
  depositsInNoBlock: (after, limit) => read((now) => page(depositsInNoBlock(now), after, limit)),
  depositsUnconfirmed: (above) => read((now) => depositsUnconfirmed(now, above)),
  depositsGivenUp: (before, limit) => read((now) => newestFirst(depositsGivenUp(now), before, limit)),
  depositsOwed: (limit) => read((now) => page(depositsOwed(now), null, limit)),
  nextKey: (wallet, type, branch) => read((now) => State.nextKey(now, { wallet, type, branch }))
})
