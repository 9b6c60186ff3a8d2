import * as Nostr from "@satrail/bitcoin/Nostr"
import * as WalletConnect from "@satrail/bitcoin/WalletConnect"
import { Clock, Context, Effect, Layer, Option, Redacted } from "effect"
import { AccountReads } from "../../accounts/AccountReads.ts"
import * as ApiKey from "../../accounts/ApiKey.ts"
import { isNew } from "../../accounts/NewCompany.ts"
import type { Operator } from "../../accounts/SecondOperator.ts"
import * as CompanyId from "../../base/CompanyId.ts"
import { Entropy } from "../../base/Entropy.ts"
import * as Id from "../../base/Id.ts"
import { Invalid } from "../../base/Invalid.ts"
import * as Answer from "../../ledger/Answer.ts"
import * as Answers from "../../ledger/Answers.ts"
import { type Conflict, type IdempotencyMismatch, Journal, NotFound, type StoreUnavailable } from "../../ledger/Journal.ts"
import { LedgerReads } from "../../ledger/LedgerReads.ts"
import { NounReads } from "../../ledger/NounReads.ts"
import * as WalletConnection from "./WalletConnection.ts"

/** Where apps reach this service as a wallet; undefined: nowhere, and there are no connections. */
export class Place extends Context.Reference<
  | {
      /** `wss:` URLs that every process listens at, in turns. */
      readonly relays: ReadonlyArray<string>
      /** The service's own key as a wallet, 32 bytes in hex: the same in all processes, and for ever, or every app has to be connected again. */
      readonly secretKey: Redacted.Redacted
    }
  | undefined
>("@satrail/core/features/wallet-connect/WalletConnections/Place", { defaultValue: () => undefined }) {}

/** A connection as it is shown: the wallet's public key and relays are those of now. */
export interface Shown extends WalletConnection.WalletConnection {
  readonly walletKey: string
  readonly relays: ReadonlyArray<string>
}

/** A new connection. `text` is what the app is given, with its secret key in it: shown now, and never again. */
export interface Made {
  readonly connection: Shown
  readonly text: Redacted.Redacted
}

/** Apps that use API keys over Nostr. */
export class WalletConnections extends Context.Service<
  WalletConnections,
  {
    /**
     * Connects an app to a key, which has no connection yet, is open or waits for a second operator, and may be used from anywhere: a relay does not say where its callers are. It may do what the key
     * may, within the key's limits, until the key ends or is revoked.
     */
    readonly create: (
      apiKeyId: string,
      /** What it renders is stored: the secret in it must be sealed. */
      request?: Answer.Request<Made>,
      /** The operator who asks: a key that can send is connected before a second operator approves it, unless the company is new. A host leaves it out. */
      by?: Operator
    ) => Effect.Effect<Answer.Outcome<Made>, Invalid | NotFound | Conflict | IdempotencyMismatch | StoreUnavailable>
    /** The connection of a key. */
    readonly get: (apiKeyId: string) => Effect.Effect<Shown, NotFound | StoreUnavailable>
  }
>()("@satrail/core/features/wallet-connect/WalletConnections") {}

/** A secret key on Nostr that was never used before. One in 2¹²⁸ drawings is none, and is drawn again. */
const generate = (entropy: (size: number) => Uint8Array): Redacted.Redacted => {
  const text = Id.toHex(entropy(32))
  return Nostr.isSecretKey(text) ? Redacted.make(text, { label: "app key" }) : generate(entropy)
}

export const make = Effect.gen(function* () {
  const journal = yield* Journal
  const ledger = yield* LedgerReads
  const accounts = yield* AccountReads
  const nouns = yield* NounReads
  const entropy = yield* Entropy
  const given = yield* Place
  const place = given && { relays: given.relays, walletKey: Nostr.publicKeyOf(given.secretKey) }

  return WalletConnections.of({
    create: Effect.fnUntraced(function* (apiKeyId, request, by) {
      if (place === undefined)
        return yield* new Invalid({ path: "relays", message: "None are set: this service is no wallet for apps (SATRAIL_NWC_RELAYS)" })
      const before = yield* Answers.earlier(ledger, CompanyId.operator, request)
      if (before !== undefined) return before
      const found = yield* accounts.apiKey(apiKeyId)
      const nowMillis = yield* Clock.currentTimeMillis
      const refusal = Option.isNone(found) ? undefined : ApiKey.refusal(found.value.apiKey, nowMillis)
      // A key that opens nothing any more connects nothing.
      if (Option.isNone(found) || (refusal !== undefined && refusal.reason !== "waiting"))
        return yield* new NotFound({ what: "API key", id: apiKeyId })
      const { companyId, allowedFrom, scopes } = found.value.apiKey
      // The app can send what the key can, so it needs what the key needed: whoever connects a key that is in use would get it without a second operator.
      if (by !== undefined && refusal === undefined && ApiKey.movesMoney(scopes) && !(yield* isNew(accounts, companyId)))
        return yield* new Invalid({
          path: "id",
          message: "The key can send and is in use: issue a key for the app, and connect it before it is approved"
        })
      if (allowedFrom !== null)
        return yield* new Invalid({ path: "allowed_from", message: "None: a relay does not say from where an app uses the key" })
      if (Option.isSome(yield* nouns.named(WalletConnection.noun, { apiKeyId })))
        return yield* new Invalid({ path: "id", message: "The key has an app already: issue a key for each app" })
      const secretKey = generate(entropy)
      const connection = {
        id: Id.fromMillis(nowMillis, entropy),
        companyId,
        apiKeyId,
        appKey: Nostr.publicKeyOf(secretKey),
        createdAtMillis: nowMillis
      }
      const made = { connection: { ...connection, ...place }, text: WalletConnect.format({ ...place, secretKey }) }
      const once = Answer.once(CompanyId.operator, request, made, nowMillis + Answer.keptMillis)
      return Answers.outcome(yield* journal.commit(WalletConnection.connected(connection, once)), made)
    }),
    get: Effect.fnUntraced(function* (apiKeyId) {
      const found = place !== undefined && ApiKey.isId(apiKeyId) ? yield* nouns.named(WalletConnection.noun, { apiKeyId }) : Option.none()
      return place !== undefined && Option.isSome(found)
        ? { ...found.value, ...place }
        : yield* new NotFound({ what: "wallet connection", id: apiKeyId })
    })
  })
})

export const layer = Layer.effect(WalletConnections, make)
