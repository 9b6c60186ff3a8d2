import * as Msat from "@satrail/bitcoin/Msat"
import type { Cells, Registry } from "@satrail/core/accounts/Cells"
import { StoreUnavailable } from "@satrail/core/ledger/Journal"
import { LightningReceiver } from "@satrail/core/nodes/LightningReceiver"
import { LightningSender } from "@satrail/core/nodes/LightningSender"
import { RecipientRefused, RecipientUnreachable, Resolver } from "@satrail/core/nodes/Resolver"
import * as CellRegistry from "@satrail/memory/CellRegistry"
import * as Lightning from "@satrail/sandbox/Lightning"
import * as Network from "@satrail/sandbox/Network"
import * as Sandbox from "@satrail/sandbox/Sandbox"
import { Context, Effect, HashMap } from "effect"
import type { Store } from "./Store.ts"
import * as World from "./World.ts"

// Two cells of one service: two worlds in one network of nodes, each with books and a chain of its own. What one pays the other is, as each of them
// sees it, a payment to or from the outside: so everything that is held against one service holds against each.

type State = Effect.Effect<Effect.Success<Sandbox.Sandbox["Service"]["state"]>>

/** What a node's service is held against: its own invoices and payments. An invoice of the other node that it paid is an outsider's. */
const seenBy = (node: string, lightning: Lightning.State): Lightning.State => {
  const [other = ""] = Network.services.filter((one) => one !== node)
  const own = <A>(all: HashMap.HashMap<string, A>): HashMap.HashMap<string, A> =>
    HashMap.fromIterable(
      HashMap.toEntries(all).flatMap(([at, one]) =>
        at.startsWith(`${node}/`) ? [[`${Network.us}${at.slice(node.length)}`, one] as const] : []
      )
    )
  const isPaid = (hash: Lightning.Invoice["paymentHash"], by: string) => Lightning.sent(lightning, hash, by)?.stage._tag === "settled"
  const theirs = HashMap.toValues(lightning.invoices).flatMap((one) =>
    one.node === other && one.stage._tag === "settled" && isPaid(one.paymentHash, node)
      ? [[one.paymentHash, { ...elsewhere, paymentHash: one.paymentHash, times: 1, received: one.stage.received }] as const]
      : []
  )
  const outsiders = HashMap.filter(lightning.payeeInvoices, (_, hash) => Lightning.sent(lightning, hash, other) === undefined)
  return {
    ...lightning,
    invoices: HashMap.filter(lightning.invoices, (one) => one.node === node),
    payeeInvoices: HashMap.union(outsiders, HashMap.fromIterable(theirs)),
    sent: own(lightning.sent),
    tried: own(lightning.tried),
    attempts: own(lightning.attempts)
  }
}

/** What nobody looks at of an invoice of the other cell. */
const elsewhere = {
  paymentRequest: "",
  payee: "another cell",
  number: -1,
  amount: null,
  behaviour: "settle",
  expiresAtMillis: 0
} as const

/** Asks the front of a cell; undefined where nobody answers. */
export type Ask = (path: string, done: (text: string | undefined) => void) => void

/** Finds the addresses of the other cell at its front, and all others as before. */
const crossing = (inner: Resolver["Service"], host: string, ask: Ask): Resolver["Service"] => {
  const asked = (url: URL) =>
    Effect.callback<object, RecipientRefused | RecipientUnreachable>((resume) =>
      ask(url.pathname + url.search, (text) => {
        const members: unknown = text === undefined ? undefined : JSON.parse(text)
        if (typeof members !== "object" || members === null) return resume(new RecipientUnreachable({ reason: "no answer" }))
        return resume("status" in members ? new RecipientRefused({ reason: "its server says no" }) : Effect.succeed(members))
      })
    )
  return Resolver.of({
    offer: (url) =>
      new URL(url).host === host
        ? Effect.map(asked(new URL(url)), (members) => {
            const member = (name: string): string => String(new Map(Object.entries(members)).get(name))
            const [min, max] = [Msat.make(BigInt(member("minSendable"))), Msat.make(BigInt(member("maxSendable")))]
            return { callback: member("callback"), metadata: member("metadata"), min, max }
          })
        : inner.offer(url),
    invoice: (offer, amount) =>
      new URL(offer.callback).host === host
        ? Effect.map(asked(new URL(`${offer.callback}?amount=${amount}`)), (members) => ({
            paymentRequest: "pr" in members ? String(members.pr) : "",
            successAction: null
          }))
        : inner.invoice(offer, amount)
  })
}

const letters = ["a", "b"] as const

/** The hosts of both. */
export const hosts = ["a.pay.example", "b.pay.example"] as const

const away = (operation: string) => new StoreUnavailable({ operation, cause: "no answer" })

/** The registry of both, which is away now and then, before it does what it is asked or after. */
const registryOf = ({ random }: World.Common): Registry => {
  const { claim, handOver, holder } = CellRegistry.make()
  const wobbly = <A>(operation: string, work: Effect.Effect<A, StoreUnavailable>) =>
    Effect.suspend(() => {
      if (random().chance(0.05)) return away(operation)
      return Effect.flatMap(work, (done) => (random().chance(0.05) ? away(operation) : Effect.succeed(done)))
    })
  return {
    claim: (...asked) => wobbly("claim", claim(...asked)),
    handOver: (...asked) => wobbly("handOver", handOver(...asked)),
    holder: (handle) => wobbly("holder", holder(handle))
  }
}

/** Two worlds, one network. `ask` reaches the front of the first or the second. */
export const worlds = async (
  seed: number,
  store: Store,
  spoil: World.Spoil,
  ask: (which: 0 | 1) => Ask
): Promise<readonly [World.World, World.World]> => {
  const first = await World.make(seed, store, spoil)
  const second = await World.make(seed + 1, store, (ports) => ports, first)
  const registry = registryOf(first)
  const origins = new Map(letters.map((letter, i) => [letter, `https://${hosts[i]}`]))
  const cellsOf = (letter: string): Cells => ({ letter, origins, registry })
  const { receiver, sender, localBalance } = Context.get(first.outside.ports, Sandbox.Neighbour)
  const resolver = Context.get(first.outside.ports, Resolver)
  const seen = (node: string, state: State) =>
    Effect.map(state, ({ lightning, ...others }) => ({ ...others, lightning: seenBy(node, lightning) }))
  const [one, other] = [first.sandbox, second.sandbox]
  return [
    {
      ...first,
      cells: cellsOf("a"),
      sandbox: { ...one, state: seen(Network.us, one.state) },
      ports: Context.add(first.ports, Resolver, crossing(resolver, hosts[1], ask(1)))
    },
    {
      ...second,
      cells: cellsOf("b"),
      // Its node is in the first one's network, and everybody whom it pays; its chain and its wallet are its own.
      sandbox: {
        ...other,
        pay: one.pay,
        release: one.release,
        destination: (asked) => (asked.type === "chain_address" ? other : one).destination(asked),
        payments: one.payments,
        localBalance,
        state: Effect.flatMap(other.state, ({ chain }) => Effect.map(seen(Network.neighbour, one.state), (state) => ({ ...state, chain })))
      },
      ports: second.ports.pipe(
        Context.add(LightningReceiver, receiver),
        Context.add(LightningSender, sender),
        Context.add(Resolver, crossing(resolver, hosts[0], ask(0)))
      )
    }
  ]
}

/** How many invoices of the other cell this one's node has paid. */
export const crossings = ({ now, sandbox }: World.World): number => {
  const exit = now(sandbox.state)
  if (exit._tag === "Failure") throw new Error("the sandbox always tells its state")
  return HashMap.size(HashMap.filter(exit.value.lightning.payeeInvoices, ({ payee }) => payee === elsewhere.payee))
}
