import { HandleSchema, maxHandleLength } from "@satrail/bitcoin/LightningAddressText"
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { Bounds, checkRange } from "../accounts/Bounds.ts"
import type { Company } from "../accounts/Company.ts"
import * as Domain from "../accounts/Domain.ts"
import { Installation } from "../accounts/Installation.ts"
import { PlanRequired } from "../accounts/Plan.ts"
import * as ServedDomains from "../accounts/ServedDomains.ts"
import * as Characters from "../base/Characters.ts"
import type * as CompanyId from "../base/CompanyId.ts"
import { Entropy } from "../base/Entropy.ts"
import * as Id from "../base/Id.ts"
import { Invalid } from "../base/Invalid.ts"
import { awaitCacheExpiry } from "../base/ReadCache.ts"
import * as Metadata from "../base/Metadata.ts"
import * as Answer from "../ledger/Answer.ts"
import * as Answers from "../ledger/Answers.ts"
import {
  type Conflict,
  found,
  type IdempotencyMismatch,
  Journal,
  NotFound,
  type StoreUnavailable
} from "../ledger/Journal.ts"
import { LedgerReads } from "../ledger/LedgerReads.ts"
import { NounReads } from "../ledger/NounReads.ts"
import * as Page from "../ledger/Page.ts"
import { retryIfMoved } from "../ledger/RetryIfMoved.ts"
import * as CreditShares from "./CreditShares.ts"
import * as LightningAddress from "./LightningAddress.ts"

/** The domain is not verified for this company. */
export class DomainNotVerified extends Schema.TaggedError<DomainNotVerified>()("DomainNotVerified", {
  domain: Schema.String
}) {}

/** Creates and manages Lightning addresses. */
export class LightningAddresses extends Context.Service<
  LightningAddresses,
  {
    /**
     * Creates an address. Choosing `handle` or `domain` requires a paid plan. A null handle is generated at
     * random, and a null domain is the service's domain.
     */
    readonly create: (ask: {
      readonly company: Pick<Company, "id" | "plan">
      readonly handle: string | null
      readonly domain: string | null
      readonly metadata: Metadata.Metadata
      readonly splits?: LightningAddress.Settings["splits"]
      readonly request?: Answer.Request<LightningAddress.LightningAddress>
    }) => Effect.Effect<
      Answer.Outcome<LightningAddress.LightningAddress>,
      | Invalid
      | PlanRequired
      | DomainNotVerified
      | LightningAddress.HandleTaken
      | Conflict
      | IdempotencyMismatch
      | StoreUnavailable
    >
    /** Returns an address, even if it was deleted. */
    readonly get: (
      companyId: CompanyId.CompanyId,
      id: string
    ) => Effect.Effect<LightningAddress.LightningAddress, NotFound | StoreUnavailable>
    /**
     * Returns a page, newest first. `next` is the start of the following page, or undefined on the last one.
     */
    readonly list: (
      companyId: CompanyId.CompanyId,
      query: Page.Dated
    ) => Effect.Effect<Page.Page<LightningAddress.LightningAddress>, Invalid | StoreUnavailable>
    /** Replaces all settings of an address. Once this returns, every process uses the new settings. */
    readonly change: (
      companyId: CompanyId.CompanyId,
      id: string,
      settings: LightningAddress.Settings
    ) => Effect.Effect<LightningAddress.LightningAddress, Invalid | NotFound | StoreUnavailable>
    /**
     * Changes the settings to those that `update` returns, as `change` does. If others are committed meanwhile,
     * `update` runs again.
     */
    readonly updateSettings: (
      companyId: CompanyId.CompanyId,
      id: string,
      update: (
        current: LightningAddress.LightningAddress
      ) => Effect.Effect<LightningAddress.Settings, Invalid>
    ) => Effect.Effect<LightningAddress.LightningAddress, Invalid | NotFound | StoreUnavailable>
    /**
     * Deletes an address. Once this returns, the address accepts no further payments. It is never reassigned.
     * Deleting it again changes nothing.
     */
    readonly remove: (
      companyId: CompanyId.CompanyId,
      id: string
    ) => Effect.Effect<LightningAddress.LightningAddress, NotFound | StoreUnavailable>
  }
>()("@satrail/core/receiving/LightningAddresses") {}

const isHandle = Schema.is(HandleSchema)

/** Returns why a handle cannot be used, ignoring case, or undefined if it can. */
export const handleIssue = (handle: string): string | undefined =>
  isHandle(Characters.lowerAscii(handle))
    ? undefined
    : `must have 1 to ${maxHandleLength} of the characters a-z, 0-9, "-", "_" and ".", without a dot at either end`

// 32 characters, none of which is easily mistaken for another. Twelve of them have 60 bits of entropy.
const letters = "abcdefghjkmnpqrstuvwxyz023456789"
const randomHandle = (entropy: (size: number) => Uint8Array): string =>
  Array.from(entropy(12), (byte) => letters.charAt(byte % 32)).join("")

/** Returns why a success message cannot be used, or undefined if it can. */
export const successMessageIssue = (message: string): string | undefined =>
  message.trim() !== "" &&
  Characters.count(message) <= LightningAddress.maxSuccessMessageCharacters &&
  Metadata.isText(message)
    ? undefined
    : `1 to ${LightningAddress.maxSuccessMessageCharacters} characters, not all of them blank`

const untilUnmoved = retryIfMoved(LightningAddress.LightningAddressGone)

export const make = Effect.gen(function* () {
  const journal = yield* Journal
  const ledger = yield* LedgerReads
  const servedAt = yield* ServedDomains.make
  const nouns = yield* NounReads
  const { domain: ownDomain } = yield* Installation
  const bounds = yield* Bounds
  const entropy = yield* Entropy
  const checkSplits = yield* CreditShares.checking

  /** Returns the normalized domain after checking that this company may use it. */
  const openDomain = Effect.fnUntraced(function* (companyId: CompanyId.CompanyId, text: string) {
    const domain = yield* Domain.named(text)
    return (yield* servedAt(domain)).isOf(companyId) ? domain : yield* new DomainNotVerified({ domain })
  })

  const get = (companyId: CompanyId.CompanyId, id: string) =>
    found("Lightning address", id, nouns.get(LightningAddress.noun, companyId, id))

  const checkSettings = Effect.fnUntraced(function* ({
    minSendable,
    maxSendable,
    successMessage,
    metadata
  }: LightningAddress.Settings) {
    yield* checkRange({ min: minSendable, max: maxSendable }, bounds)
    const message = successMessage === null ? undefined : successMessageIssue(successMessage)
    if (message !== undefined) return yield* new Invalid({ path: "success_message", message })
    yield* Metadata.check(metadata)
  })

  const updateSettings: LightningAddresses["Service"]["updateSettings"] = Effect.fnUntraced(
    function* (companyId, id, update) {
      const change = Effect.gen(function* () {
        const row = yield* get(companyId, id)
        if (row.deletedAtMillis !== null) return yield* new NotFound({ what: "Lightning address", id })
        const settings = yield* update(row)
        yield* checkSettings(settings)
        yield* checkSplits(companyId, settings.splits)
        yield* journal.commit(LightningAddress.changed(row, settings, yield* Clock.currentTimeMillis))
      })
      yield* untilUnmoved(change)
      yield* awaitCacheExpiry
      return yield* get(companyId, id)
    }
  )

  return LightningAddresses.of({
    get,
    remove: Effect.fnUntraced(function* (companyId, id) {
      const row = yield* get(companyId, id)
      yield* journal.commit(LightningAddress.deleted(row, yield* Clock.currentTimeMillis))
      yield* awaitCacheExpiry
      return yield* get(companyId, id)
    }),
    list: (companyId, query) =>
      Page.read(query, (before, limit) => nouns.newestFirst(LightningAddress.noun, companyId, before, limit)),
    change: (companyId, id, settings) => updateSettings(companyId, id, () => Effect.succeed(settings)),
    updateSettings,
    create: Effect.fnUntraced(function* ({ company, metadata, splits = null, request, ...ask }) {
      const before = yield* Answers.earlier(ledger, company.id, request)
      if (before !== undefined) return before
      if (company.plan === "free" && (ask.handle !== null || ask.domain !== null)) {
        return yield* new PlanRequired({ plan: "paid", feature: "a custom handle or domain" })
      }
      const handle = ask.handle === null ? randomHandle(entropy) : Characters.lowerAscii(ask.handle)
      const message = handleIssue(handle)
      if (message !== undefined) return yield* new Invalid({ path: "handle", message })
      yield* Metadata.check(metadata)
      yield* checkSplits(company.id, splits)
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
        splits,
        metadata,
        createdAtMillis,
        updatedAtMillis: createdAtMillis,
        lastUsedAtMillis: null,
        deletedAtMillis: null
      }
      const once = Answer.once(company.id, request, lightningAddress, createdAtMillis + Answer.keptMillis)
      return Answers.outcome(
        yield* journal.commit(LightningAddress.created(lightningAddress, once)),
        lightningAddress
      )
    })
  })
})

export const layer = Layer.effect(LightningAddresses, make)
