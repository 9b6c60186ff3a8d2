import * as Bolt11 from "@satrail/core/Bolt11"
import { type Ask, type Issued, LightningReceiver } from "@satrail/core/LightningReceiver"
import { Clock, Effect, Layer, Result } from "effect"
import { createHash } from "node:crypto"

const secret = (label: string): Buffer => createHash("sha256").update(`the node of the benchmark/${label}`).digest()
const sign = Bolt11.signWith(secret("key"))

/** What the sandbox's node does for an invoice, except that it keeps none. */
const issue = (
  network: LightningReceiver["Service"]["network"],
  { id, amount, description, expirySeconds }: Ask,
  nowMillis: number
): Issued => {
  const paymentHash = createHash("sha256")
    .update(secret(`invoice/${id}`))
    .digest("hex")
  const draft = {
    network,
    amount,
    timestampSeconds: Math.floor(nowMillis / 1000),
    paymentHash,
    paymentSecret: secret(`secret/${id}`).toString("hex"),
    ...(description._tag === "Text" ? { description: description.text } : { descriptionHash: description.sha256 }),
    expirySeconds
  }
  return { paymentHash, paymentRequest: Result.getOrThrow(Bolt11.encode(draft, sign)) }
}

/**
 * In place of the sandbox's node, which never forgets an invoice and keeps them in the process that is measured: half a kilobyte each, a hundred
 * thousand in a run. A real node keeps them in a process of its own. It signs, as the sandbox's does, and nobody pays.
 */
export const layer = Layer.effect(
  LightningReceiver,
  Effect.map(LightningReceiver, (node) =>
    LightningReceiver.of({
      ...node,
      createInvoice: (ask) => Effect.map(Clock.currentTimeMillis, (nowMillis) => issue(node.network, ask, nowMillis))
    })
  )
)
