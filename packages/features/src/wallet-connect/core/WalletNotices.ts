import * as WalletConnect from "@satrail/bitcoin/WalletConnect"
import { Clock, Effect, Option, type Redacted } from "effect"
import { AccountReads } from "@satrail/core/accounts/AccountReads"
import * as ApiKey from "@satrail/core/accounts/ApiKey"
import type { CompanyId } from "@satrail/core/base/CompanyId"
import { Entropy } from "@satrail/core/base/Entropy"
import { cached } from "@satrail/core/base/ReadCache"
import type { About } from "@satrail/core/events/Notice"
import * as Notices from "@satrail/core/events/Notices"
import type { Published } from "@satrail/core/ledger/LedgerReads"
import { NounReads } from "@satrail/core/ledger/NounReads"
import * as WalletConnection from "./WalletConnection.ts"
import * as WalletView from "./WalletView.ts"

/** Types of notifications sent to apps whose keys may read. */
export const types = ["payment_received", "payment_sent", "hold_invoice_accepted"] as const

/** Maximum number of a company's apps that are notified: the most recently connected ones. */
export const maxApps = 100

/** Time for which a process caches the list of a company's apps. A new app is notified once the cache expires. */
export const knownMillis = 5_000

// Committed events that can cause a notification. For any other event, nothing is read.
const candidates: ReadonlySet<string> = new Set([
  "invoice.held",
  "invoice.settled",
  "deposit.settled",
  "withdrawal.settled"
])

/**
 * Returns the notification for the app with this key. Returns undefined unless the event is about a Lightning
 * payment with an invoice.
 */
const notificationOf = (about: About, apiKeyId: string, nowMillis: number) => {
  if ((about.type === "invoice.settled" || about.type === "invoice.held") && about.kind === "invoice") {
    const notification = WalletView.incoming(about.record, apiKeyId, nowMillis)
    return {
      notification_type: about.type === "invoice.held" ? "hold_invoice_accepted" : "payment_received",
      notification
    }
  }
  const sent =
    about.type === "withdrawal.lightning.completed" && about.kind === "withdrawal"
      ? WalletView.outgoing(about.record)
      : undefined
  return sent && { notification_type: "payment_sent", notification: sent }
}

/** Notifies apps of payments that were just settled or held. */
export const make = Effect.fnUntraced(function* (secretKey: Redacted.Redacted) {
  const nouns = yield* NounReads
  const accounts = yield* AccountReads
  const entropy = yield* Entropy
  const notices = yield* Notices.make
  const appsOf = cached(
    (companyId: CompanyId) => nouns.newestFirst(WalletConnection.noun, companyId, null, maxApps),
    () => true,
    knownMillis
  )

  /** Returns whether an app's key is valid now and may read. */
  const mayRead = ({ apiKeyId }: WalletConnection.WalletConnection, nowMillis: number) =>
    Effect.map(
      accounts.apiKey(apiKeyId),
      Option.exists(
        ({ apiKey }) =>
          ApiKey.refusal(apiKey, nowMillis) === undefined &&
          ApiKey.allows(apiKey, "read") &&
          apiKey.allowedFrom?.for !== "everything"
      )
    )

  /** Returns the Nostr events that notify a company's apps of a committed event. */
  return Effect.fnUntraced(function* (event: Published) {
    if (!candidates.has(event.type)) return []
    const nowMillis = yield* Clock.currentTimeMillis
    const apps = yield* appsOf(event.companyId)
    if (apps.length === 0) return []
    const abouts = yield* notices.of(event)
    if (abouts.every((about) => notificationOf(about, "", nowMillis) === undefined)) return []
    const readers = yield* Effect.filter(apps, (app) => mayRead(app, nowMillis), { concurrency: 5 })
    return readers.flatMap(({ appKey, apiKeyId }) =>
      abouts.flatMap((about) => {
        const content = notificationOf(about, apiKeyId, nowMillis)
        if (content === undefined) return []
        const sealing = {
          from: secretKey,
          to: appKey,
          atSeconds: Math.floor(nowMillis / 1000),
          nonce: entropy(32)
        }
        const made = WalletConnect.notification(content, sealing)
        return made === undefined ? [] : [made]
      })
    )
  })
})
