import { Place } from "@satrail/features/wallet-connect/core/WalletConnections"
import { Context, Redacted } from "effect"

/** The relay and the key of a service whose keys can be connected to apps. */
export const place: Context.Context<never> = Context.make(Place, {
  relays: ["wss://relay.example.com"],
  secretKey: Redacted.make("21".repeat(32))
})
