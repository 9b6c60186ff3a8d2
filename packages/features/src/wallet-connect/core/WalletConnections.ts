import * as Nostr from "@satrail/bitcoin/Nostr"
import * as WalletConnect from "@satrail/bitcoin/WalletConnect"
import { Clock, Context, Effect, Layer, Option, Redacted } from "effect"
import { AccountReads } from "@satrail/core/accounts/AccountReads"
import * as ApiKey from "@satrail/core/accounts/ApiKey"
import * as NewCompany from "@satrail/core/accounts/NewCompany"
import type { Operator } from "@satrail/core/accounts/SecondOperator"
import * as CompanyId from "@satrail/core/base/CompanyId"
import { Entropy } from "@satrail/core/base/Entropy"
import * as Id from "@satrail/core/base/Id"
import { Invalid } from "@satrail/core/base/Invalid"
import * as Answer from "@satrail/core/ledger/Answer"
import * as Answers from "@satrail/core/ledger/Answers"
import {
  type Conflict,
  type IdempotencyMismatch,
  Journal,
  NotFound,
  type StoreUnavailable
} from "@satrail/core/ledger/Journal"
import { LedgerReads } from "@satrail/core/ledger/LedgerReads"
import { NounReads } from "@satrail/core/ledger/NounReads"
import * as WalletConnection from "./WalletConnection.ts"

/** The relays and the key through which apps reach this service as a wallet. If undefined, apps cannot be connected. */
export class Place extends Context.Reference<
  | {
      /** `wss:` URLs of relays. One process at a time listens to them. */
      readonly relays: ReadonlyArray<string>
      /**
       * The service's secret key as a wallet, 32 bytes in hex. It must be the same in all processes and never
       * change, or every app has to be connected again.
       */
      readonly secretKey: Redacted.Redacted
    }
  | undefined
>("@satrail/features/wallet-connect/core/WalletConnections/Place", { defaultValue: () => undefined }) {}

/** A connection with the current public key of the wallet, and the current relays. */
export interface Shown extends WalletConnection.WalletConnection {
  readonly walletKey: string
  readonly relays: ReadonlyArray<string>
}

/** A new connection. `text` is for the app, contains the app's secret key, and is shown only once. */
export interface Made {
  readonly connection: Shown
  readonly text: Redacted.Redacted
}

/** Apps that use API keys over Nostr. */
export class WalletConnections extends Context.Service<
  WalletConnections,
  {
    /**
     * Connects an app to a key. The key must have no connection, be valid or waiting for a second operator, and
     * be usable from any IP address, because a relay does not reveal its callers' addresses. The app has the
     * key's permissions and limits until the key expires or is revoked.
     */
    readonly create: (
      apiKeyId: string,
      /** The rendered response is stored, so the secret in it must be sealed. */
      request?: Answer.Request<Made>,
      /**
       * The operator who requests the connection. A key that can send must be connected before a second
       * operator approves it, unless the company is new. A host program omits this.
       */
      by?: Operator
    ) => Effect.Effect<
      Answer.Outcome<Made>,
      Invalid | NotFound | Conflict | IdempotencyMismatch | StoreUnavailable
    >
    /** Returns the connection of a key. */
    readonly get: (apiKeyId: string) => Effect.Effect<Shown, NotFound | StoreUnavailable>
  }
>()("@satrail/features/wallet-connect/core/WalletConnections") {}

/**
 * Generates a Nostr secret key. About one in 2¹²⁸ random values is not a valid key. In that case, another is
 * drawn.
 */
const generate = (entropy: (size: number) => Uint8Array): Redacted.Redacted => {
  const text = Id.toHex(entropy(32))
  return Nostr.isSecretKey(text) ? Redacted.make(text, { label: "app key" }) : generate(entropy)
}

export const make = Effect.gen(function* () {
  const journal = yield* Journal
  const ledger = yield* LedgerReads
  const accounts = yield* AccountReads
  const isNew = yield* NewCompany.make
  const nouns = yield* NounReads
  const entropy = yield* Entropy
  const given = yield* Place
  const place = given && { relays: given.relays, walletKey: Nostr.publicKeyOf(given.secretKey) }

  return WalletConnections.of({
    create: Effect.fnUntraced(function* (apiKeyId, request, by) {
      if (place === undefined)
        return yield* new Invalid({
          path: "relays",
          message: "requires SATRAIL_NWC_RELAYS, which the operator has not set"
        })
      const before = yield* Answers.earlier(ledger, CompanyId.operator, request)
      if (before !== undefined) return before
      const found = yield* accounts.apiKey(apiKeyId)
      const nowMillis = yield* Clock.currentTimeMillis
      const refusal = Option.isNone(found) ? undefined : ApiKey.refusal(found.value.apiKey, nowMillis)
      // An expired or revoked key cannot be connected.
      if (Option.isNone(found) || (refusal !== undefined && refusal.reason !== "waiting"))
        return yield* new NotFound({ what: "API key", id: apiKeyId })
      const { companyId, allowedFrom, scopes } = found.value.apiKey
      // The app can send whatever the key can, so connecting needs the same approval as the key. Otherwise
      // connecting a key in use would bypass the second operator.
      if (
        by !== undefined &&
        refusal === undefined &&
        ApiKey.movesMoney(scopes) &&
        !(yield* isNew(companyId))
      )
        return yield* new Invalid({
          path: "id",
          message:
            "must be a new key: this one can send and is already in use. Issue a key for the app, and connect it before it is approved"
        })
      if (allowedFrom !== null)
        return yield* new Invalid({
          path: "allowed_from",
          message: "must be empty for a key that an app uses, because a relay hides the app's IP address"
        })
      if (Option.isSome(yield* nouns.named(WalletConnection.noun, { apiKeyId })))
        return yield* new Invalid({
          path: "id",
          message: "must be a key without an app. Issue one key for each app"
        })
      const secretKey = generate(entropy)
      const connection = {
        id: Id.fromMillis(nowMillis, entropy),
        companyId,
        apiKeyId,
        appKey: Nostr.publicKeyOf(secretKey),
        createdAtMillis: nowMillis
      }
      const made = {
        connection: { ...connection, ...place },
        text: WalletConnect.format({ ...place, secretKey })
      }
      const once = Answer.once(CompanyId.operator, request, made, nowMillis + Answer.keptMillis)
      return Answers.outcome(yield* journal.commit(WalletConnection.connected(connection, once)), made)
    }),
    get: Effect.fnUntraced(function* (apiKeyId) {
      const found =
        place !== undefined && ApiKey.isId(apiKeyId)
          ? yield* nouns.named(WalletConnection.noun, { apiKeyId })
          : Option.none()
      return place !== undefined && Option.isSome(found)
        ? { ...found.value, ...place }
        : yield* new NotFound({ what: "wallet connection", id: apiKeyId })
    })
  })
})

export const layer = Layer.effect(WalletConnections, make)
