import type { Network } from "@satrail/bitcoin/Network"
import type * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import type * as Preimage from "@satrail/bitcoin/Preimage"
import { ChainBooks } from "@satrail/core/nodes/ChainBooks"
import { type Activity, ChainSource, ChainUnavailable } from "@satrail/core/nodes/ChainSource"
import { type Batch, ChainWallet, type Unfundable } from "@satrail/core/nodes/ChainWallet"
import { LightningBooks } from "@satrail/core/nodes/LightningBooks"
import { LightningReceiver, NodeUnavailable, type Settled } from "@satrail/core/nodes/LightningReceiver"
import { LightningSender } from "@satrail/core/nodes/LightningSender"
import { RecipientUnreachable, Resolver } from "@satrail/core/nodes/Resolver"
import { Signer, SignerUnavailable } from "@satrail/core/nodes/Signer"
import { Sandbox } from "@satrail/sandbox/Sandbox"
import { Context, Effect, Layer, Option, Redacted, Schema, Stream } from "effect"
import * as Wire from "./Wire.ts"

/**
 * The longest time for which a dead process's last call may still be on its way to the network. By default as long as
 * calls take: the network runs on the same machine and handles calls one by one.
 */
const graceMillis = Number(process.env["GRACE_MILLIS"] ?? 2000)

const decodeFailure = Schema.decodeSync(Wire.Failure)

type Away = (cause: unknown, member: string) => Effect.Effect<unknown, unknown>

/** The error a caller of each port receives when the network does not respond. */
const node: Away = (cause, operation) => Effect.fail(new NodeUnavailable({ operation, cause }))
const chain: Away = (cause, operation) => Effect.fail(new ChainUnavailable({ operation, cause }))
const signer: Away = (cause) => Effect.fail(new SignerUnavailable({ cause }))
const web: Away = (cause) => Effect.fail(new RecipientUnreachable({ reason: String(cause) }))
const unknown: Away = () => Effect.succeed({ _tag: "unknown" })
const broken: Away = (cause) => Effect.die(cause)

const make = Effect.fnUntraced(function* (url: string) {
  const post = (question: Wire.Question) =>
    Effect.tryPromise({
      try: async (signal) => {
        const response = await fetch(url, { method: "POST", body: Wire.toBytes(question), signal })
        return Wire.replyOf(new Uint8Array(await response.arrayBuffer()))
      },
      catch: (cause) => cause
    })
  const ask = (
    port: string,
    member: string,
    away: Away,
    args: ReadonlyArray<unknown>
  ): Effect.Effect<unknown, unknown> =>
    Effect.matchEffect(post({ port, member, args }), {
      onFailure: (cause) => away(cause, member),
      onSuccess: (reply): Effect.Effect<unknown, unknown> => {
        switch (reply._tag) {
          case "Success":
            return Effect.succeed(reply.value)
          case "Failure":
            return Effect.fail(decodeFailure(reply.failure))
          case "Defect":
            return Effect.die(new Error(reply.message))
        }
      }
    })
  // The other end serves the same port, so values and errors have the member's type.
  const value = <A>(port: string, member: string, away: Away): A => ask(port, member, away, []) as A
  const method = <F>(port: string, member: string, away: Away): F =>
    ((...args: ReadonlyArray<unknown>) => ask(port, member, away, args)) as F

  const about = <A>(member: string) => value<Effect.Effect<A>>("about", member, broken)
  const network = yield* about<Network>("network")

  const next = method<(after: string | null) => Effect.Effect<Settled | undefined, NodeUnavailable>>(
    "receiver",
    "settlements",
    node
  )
  const cancelInvoice = method<
    (
      hash: PaymentHash.PaymentHash
    ) => Effect.Effect<
      | { readonly _tag: "canceled"; readonly preimage: Preimage.Preimage }
      | { readonly _tag: "accepted" | "settled" },
      NodeUnavailable
    >
  >("receiver", "cancelInvoice", node)
  const everything = method<(after: string | null) => Effect.Effect<Activity, ChainUnavailable>>(
    "chain",
    "activity",
    chain
  )
  const build = method<
    (
      ask: Omit<Parameters<ChainWallet["Service"]["build"]>[0], "free">,
      free: ReadonlySet<string> | undefined
    ) => Effect.Effect<
      { readonly draft: Batch } | { readonly candidates: ReadonlyArray<string> },
      Unfundable | ChainUnavailable
    >
  >("wallet", "build", chain)

  return Context.make(
    LightningReceiver,
    LightningReceiver.of({
      nodeId: yield* about<string>("nodeId"),
      network,
      createInvoice: method("receiver", "createInvoice", node),
      lookupInvoice: method("receiver", "lookupInvoice", node),
      cancelInvoice: (paymentHash) =>
        Effect.map(cancelInvoice(paymentHash), (canceled) =>
          canceled._tag === "canceled"
            ? { _tag: "canceled", preimage: Redacted.make(canceled.preimage) }
            : { _tag: canceled._tag }
        ),
      settlements: (after) =>
        Stream.paginate(after, (cursor) =>
          Effect.map(next(cursor), (settled) =>
            settled === undefined
              ? [[], Option.some(cursor)]
              : [[settled], Option.some<string | null>(settled.cursor)]
          )
        )
    })
  ).pipe(
    Context.add(
      LightningSender,
      LightningSender.of({
        graceMillis,
        pay: method("sender", "pay", unknown),
        lookupPayment: method("sender", "lookupPayment", unknown),
        ends: Stream.empty, // streams are not forwarded, so payments are polled
        quote: method("sender", "quote", node)
      })
    ),
    Context.add(
      ChainSource,
      ChainSource.of({
        tip: value("chain", "tip", chain),
        // A callback cannot be sent, so the other end returns all activity, and `ours` filters it here.
        activity: (after, ours) =>
          Effect.gen(function* () {
            const told = yield* everything(after)
            const mine = yield* ours(told.outputs.map(({ scriptPubKey }) => scriptPubKey))
            return { ...told, outputs: told.outputs.filter(({ scriptPubKey }) => mine.has(scriptPubKey)) }
          }),
        transaction: method("chain", "transaction", chain),
        rawTransaction: method("chain", "rawTransaction", chain),
        timeSecondsAt: method("chain", "timeSecondsAt", chain),
        broadcast: method("chain", "broadcast", unknown),
        feeRate: value("chain", "feeRate", chain)
      })
    ),
    Context.add(
      ChainWallet,
      ChainWallet.of({
        fingerprint: yield* about<string>("fingerprint"),
        network,
        newAddress: method("wallet", "newAddress", chain),
        build: ({ free, ...ask }) =>
          Effect.gen(function* () {
            const asked = yield* build(ask, undefined)
            const built = "draft" in asked ? asked : yield* build(ask, yield* free(asked.candidates))
            return "draft" in built
              ? built.draft
              : yield* Effect.die(new Error("the wallet asked again after it received the free coins"))
          })
      })
    ),
    Context.add(
      LightningBooks,
      LightningBooks.of({
        owned: value("books", "owned", node),
        capacity: value("books", "capacity", node),
        sent: method("books", "sent", node),
        taken: method("books", "taken", node)
      })
    ),
    Context.add(ChainBooks, ChainBooks.of({ holdings: value("chainBooks", "holdings", chain) })),
    Context.add(Signer, Signer.of({ sign: method("signer", "sign", signer) })),
    Context.add(
      Resolver,
      Resolver.of({ offer: method("resolver", "offer", web), invoice: method("resolver", "invoice", web) })
    ),
    Context.add(
      Sandbox,
      Sandbox.of({
        pay: method("sandbox", "pay", broken),
        destination: method("sandbox", "destination", broken),
        release: method("sandbox", "release", broken),
        send: method("sandbox", "send", broken),
        sendMany: method("sandbox", "sendMany", broken),
        mine: method("sandbox", "mine", broken),
        reorg: method("sandbox", "reorg", broken),
        setFeeRate: method("sandbox", "setFeeRate", broken),
        doubleSpend: method("sandbox", "doubleSpend", broken),
        loseNextNotice: value("sandbox", "loseNextNotice", broken),
        pause: method("sandbox", "pause", broken),
        resume: method("sandbox", "resume", broken),
        payments: value("sandbox", "payments", broken),
        outputsTo: method("sandbox", "outputsTo", broken),
        localBalance: value("sandbox", "localBalance", broken),
        survey: Effect.die(new Error("the survey is available only in the network's process")),
        // To read the whole state, open the sandbox's directory.
        state: Effect.die(new Error("the state is available only in the network's process"))
      })
    )
  )
})

/** A simulated network in its own process at `url`, as each connected process sees it. */
export const layer = (url: string) => Layer.effectContext(make(url))
