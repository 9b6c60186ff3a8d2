import { Schema } from "effect"
import * as CompanyId from "@satrail/core/base/CompanyId"
import type * as Change from "@satrail/core/ledger/Change"
import * as Noun from "@satrail/core/ledger/Noun"
import { type Written, written } from "@satrail/core/ledger/Written"

/**
 * An app that uses an API key over Nostr Wallet Connect (NIP-47). The key determines its scopes, limits and
 * expiry; the connection itself has none. A key has at most one connection.
 */
export const WalletConnection = Schema.Struct({
  id: Noun.Id,
  companyId: CompanyId.CompanyId,
  apiKeyId: Schema.String,
  /** The app's public key on Nostr, x-only in hex. Only the app has the secret key. */
  appKey: Schema.String,
  createdAtMillis: Schema.Int
})
export interface WalletConnection extends Schema.Schema.Type<typeof WalletConnection> {}

export const noun = Noun.make("wallet_connections", WalletConnection, {
  moving: [],
  recorded: ["companyId", "apiKeyId", "appKey"],
  unique: [["apiKeyId"], ["appKey"]]
})

export interface WalletConnected extends Written<
  "WalletConnected",
  readonly [Noun.InsertOf<typeof noun>],
  "once",
  never
> {}

/** Connects an app: from then on, the holder of the app's secret key can use the API key. */
export const connected = (connection: WalletConnection, once?: Change.Once): WalletConnected =>
  written("WalletConnected", connection.createdAtMillis, [Noun.insert(noun, connection)], once && { once })
