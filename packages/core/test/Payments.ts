import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import { Sandbox } from "@satrail/sandbox/Sandbox"
import { type Context, Effect } from "effect"
import { Journal } from "../src/ledger/Journal.ts"
import { LightningReceiver } from "../src/nodes/LightningReceiver.ts"
import { LightningSender } from "../src/nodes/LightningSender.ts"
import { type Ports, replace } from "./World.ts"

/** Settles or fails a payment held by an external payee. */
export const release = (paymentHash: PaymentHash.PaymentHash | undefined, outcome: "settle" | "fail") =>
  Effect.flatMap(Sandbox, (sandbox) =>
    sandbox.release({ paymentHash: paymentHash ?? PaymentHash.make(""), outcome })
  )
export const pause = (part: "node" | "web") => Effect.flatMap(Sandbox, (sandbox) => sandbox.pause(part))
export const resume = (part: "node" | "web") => Effect.flatMap(Sandbox, (sandbox) => sandbox.resume(part))

/** Records each commit and each call to the node as it begins. */
export const listening = () => {
  const calls: Array<string> = []
  const note = (call: string) => Effect.sync(() => calls.push(call))
  return {
    calls,
    change: (ports: Context.Context<Ports>) =>
      ports.pipe(
        replace(Journal, (journal) => ({
          commit: (change) => Effect.andThen(note(change._tag), journal.commit(change))
        })),
        replace(LightningSender, (sender) => ({
          pay: (ask) => Effect.andThen(note("pay"), sender.pay(ask)),
          lookupPayment: (hash) => Effect.andThen(note("lookup"), sender.lookupPayment(hash))
        })),
        replace(LightningReceiver, (receiver) => ({
          cancelInvoice: (hash) => Effect.andThen(note("cancel"), receiver.cancelInvoice(hash))
        }))
      )
  }
}

/** Changes how the node sends payments. */
export const sending = (
  change: (sender: LightningSender["Service"]) => Partial<LightningSender["Service"]>
) => replace(LightningSender, (sender) => ({ ...change(sender) }))
