import * as Msat from "@satrail/bitcoin/Msat"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import { type Capacity, LightningBooks } from "@satrail/core/nodes/LightningBooks"
import { Effect, Schema } from "effect"
import { type LdkSocket, unavailable } from "./LdkSocket.ts"

const Counts = Schema.Struct({
  active: Schema.Int,
  inactive: Schema.Int,
  opening: Schema.Int,
  closing: Schema.Int,
  forceClosing: Schema.Int
})

export const Balance = Schema.Struct({
  owned: Msat.FromString,
  // Absent in responses of an earlier sidecar version, whose `owned` counts only channels.
  onChain: Schema.optionalKey(Msat.FromString),
  within: Msat.FromString,
  outgoing: Msat.FromString,
  incoming: Msat.FromString,
  // Absent in responses of an earlier sidecar version.
  channels: Schema.optionalKey(Counts)
})

const Sent = Schema.Struct({
  lines: Schema.Array(
    Schema.Struct({
      hash: PaymentHash.PaymentHash,
      attempt: Schema.optionalKey(Schema.String),
      amount: Msat.FromString,
      fee: Msat.FromString,
      state: Schema.Literals(["pending", "settled", "failed"])
    })
  ),
  cursor: Schema.String
})

const Taken = Schema.Struct({
  lines: Schema.Array(Schema.Struct({ hash: PaymentHash.PaymentHash, received: Msat.FromString })),
  cursor: Schema.String
})

const Own = Schema.Struct({
  lines: Schema.Array(
    Schema.Struct({ kind: Schema.Literals(["forward", "channel"]), amount: Msat.FromString })
  ),
  cursor: Schema.String
})

export const capacityOf = ({ outgoing, incoming, channels }: typeof Balance.Type): Capacity => ({
  outgoing,
  incoming,
  ...(channels !== undefined && { channels })
})

/** The node's books. Its funds include its on-chain wallet and the balances of closing channels. */
export const make = ({ ask }: LdkSocket): LightningBooks["Service"] => {
  const balance = Effect.catchTag(ask("balance", {}, Balance), "Refused", unavailable("balance"))
  const from = (after: string | null) => (after === null ? {} : { after })
  return LightningBooks.of({
    owned: Effect.map(balance, ({ owned, onChain, within }) => ({
      amount: owned,
      within,
      ...(onChain !== undefined && { onChain })
    })),
    capacity: Effect.map(balance, capacityOf),
    sent: (after) =>
      ask("sent", from(after), Sent).pipe(
        Effect.catchTag("Refused", unavailable("sent")),
        Effect.map(({ lines, cursor }) => ({
          lines: lines.map(({ hash, ...line }) => ({ paymentHash: hash, ...line })),
          cursor
        }))
      ),
    taken: (after) =>
      ask("taken", from(after), Taken).pipe(
        Effect.catchTag("Refused", unavailable("taken")),
        Effect.map(({ lines, cursor }) => ({
          lines: lines.map(({ hash, received }) => ({ paymentHash: hash, received })),
          cursor
        }))
      ),
    own: (after) =>
      ask("own", from(after), Own).pipe(
        Effect.catchTag("Refused", (refused) =>
          // An earlier sidecar version has no such list. After an upgrade, numbering starts at 0.
          refused.code === "bad_request"
            ? Effect.succeed({ lines: [], cursor: after ?? "0" })
            : unavailable("own")(refused)
        )
      )
  })
}
