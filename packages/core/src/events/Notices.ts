import { Effect, Option } from "effect"
import * as ApiKey from "../accounts/ApiKey.ts"
import { AccountReads } from "../accounts/AccountReads.ts"
import type { Domain } from "../accounts/Domain.ts"
import * as Event from "../ledger/Event.ts"
import type { StoreUnavailable } from "../ledger/Journal.ts"
import type { Published } from "../ledger/LedgerReads.ts"
import type * as Noun from "../ledger/Noun.ts"
import { NounReads } from "../ledger/NounReads.ts"
import * as Deposit from "../receiving/Deposit.ts"
import * as Invoice from "../receiving/Invoice.ts"
import * as LightningAddress from "../receiving/LightningAddress.ts"
import * as OnChainAddress from "../receiving/OnChainAddress.ts"
import { ReceivingReads } from "../receiving/ReceivingReads.ts"
import { all as features } from "../features/index.ts"
import * as Withdrawal from "../sending/Withdrawal.ts"
import * as WithdrawalTold from "../sending/WithdrawalTold.ts"
import type { Feature, Telling } from "../ledger/Feature.ts"
import { HostFeatures } from "../ledger/HostFeatures.ts"
import * as AsOf from "./AsOf.ts"
import { type About, all as allTypes, type Notice, type Type } from "./Notice.ts"

type Read<A> = Effect.Effect<A, StoreUnavailable>

const nothing: ReadonlyArray<About> = []

const depositIs = (record: Deposit.Deposit, as: "pending" | "failed" | "reversed", atMillis: number): About => ({
  kind: "deposit",
  type: `deposit.on_chain.${as}`,
  record: AsOf.deposit(record, as === "failed" ? "failed" : "pending", atMillis)
})

const depositCompleted = (record: Deposit.Deposit, atMillis: number): About => ({
  kind: "deposit",
  type: `deposit.${record.rail}.completed`,
  record: AsOf.deposit(record, "settled", atMillis)
})

const invoiceSettled = (row: Invoice.Invoice, deposit: Deposit.Deposit, atMillis: number): About => ({
  kind: "invoice",
  type: "invoice.settled",
  record: Invoice.shown(row, atMillis, deposit.id)
})

/** Types under which a committed event may be published. Events not listed here are not published. */
const own: { readonly [type in Event.Type]?: ReadonlyArray<Type> } = {
  "invoice.created": ["invoice.created"],
  "invoice.held": ["invoice.held"],
  "invoice.expired": ["invoice.expired"],
  "invoice.canceled": ["invoice.canceled"],
  "invoice.settled": ["deposit.lightning.completed", "invoice.settled"],
  "deposit.settled": ["deposit.lightning.completed", "deposit.on_chain.completed", "invoice.settled"],
  "deposit.pending": ["deposit.on_chain.pending"],
  "deposit.reversed": ["deposit.on_chain.reversed"],
  "deposit.failed": ["deposit.on_chain.failed"],
  "deposit.too_small": ["deposit.on_chain.failed"],
  "payment.unmatched": ["payment.unmatched"],
  "withdrawal.requested": WithdrawalTold.requestedAs,
  "withdrawal.settled": ["withdrawal.lightning.completed", "withdrawal.on_chain.completed"],
  "withdrawal.failed": ["withdrawal.lightning.failed", "withdrawal.on_chain.failed"],
  "withdrawal.replaced": ["withdrawal.on_chain.replaced"],
  "api_key.requested": ["api_key.requested"],
  "api_key.approved": ["api_key.approved"],
  "lightning_address.created": ["lightning_address.created"],
  "lightning_address.changed": ["lightning_address.updated"],
  "lightning_address.deleted": ["lightning_address.deleted"],
  "on_chain_address.created": ["on_chain_address.created"],
  "domain.verified": ["domain.verified"],
  "domain.found": ["domain.verified"],
  "domain.lost": ["domain.lost"]
}

/** Time for which a process waits for a newer version to send an event of an unknown type. A rolling upgrade takes minutes. */
const newerMillis = 600_000

/**
 * Collects the published events of features: their types, how to make them, and which of them are also about
 * a record other than the committed event's subject.
 */
const tellingsOf = (all: ReadonlyArray<Feature>) => {
  // oxlint-disable-next-line typescript/consistent-type-assertions -- a feature's kind determines its events; a host's kinds are not part of our types
  const featured = new Map(all.flatMap(({ notices }) => Object.entries(notices?.told ?? {}))) as ReadonlyMap<string, Telling<About>>
  const told = new Map<string, ReadonlyArray<Type>>([
    ...Object.entries(own),
    ...Array.from(featured, ([type, { as }]) => [type, as] as const)
  ])
  const aboutOthers = Array.from(featured).flatMap(([type, telling]) => (telling.aboutOthers === true ? [type] : []))
  return { featured, told, aboutOthers: new Set(["invoice.settled", "deposit.settled", ...aboutOthers]) }
}

const subjectOf = (about: About): string => (about.kind === "domain" ? about.record.domain : about.record.id)

/** Reads the records of events, and makes the published events. */
const tellers = Effect.fnUntraced(function* (featured: ReadonlyMap<string, Telling<About>>) {
  const accounts = yield* AccountReads
  const receiving = yield* ReceivingReads
  const nouns = yield* NounReads

  const one = <A extends Noun.Row>(
    { companyId, subject }: Published,
    noun: Noun.Noun<A>,
    tell: (row: A) => About
  ): Read<ReadonlyArray<About>> => Effect.map(nouns.get(noun, companyId, subject), (row) => Option.toArray(Option.map(row, tell)))

  const domain = ({ companyId, subject }: Published, tell: (row: Domain) => About): Read<ReadonlyArray<About>> =>
    Effect.map(accounts.domain(subject), (row) =>
      Option.toArray(row)
        .filter((row) => row.companyId === companyId)
        .map(tell)
    )

  const arrives = (event: Published, as: "pending" | "failed" | "reversed"): Read<ReadonlyArray<About>> =>
    one(event, Deposit.noun, (row) => depositIs(row, as, event.atMillis))

  /** Returns the events of a deposit and of the invoice that it paid. */
  const paid = Effect.fnUntraced(function* (event: Published, deposit: Option.Option<Deposit.Deposit>) {
    if (Option.isNone(deposit)) return nothing
    const { companyId, lightningInvoiceId } = deposit.value
    const invoice = lightningInvoiceId === null ? Option.none() : yield* nouns.get(Invoice.noun, companyId, lightningInvoiceId)
    const settled = Option.map(invoice, (row) => invoiceSettled(row, deposit.value, event.atMillis))
    return [depositCompleted(deposit.value, event.atMillis), ...Option.toArray(settled)]
  })

  const withNouns = Effect.provideService(NounReads, nouns)

  const settled = ({ companyId, subject }: Published) => receiving.depositOfInvoice(companyId, subject)
  const arrived = ({ companyId, subject }: Published) => nouns.get(Deposit.noun, companyId, subject)
  return {
    one,
    arrives,
    domain,
    featured: (event: Published) => {
      const telling = featured.get(event.type)
      return telling === undefined ? Effect.succeed(nothing) : withNouns(telling.tell(event))
    },
    /** Returns the events of the deposit that paid an invoice, and those of the invoice. */
    settled: (event: Published) => Effect.flatMap(settled(event), (deposit) => paid(event, deposit)),
    arrived: (event: Published) => Effect.flatMap(arrived(event), (deposit) => paid(event, deposit))
  }
})

/** Returns the event of an address, with the address in its state after the committed event. */
const updatedAddress = (atMillis: number) => (row: LightningAddress.LightningAddress) =>
  ({ kind: "lightningAddress", type: "lightning_address.updated", record: AsOf.changedAddress(row, atMillis) }) as const

/**
 * Maps committed events to published ones. Events missing here, such as those of keys and companies, appear only
 * in the audit log. An event whose record no longer exists is not published.
 */
export const make = Effect.gen(function* () {
  const hostFeatures = yield* HostFeatures
  const { featured: tellings, told, aboutOthers } = tellingsOf([...features, ...hostFeatures])
  const { one, arrives, domain, featured, settled, arrived } = yield* tellers(tellings)

  const about = (event: Published): Read<ReadonlyArray<About>> => {
    const { atMillis } = event
    // oxlint-disable-next-line typescript/consistent-type-assertions -- any other type belongs to a feature or is unknown
    const type = event.type as Event.Type
    switch (type) {
      case "invoice.created":
        return one(event, Invoice.noun, (row) => ({ kind: "invoice", type, record: Invoice.shown(AsOf.unpaid(row, "pending"), atMillis) }))
      case "invoice.held":
        return one(event, Invoice.noun, (row) => ({ kind: "invoice", type, record: Invoice.shown(AsOf.unpaid(row, "held"), atMillis) }))
      case "invoice.expired":
        return one(event, Invoice.noun, (row) => ({ kind: "invoice", type, record: Invoice.shown(AsOf.unpaid(row, "expired"), atMillis) }))
      case "invoice.canceled":
        return one(event, Invoice.noun, (row) => ({ kind: "invoice", type, record: Invoice.shown(AsOf.unpaid(row, "canceled"), atMillis) }))
      case "invoice.settled":
        return settled(event)
      case "deposit.settled":
        return arrived(event)
      case "deposit.pending":
        return arrives(event, "pending")
      case "deposit.reversed":
        return arrives(event, "reversed")
      case "deposit.failed":
      case "deposit.too_small":
        return arrives(event, "failed")
      case "payment.unmatched":
        return one(event, Invoice.unmatchedNoun, (record) => ({ kind: "unmatched", type, record }))
      case "withdrawal.requested":
        return one(event, Withdrawal.noun, WithdrawalTold.requested)
      case "withdrawal.settled":
        return one(event, Withdrawal.noun, (row) => WithdrawalTold.about(row, "completed"))
      case "withdrawal.failed":
        return one(event, Withdrawal.noun, (row) => WithdrawalTold.about(row, "failed"))
      case "withdrawal.replaced":
        return one(event, Withdrawal.noun, (row) => ({
          kind: "withdrawal",
          type: "withdrawal.on_chain.replaced",
          record: AsOf.replaced(row, atMillis)
        }))
      case "api_key.requested":
        return one(event, ApiKey.noun, (row) => ({ kind: "apiKey", type, record: { ...row, approvedBy: null, approvedAtMillis: null } }))
      case "api_key.approved":
        return one(event, ApiKey.noun, (record) => ({ kind: "apiKey", type, record }))
      case "lightning_address.created":
        return one(event, LightningAddress.noun, (row) => ({ kind: "lightningAddress", type, record: AsOf.newAddress(row) }))
      case "lightning_address.changed":
        return one(event, LightningAddress.noun, updatedAddress(atMillis))
      case "lightning_address.deleted":
        return one(event, LightningAddress.noun, (record) => ({ kind: "lightningAddress", type, record }))
      case "on_chain_address.created":
        return one(event, OnChainAddress.noun, (record) => ({ kind: "onChainAddress", type, record }))
      case "domain.verified":
      case "domain.found":
        return domain(event, (row) => ({ kind: "domain", type: "domain.verified", record: AsOf.verifiedDomain(row, atMillis) }))
      case "domain.lost":
        return domain(event, (row) => ({ kind: "domain", type, record: AsOf.lostDomain(row, atMillis) }))
      default:
        return featured(event)
    }
  }

  const declared = [Event.subjects, ...[...features, ...hostFeatures].map(({ events }) => events)].flatMap((events) => Object.keys(events))
  const known = new Set([...declared, ...told.keys()])

  return {
    /**
     * Returns the events before the first one that only a newer version can publish, and the time at which the others can
     * be read. A process of that version sends them earlier, once it has replaced this one. An older event of an unknown
     * type is of a feature that the host removed.
     */
    beforeNewer: (events: ReadonlyArray<Published>, nowMillis: number) => {
      const first = events.findIndex(({ type, atMillis }) => !known.has(type) && nowMillis - atMillis <= newerMillis)
      const atMillis = events[first]?.atMillis
      return atMillis === undefined ? { events } : { events: events.slice(0, first), againAtMillis: atMillis + newerMillis + 1 }
    },
    /** All types, including those of the host's features. */
    types: [...allTypes, ...hostFeatures.flatMap(({ notices }) => notices?.types ?? [])],
    /** Returns the types under which a committed event may be published. */
    typesOf: (type: string): ReadonlyArray<Type> => told.get(type) ?? [],
    /** Returns whether a committed event is also about a record other than its subject. */
    isAboutOthers: (type: string): boolean => aboutOthers.has(type),
    /**
     * Returns the published events, in order. Parts are numbered from 1; part 0 is the position before the
     * whole event.
     */
    of: (event: Published): Read<ReadonlyArray<Notice>> =>
      Effect.map(about(event), (told) =>
        told.map((about, i): Notice => {
          const place = { event: event.id, part: i + 1 }
          return { ...about, place, companyId: event.companyId, atMillis: event.atMillis, subject: subjectOf(about) }
        })
      )
  }
})
