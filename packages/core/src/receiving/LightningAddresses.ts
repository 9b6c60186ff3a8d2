import { HandleSchema, maxHandleLength, normaliseDomain } from "@satrail/bitcoin/LightningAddressText"
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { AccountReads } from "../accounts/AccountReads.ts"
import { Bounds, checkRange } from "../accounts/Bounds.ts"
import type { Company } from "../accounts/Company.ts"
import * as Domain from "../accounts/Domain.ts"
import { isInForce } from "../accounts/Domain.ts"
import { Installation } from "../accounts/Installation.ts"
import { PlanRequired } from "../accounts/Plan.ts"
import * as Characters from "../base/Characters.ts"
import type * as CompanyId from "../base/CompanyId.ts"
import { Entropy } from "../base/Entropy.ts"
import * as Id from "../base/Id.ts"
import { Invalid } from "../base/Invalid.ts"
import { everywhere } from "../base/Known.ts"
import * as Metadata from "../base/Metadata.ts"
import * as Answer from "../ledger/Answer.ts"
import * as Answers from "../ledger/Answers.ts"
import { type Conflict, type IdempotencyMismatch, Journal, NotFound, type StoreUnavailable } from "../ledger/Journal.ts"
import { LedgerReads } from "../ledger/LedgerReads.ts"
import * as Page from "../ledger/Page.ts"
import * as LightningAddress from "./LightningAddress.ts"
import { ReceivingReads } from "./ReceivingReads.ts"

/** The domain is not verified as this company's. */
export class DomainNotVerified extends Schema.TaggedError<DomainNotVerified>()("DomainNotVerified", { domain: Schema.String }) {}

/** Gives out Lightning addresses, and keeps them as their owners want them. */
export class LightningAddresses extends Context.Service<
  LightningAddresses,
  {
    /** `handle` and `domain` are for paid plans; null is a random handle, and the service's own domain. */
    readonly create: (ask: {
      readonly company: Pick<Company, "id" | "plan">
      readonly handle: string | null
      readonly domain: string | null
      readonly metadata: Metadata.Metadata
      readonly request?: Answer.Request<LightningAddress.LightningAddress>
    }) => Effect.Effect<
      Answer.Outcome<LightningAddress.LightningAddress>,
      Invalid | PlanRequired | DomainNotVerified | LightningAddress.HandleTaken | Conflict | IdempotencyMismatch | StoreUnavailable
    >
    /** Also one that was deleted: it says so. */
    readonly get: (
      companyId: CompanyId.CompanyId,
      id: string
    ) => Effect.Effect<LightningAddress.LightningAddress, NotFound | StoreUnavailable>
    /** A page, the newest first; `next` is where the page after it starts, undefined when there is none. */
    readonly list: (
      companyId: CompanyId.CompanyId,
      query: Page.Asked
    ) => Effect.Effect<
      { readonly lightningAddresses: ReadonlyArray<LightningAddress.LightningAddress>; readonly next: Page.Position | undefined },
      Invalid | StoreUnavailable
    >
    /** Replaces everything that its owner decides about it. When this answers, every process goes by it. */
    readonly change: (
      companyId: CompanyId.CompanyId,
      id: string,
      settings: LightningAddress.Settings
    ) => Effect.Effect<LightningAddress.LightningAddress, Invalid | NotFound | StoreUnavailable>
    /** When this answers, no payment is accepted there any more, and the address is never given out again. Deleting it again changes nothing. */
    readonly remove: (
      companyId: CompanyId.CompanyId,
      id: string
    ) => Effect.Effect<LightningAddress.LightningAddress, NotFound | StoreUnavailable>
  }
>()("@satrail/core/receiving/LightningAddresses") {}

const isHandle = Schema.is(HandleSchema)

/** Why this handle cannot be given out, in any letter case; undefined when it can. */
export const handleIssue = (handle: string): string | undefined =>
  isHandle(handle.toLowerCase()) ? undefined : `1 to ${maxHandleLength} of a-z, 0-9, "-", "_" and ".", with no dot at either end`

// 32 letters and digits without those that are read for another: 12 of them are 60 bits.
const letters = "abcdefghjkmnpqrstuvwxyz023456789"
const randomHandle = (entropy: (size: number) => Uint8Array): string =>
  Array.from(entropy(12), (byte) => letters.charAt(byte % 32)).join("")

/** Why no payer can be shown this after a payment, undefined when he can. */
export const successMessageIssue = (message: string): string | undefined =>
  message.trim() !== "" && Characters.count(message) <= LightningAddress.maxSuccessMessageCharacters && Metadata.isText(message)
    ? undefined
    : `1 to ${LightningAddress.maxSuccessMessageCharacters} characters, not all of them blank`

/** How many addresses a page has. */
export const limit = Page.limit

export const make = Effect.gen(function* () {
  const journal = yield* Journal
  const ledger = yield* LedgerReads
  const accounts = yield* AccountReads
  const receiving = yield* ReceivingReads
  const { domain: ownDomain } = yield* Installation
  const bounds = yield* Bounds
  const { domainGraceMillis } = yield* Domain.Options
  const entropy = yield* Entropy

  /** The domain in its one spelling, once it is known to be open to this company. */
  const openDomain = Effect.fnUntraced(function* (companyId: CompanyId.CompanyId, text: string) {
    const domain = yield* Effect.mapError(
      Effect.fromResult(normaliseDomain(text)),
      ({ message }) => new Invalid({ path: "domain", message })
    )
    if (domain === ownDomain) return domain
    const found = yield* accounts.domain(domain)
    if (found._tag === "None" || found.value.companyId !== companyId) return yield* new DomainNotVerified({ domain })
    const nowMillis = yield* Clock.currentTimeMillis
    return isInForce(found.value, nowMillis, domainGraceMillis) ? domain : yield* new DomainNotVerified({ domain })
  })

  const get = Effect.fnUntraced(function* (companyId: CompanyId.CompanyId, id: string) {
    const found = Id.is(id) ? yield* receiving.lightningAddressById(companyId, id) : undefined
    return found?._tag === "Some" ? found.value : yield* new NotFound({ what: "Lightning address", id })
  })

  const checkSettings = Effect.fnUntraced(function* ({ minSendable, maxSendable, successMessage, metadata }: LightningAddress.Settings) {
    yield* checkRange({ min: minSendable, max: maxSendable }, bounds)
    const message = successMessage === null ? undefined : successMessageIssue(successMessage)
    if (message !== undefined) return yield* new Invalid({ path: "success_message", message })
    yield* Metadata.check(metadata)
  })

  return LightningAddresses.of({
    get,
    remove: Effect.fnUntraced(function* (companyId, id) {
      const row = yield* get(companyId, id)
      yield* journal.commit(LightningAddress.deleted(row, yield* Clock.currentTimeMillis))
      yield* everywhere
      return yield* get(companyId, id)
    }),
    list: Effect.fnUntraced(function* (companyId, query) {
      const { rows, next } = yield* Page.read(query, (before, limit) => receiving.lightningAddressesOf(companyId, before, limit))
      return { lightningAddresses: rows, next }
    }),
    change: Effect.fnUntraced(function* (companyId, id, settings) {
      yield* checkSettings(settings)
      const row = yield* get(companyId, id)
      const gone = new NotFound({ what: "Lightning address", id })
      yield* Effect.catchTag(
        journal.commit(LightningAddress.changed(row, settings, yield* Clock.currentTimeMillis)),
        "LightningAddressGone",
        () => gone
      )
      yield* everywhere
      return yield* get(companyId, id)
    }),
    create: Effect.fnUntraced(function* ({ company, metadata, request, ...ask }) {
      const before = yield* Answers.earlier(ledger, company.id, request)
      if (before !== undefined) return before
      if (company.plan === "free" && (ask.handle !== null || ask.domain !== null)) {
        return yield* new PlanRequired({ plan: "paid", feature: "a handle or domain of your own" })
      }
      const handle = ask.handle?.toLowerCase() ?? randomHandle(entropy)
      const message = handleIssue(handle)
      if (message !== undefined) return yield* new Invalid({ path: "handle", message })
      yield* Metadata.check(metadata)
      const domain = ask.domain === null ? ownDomain : yield* openDomain(company.id, ask.domain)
      const createdAtMillis = yield* Clock.currentTimeMillis
      const lightningAddress: LightningAddress.LightningAddress = {
        id: Id.fromMillis(createdAtMillis, entropy),
        companyId: company.id,
        handle,
        domain,
        minSendable: null,
        maxSendable: null,
        successMessage: null,
        metadata,
        createdAtMillis,
        updatedAtMillis: createdAtMillis,
        lastUsedAtMillis: null,
        deletedAtMillis: null
      }
      const once = Answer.once(company.id, request, lightningAddress, createdAtMillis + Answer.keptMillis)
      return Answers.outcome(yield* journal.commit(LightningAddress.created(lightningAddress, once)), lightningAddress)
    })
  })
})

export const layer = Layer.effect(LightningAddresses, make)
