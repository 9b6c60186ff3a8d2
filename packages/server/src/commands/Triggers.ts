import { Effect } from "effect"
import type { Trigger } from "@satrail/http/commands/SandboxSteps"
import * as Steps from "@satrail/http/commands/SandboxSteps"
import { all as features } from "@satrail/service/features/commands"

const { created, invoices, sats } = Steps

const paidInvoice = (amount: number) => Effect.map(Steps.paidInvoice(amount), ({ id }) => id)
const toInvoice = (amount: number) => Steps.paidTo("lightning_invoice", amount)
const toAddress = (amount: number) => Steps.paidTo("chain_address", amount)

export const all: ReadonlyArray<Trigger> = [
  { type: "invoice.created", cause: (amount) => created(invoices, sats(amount)) },
  { type: "invoice.settled", cause: paidInvoice },
  {
    type: "invoice.held",
    cause: (amount) => Effect.map(Steps.paidInvoice(amount, { hold: true }), ({ id }) => id)
  },
  { type: "invoice.canceled", cause: (amount) => Steps.canceled(invoices, sats(amount)) },
  { type: "deposit.lightning.completed", cause: paidInvoice },
  { type: "deposit.on_chain.pending", cause: Steps.paidAddress },
  { type: "deposit.on_chain.completed", cause: Steps.paidAddress },
  { type: "withdrawal.lightning.pending", cause: toInvoice },
  { type: "withdrawal.lightning.completed", cause: toInvoice },
  {
    type: "withdrawal.lightning.failed",
    cause: (amount) => Steps.withdrawn(amount, "no-route@wallet.example")
  },
  { type: "withdrawal.on_chain.pending", cause: toAddress },
  { type: "withdrawal.on_chain.completed", cause: toAddress },
  ...features.flatMap(({ triggers = [] }) => triggers),
  { type: "on_chain_address.created", cause: () => Steps.address },
  {
    type: "lightning_address.created",
    cause: () => created("/v1/bitcoin/deposit/lightning-address", {})
  }
]

/** The event names of the `satrail` package, which uses one name for both rails. */
export const aliases: ReadonlyMap<string, string> = new Map([
  ["deposit.settled", "deposit.lightning.completed"],
  ["withdrawal.settled", "withdrawal.lightning.completed"],
  ["withdrawal.failed", "withdrawal.lightning.failed"]
])

export const named = (name: string): Trigger | undefined =>
  all.find(({ type }) => type === (aliases.get(name) ?? name))
