import { Clock, Context, Effect, Layer, Schema } from "effect"
import * as Answer from "./Answer.ts"
import * as Answers from "./Answers.ts"
import type { Company } from "./Company.ts"
import { Entropy } from "./Entropy.ts"
import * as Id from "./Id.ts"
import { Invalid } from "./Invalid.ts"
import { type Conflict, type IdempotencyMismatch, Journal, type StoreUnavailable } from "./Journal.ts"
import * as LightningAddress from "./LightningAddress.ts"
import { HandleSchema, maxHandleLength, normaliseDomain } from "./LightningAddressText.ts"
import * as Metadata from "./Metadata.ts"
import { Policy } from "./Policy.ts"
import { Records } from "./Records.ts"

/** The company's plan does not include this. */
export class PlanRequired extends Schema.TaggedError<PlanRequired>()("PlanRequired", { plan: Schema.String, feature: Schema.String }) {}

/** Nobody has shown that the domain is this company's. */
export class DomainNotVerified extends Schema.TaggedError<DomainNotVerified>()("DomainNotVerified", { domain: Schema.String }) {}

/** Gives out Lightning addresses. */
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
  }
>()("core/LightningAddresses") {}

const isHandle = Schema.is(HandleSchema)

/** Why nobody can have this handle, in whatever letter case, undefined when somebody can. */
export const handleIssue = (handle: string): string | undefined =>
  isHandle(handle.toLowerCase()) ? undefined : `1 to ${maxHandleLength} of a-z, 0-9, "-", "_" and ".", with no dot at either end`

// 32 letters and digits without those that are read for another: 12 of them are 60 bits.
const letters = "abcdefghjkmnpqrstuvwxyz023456789"
const randomHandle = (entropy: (size: number) => Uint8Array): string =>
  Array.from(entropy(12), (byte) => letters.charAt(byte % 32)).join("")

export const make = Effect.gen(function* () {
  const journal = yield* Journal
  const records = yield* Records
  const policy = yield* Policy
  const entropy = yield* Entropy

  /** The domain in its one spelling, once it is known to be open to this company. */
  const openDomain = Effect.fnUntraced(function* (companyId: string, text: string) {
    const domain = yield* Effect.mapError(
      Effect.fromResult(normaliseDomain(text)),
      ({ message }) => new Invalid({ path: "domain", message })
    )
    if (domain === policy.domain) return domain
    const found = yield* records.domain(domain)
    return found._tag === "Some" && found.value.companyId === companyId ? domain : yield* new DomainNotVerified({ domain })
  })

  return LightningAddresses.of({
    create: Effect.fnUntraced(function* ({ company, metadata, request, ...ask }) {
      const before = yield* Answers.earlier(records, company.id, request)
      if (before !== undefined) return before
      if (company.plan === "free" && (ask.handle !== null || ask.domain !== null)) {
        return yield* new PlanRequired({ plan: "paid", feature: "a handle or domain of your own" })
      }
      const handle = ask.handle?.toLowerCase() ?? randomHandle(entropy)
      const message = handleIssue(handle)
      if (message !== undefined) return yield* new Invalid({ path: "handle", message })
      yield* Metadata.check(metadata)
      const domain = ask.domain === null ? policy.domain : yield* openDomain(company.id, ask.domain)
      const createdAtMillis = yield* Clock.currentTimeMillis
      const lightningAddress: LightningAddress.LightningAddress = {
        id: Id.fromMillis(createdAtMillis, entropy),
        companyId: company.id,
        handle,
        domain,
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
