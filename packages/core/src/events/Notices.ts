import { Context, Effect, Option } from "effect"
import * as ApiKey from "../accounts/ApiKey.ts"
import { AccountReads } from "../accounts/AccountReads.ts"
import type { Domain } from "../accounts/Domain.ts"
import * as Event from "../ledger/Event.ts"
import type { StoreUnavailable } from "../ledger/Journal.ts"
import type { Published } from "../ledger/LedgerReads.ts"
import type * as Noun from "../ledger/Noun.ts"
import { NounReads } from "../ledger/NounReads.ts"
import * as Conversion from "../ledger/Conversion.ts"
import * as Deposit from "../receiving/Deposit.ts"
import * as Invoice from "../receiving/Invoice.ts"
import * as LightningAddress from "../receiving/LightningAddress.ts"
import * as OnChainAddress from "../receiving/OnChainAddress.ts"
import { ReceivingReads } from "../receiving/ReceivingReads.ts"
import * as Withdrawal from "../sending/Withdrawal.ts"
import * as WithdrawalNotices from "../sending/WithdrawalNotices.ts"
import type { Feature } from "../ledger/Feature.ts"
import { Features } from "../ledger/Features.ts"
import * as AsOf from "./AsOf.ts"
import { type About, type Notice, type Type, typesOf } from "./Notice.ts"

type Read<A, R = never> = Effect.Effect<A, StoreUnavailable, R>

/** How a committed event is published, as in `Feature.Conversion`. The money path's events also read other ports. */
interface Way {
  readonly as: ReadonlyArray<Type>
  readonly aboutOthers?: true
  readonly convert: (
    event: Published
  ) => Read<ReadonlyArray<About>, NounReads | AccountReads | ReceivingReads>
}

/** Time for which a process waits for a newer version to send an event of an unknown type. A rolling upgrade takes minutes. */
const newerMillis = 600_000

const of = <A extends Noun.Row>(
  as: ReadonlyArray<Type>,
  noun: Noun.Noun<A>,
  tell: (row: A, atMillis: number) => About
): Way => ({
  as,
  convert: Conversion.ofSubject(noun, tell)
})

const invoiceIs = (
  as: Parameters<typeof AsOf.unpaid>[1],
  type: "invoice.created" | "invoice.held" | "invoice.expired" | "invoice.canceled"
) =>
  of([type], Invoice.noun, (row, atMillis) => ({
    kind: "invoice",
    type,
    record: Invoice.shown(AsOf.unpaid(row, as), atMillis)
  }))

const depositIs = (as: "pending" | "failed" | "reversed") =>
  of([`deposit.on_chain.${as}`], Deposit.noun, (row, atMillis) => ({
    kind: "deposit",
    type: `deposit.on_chain.${as}`,
    record: AsOf.deposit(row, as === "failed" ? "failed" : "pending", atMillis)
  }))

const addressIs = (
  type: "lightning_address.created" | "lightning_address.updated" | "lightning_address.deleted",
  asOf: (row: LightningAddress.LightningAddress, atMillis: number) => LightningAddress.LightningAddress
) =>
  of([type], LightningAddress.noun, (row, atMillis) => ({
    kind: "lightningAddress",
    type,
    record: asOf(row, atMillis)
  }))

/** Publishes a deposit, and the invoice that it paid. */
const paid = Effect.fnUntraced(function* (event: Published, deposit: Option.Option<Deposit.Deposit>) {
  if (Option.isNone(deposit)) return []
  const { id, rail, lightningInvoiceId } = deposit.value
  const record = AsOf.deposit(deposit.value, "settled", event.atMillis)
  const completed: About = { kind: "deposit", type: `deposit.${rail}.completed`, record }
  const settled = Conversion.ofRecord(Invoice.noun, (row, atMillis): About => ({
    kind: "invoice",
    type: "invoice.settled",
    record: Invoice.shown(row, atMillis, id)
  }))
  return [completed, ...(yield* settled(event, lightningInvoiceId))]
})

const domainIs = (
  type: "domain.verified" | "domain.lost",
  asOf: (row: Domain, atMillis: number) => Domain
): Way => ({
  as: [type],
  convert: Effect.fnUntraced(function* ({ companyId, subject, atMillis }) {
    const found = yield* (yield* AccountReads).domain(subject)
    const own = Option.filter(found, (row) => row.companyId === companyId)
    return Option.toArray(own).map((row): About => ({ kind: "domain", type, record: asOf(row, atMillis) }))
  })
})

/**
 * How the money path's events are published. Other events, such as those of keys and companies, appear only in the
 * audit log. An event whose record no longer exists is not published.
 */
const own: { readonly [type in Event.Type]?: Way } = {
  "invoice.created": invoiceIs("pending", "invoice.created"),
  "invoice.held": invoiceIs("held", "invoice.held"),
  "invoice.expired": invoiceIs("expired", "invoice.expired"),
  "invoice.canceled": invoiceIs("canceled", "invoice.canceled"),
  "invoice.settled": {
    as: ["deposit.lightning.completed", "invoice.settled"],
    aboutOthers: true,
    convert: Effect.fnUntraced(function* (event) {
      return yield* paid(
        event,
        yield* (yield* ReceivingReads).depositOfInvoice(event.companyId, event.subject)
      )
    })
  },
  "deposit.settled": {
    as: ["deposit.lightning.completed", "deposit.on_chain.completed", "invoice.settled"],
    aboutOthers: true,
    convert: Effect.fnUntraced(function* (event) {
      return yield* paid(event, yield* (yield* NounReads).get(Deposit.noun, event.companyId, event.subject))
    })
  },
  "deposit.pending": depositIs("pending"),
  "deposit.reversed": depositIs("reversed"),
  "deposit.failed": depositIs("failed"),
  "deposit.too_small": depositIs("failed"),
  "payment.unmatched": of(["payment.unmatched"], Invoice.unmatchedNoun, (record) => ({
    kind: "unmatched",
    type: "payment.unmatched",
    record
  })),
  "withdrawal.requested": of(WithdrawalNotices.requestedAs, Withdrawal.noun, WithdrawalNotices.requested),
  "withdrawal.settled": of(
    ["withdrawal.lightning.completed", "withdrawal.on_chain.completed"],
    Withdrawal.noun,
    (row) => WithdrawalNotices.about(row, "completed")
  ),
  "withdrawal.failed": of(
    ["withdrawal.lightning.failed", "withdrawal.on_chain.failed"],
    Withdrawal.noun,
    (row) => WithdrawalNotices.about(row, "failed")
  ),
  "withdrawal.replaced": of(["withdrawal.on_chain.replaced"], Withdrawal.noun, (row, atMillis) => ({
    kind: "withdrawal",
    type: "withdrawal.on_chain.replaced",
    record: AsOf.replaced(row, atMillis)
  })),
  "api_key.requested": of(["api_key.requested"], ApiKey.noun, (row) => ({
    kind: "apiKey",
    type: "api_key.requested",
    record: { ...row, approvedBy: null, approvedAtMillis: null }
  })),
  "api_key.approved": of(["api_key.approved"], ApiKey.noun, (record) => ({
    kind: "apiKey",
    type: "api_key.approved",
    record
  })),
  "lightning_address.created": addressIs("lightning_address.created", AsOf.newAddress),
  "lightning_address.changed": addressIs("lightning_address.updated", AsOf.changedAddress),
  "lightning_address.deleted": addressIs("lightning_address.deleted", (row) => row),
  "on_chain_address.created": of(["on_chain_address.created"], OnChainAddress.noun, (record) => ({
    kind: "onChainAddress",
    type: "on_chain_address.created",
    record
  })),
  "domain.verified": domainIs("domain.verified", AsOf.verifiedDomain),
  "domain.found": domainIs("domain.verified", AsOf.verifiedDomain),
  "domain.lost": domainIs("domain.lost", AsOf.lostDomain)
}

/** Maps committed events to published ones. */
export const make = Effect.gen(function* () {
  const features = yield* Features
  const featured = features.flatMap(({ notices }: Feature) => Object.entries(notices?.byEvent ?? {}))
  // oxlint-disable-next-line typescript/consistent-type-assertions -- a feature's kind determines its events; a host's kinds are not part of our types
  const conversions = new Map<string, unknown>([...featured, ...Object.entries(own)]) as ReadonlyMap<
    string,
    Way
  >
  const ports = Context.make(NounReads, yield* NounReads).pipe(
    Context.add(AccountReads, yield* AccountReads),
    Context.add(ReceivingReads, yield* ReceivingReads)
  )

  const about = (event: Published): Read<ReadonlyArray<About>> => {
    const conversion = conversions.get(event.type)
    return conversion === undefined
      ? Effect.succeed([])
      : Effect.provideContext(conversion.convert(event), ports)
  }

  const declared = [Event.subjects, ...features.map(({ events }) => events)].flatMap((events) =>
    Object.keys(events)
  )
  const known = new Set([...declared, ...conversions.keys()])

  return {
    /**
     * Returns the events before the first one that only a newer version can publish, and the time at which the others can
     * be read. A process of that version sends them earlier, once it has replaced this one. An older event of an unknown
     * type is of a feature that the host removed.
     */
    beforeNewer: (events: ReadonlyArray<Published>, nowMillis: number) => {
      const first = events.findIndex(
        ({ type, atMillis }) => !known.has(type) && nowMillis - atMillis <= newerMillis
      )
      const atMillis = events[first]?.atMillis
      return atMillis === undefined
        ? { events }
        : { events: events.slice(0, first), againAtMillis: atMillis + newerMillis + 1 }
    },
    /** All types, including those of the host's features. */
    types: Object.values(typesOf(features)).flat(),
    /** Returns the types under which a committed event may be published. */
    typesOf: (type: string): ReadonlyArray<Type> => conversions.get(type)?.as ?? [],
    /** Returns whether a committed event is also about a record other than its subject. */
    isAboutOthers: (type: string): boolean => conversions.get(type)?.aboutOthers === true,
    /**
     * Returns the published events, in order. Parts are numbered from 1; part 0 is the position before the
     * whole event.
     */
    of: (event: Published): Read<ReadonlyArray<Notice>> =>
      Effect.map(about(event), (told) =>
        told.map((about, i): Notice => {
          const place = { event: event.id, part: i + 1 }
          const subject = about.kind === "domain" ? about.record.domain : about.record.id
          return { ...about, place, companyId: event.companyId, atMillis: event.atMillis, subject }
        })
      )
  }
})
