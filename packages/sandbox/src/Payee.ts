import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import type * as Msat from "@satrail/bitcoin/Msat"
import * as Preimage from "@satrail/bitcoin/Preimage"
import type { Description } from "@satrail/core/nodes/LightningReceiver"
import { hex } from "@scure/base"
import { Result } from "effect"
import type { Behaviour, LightningEvent } from "./Event.ts"
import type * as Lightning from "./Lightning.ts"
import * as Network from "./Network.ts"
import type { World } from "./World.ts"

/** The terms of an external payee. */
export interface Ask {
  /** If absent, the payer chooses the amount. */
  readonly amount?: Msat.Msat | undefined
  readonly behaviour: Behaviour
  /** One of `Network.allPayees`, or null for the next one in turn. */
  readonly payee: string | null
  readonly description: Description
  readonly expirySeconds: number
  /** Number of blocks for which the last hop may hold the payment. Defaults to BOLT 11's 18. */
  readonly minFinalCltvExpiry?: number | undefined
  readonly nowMillis: number
}

/** Returns the next payee in turn, or the unreachable payee if the behavior requires it. */
export const turn = (behaviour: Behaviour, number: number): string =>
  behaviour === "no_route"
    ? Network.payees.cut
    : (Network.payees.usual[number % Network.payees.usual.length] ?? Network.payees.cut)

type Invoiced = Extract<LightningEvent, { readonly _tag: "PayeeInvoiced" }>

const preimageAt = (world: World, number: number) =>
  Preimage.make(hex.encode(world.keys.secret(`payee/${world.run}${number}`)))

/** Returns the preimage of an external invoice. */
export const preimageOf = (world: World, invoice: Lightning.PayeeInvoice): Preimage.Preimage =>
  preimageAt(world, invoice.number)

/** An external invoice, signed by its payee. */
export const invoiced = (world: World, state: Lightning.State, ask: Ask): Invoiced => {
  const { amount, behaviour, description, expirySeconds } = ask
  const number = state.payeeInvoiceCount
  const payee = ask.payee ?? turn(behaviour, number)
  const paymentHash = Preimage.hashOf(preimageAt(world, number))
  const timestampSeconds = Math.floor(ask.nowMillis / 1000)
  // The only input from a caller is the amount, which is within its bounds.
  const paymentRequest = Result.getOrThrow(
    Bolt11.encode(
      {
        network: world.network,
        ...(amount !== undefined && { amount }),
        timestampSeconds,
        paymentHash,
        paymentSecret: hex.encode(world.keys.secret(`payeeSecret/${world.run}${number}`)),
        ...(description._tag === "Text"
          ? { description: description.text }
          : { descriptionHash: description.sha256 }),
        expirySeconds,
        ...(ask.minFinalCltvExpiry !== undefined && { minFinalCltvExpiry: ask.minFinalCltvExpiry })
      },
      Bolt11.signWith(world.keys.node(payee).privateKey)
    )
  )
  return {
    _tag: "PayeeInvoiced",
    paymentHash,
    paymentRequest,
    payee,
    number,
    amount: amount ?? null,
    behaviour,
    expiresAtMillis: (timestampSeconds + expirySeconds) * 1000
  }
}
