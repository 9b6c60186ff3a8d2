import type * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import { ChainBooks } from "@satrail/core/nodes/ChainBooks"
import { ChainSource } from "@satrail/core/nodes/ChainSource"
import { ChainWallet } from "@satrail/core/nodes/ChainWallet"
import { LightningBooks } from "@satrail/core/nodes/LightningBooks"
import { LightningReceiver } from "@satrail/core/nodes/LightningReceiver"
import { LightningSender } from "@satrail/core/nodes/LightningSender"
import { Resolver } from "@satrail/core/nodes/Resolver"
import { Signer } from "@satrail/core/nodes/Signer"
import { Sandbox } from "@satrail/sandbox/Sandbox"
import { boundPort } from "@satrail/testing/boundPort"
import { Cause, Context, Effect, Exit, Option, Redacted, Result, Schema, Stream } from "effect"
import { createServer, type IncomingMessage } from "node:http"
import { buffer } from "node:stream/consumers"
import * as Wire from "./Wire.ts"

/** Everything outside our processes. */
export type Ports =
  | LightningReceiver
  | LightningSender
  | LightningBooks
  | ChainBooks
  | ChainSource
  | ChainWallet
  | Signer
  | Resolver
  | Sandbox

/** How long to wait for the next settlement before the caller has to repeat the request. */
const nextWithinMillis = 5000

/**
 * The coins from which a wallet would choose. The caller finds out which are free, then asks the wallet
 * again.
 */
class Candidates extends Error {
  readonly outpoints: ReadonlyArray<string>
  constructor(outpoints: ReadonlyArray<string>) {
    super("which of these are free?")
    this.outpoints = outpoints
  }
}

type Payout = Omit<Parameters<ChainWallet["Service"]["build"]>[0], "free">

/**
 * The ports in a form that another process can call. Members that take callbacks or values that cannot be
 * serialized are split into steps.
 */
const askable = (ports: Context.Context<Ports>) => {
  const receiver = Context.get(ports, LightningReceiver)
  const chain = Context.get(ports, ChainSource)
  const sender = Context.get(ports, LightningSender)
  const wallet = Context.get(ports, ChainWallet)
  return {
    about: {
      nodeId: Effect.succeed(receiver.nodeId),
      network: Effect.succeed(receiver.network),
      fingerprint: Effect.succeed(wallet.fingerprint)
    },
    receiver: {
      ...receiver,
      cancelInvoice: (paymentHash: PaymentHash.PaymentHash) =>
        Effect.map(receiver.cancelInvoice(paymentHash), (canceled) =>
          canceled._tag === "canceled"
            ? { ...canceled, preimage: Redacted.value(canceled.preimage) }
            : canceled
        ),
      settlements: (after: string | null) =>
        receiver
          .settlements(after)
          .pipe(
            Stream.runHead,
            Effect.timeoutOption(nextWithinMillis),
            Effect.map(Option.flatten),
            Effect.map(Option.getOrUndefined)
          )
    },
    sender,
    chain: {
      ...chain,
      activity: (after: string | null) => chain.activity(after, (scripts) => Effect.succeed(new Set(scripts)))
    },
    wallet: {
      ...wallet,
      build: (ask: Payout, free: ReadonlySet<string> | undefined) =>
        wallet
          .build({
            ...ask,
            free: (outpoints) =>
              free === undefined ? Effect.fail(new Candidates(outpoints)) : Effect.succeed(free)
          })
          .pipe(
            Effect.map((draft) => ({ draft })),
            Effect.catch((error) =>
              error instanceof Candidates
                ? Effect.succeed({ candidates: error.outpoints })
                : Effect.fail(error)
            )
          )
    },
    books: Context.get(ports, LightningBooks),
    chainBooks: Context.get(ports, ChainBooks),
    signer: Context.get(ports, Signer),
    resolver: Context.get(ports, Resolver),
    sandbox: Context.get(ports, Sandbox)
  }
}

const encodeFailure = Schema.encodeUnknownSync(Wire.Failure)

const replyFor = (exit: Exit.Exit<unknown, unknown>): Wire.Reply => {
  if (Exit.isSuccess(exit)) return { _tag: "Success", value: exit.value }
  const failure = Cause.findError(exit.cause)
  return Result.isSuccess(failure)
    ? { _tag: "Failure", failure: encodeFailure(failure.success) }
    : { _tag: "Defect", message: Cause.pretty(exit.cause) }
}

/** Serves these ports to other processes until the scope closes. Returns the local TCP port. */
export const serve = (ports: Context.Context<Ports>, port = 0) => {
  const members: { readonly [port: string]: { readonly [member: string]: unknown } } = askable(ports)
  const answer = async (request: IncomingMessage, signal: AbortSignal): Promise<Wire.Reply> => {
    const { port, member, args } = Wire.questionOf(await buffer(request))
    const found = members[port]?.[member]
    // A port's member is an effect or a function that returns one.
    const asked = (typeof found === "function" ? found(...args) : found) as Effect.Effect<unknown, unknown>
    return replyFor(await Effect.runPromiseExit(asked, { signal }))
  }
  return Effect.acquireRelease(
    Effect.promise(async () => {
      const server = createServer((request, response) => {
        const gone = new AbortController()
        response.once("close", () => gone.abort())
        answer(request, gone.signal).then(
          (reply) => response.end(Wire.toBytes(reply)),
          (cause: unknown) => response.destroy(cause instanceof Error ? cause : new Error(String(cause)))
        )
      }).listen(port, "127.0.0.1")
      // The server must not close an idle connection while a process that was busy sends its next call on it.
      server.keepAliveTimeout = 0
      return { server, port: await boundPort(server) }
    }),
    ({ server }) =>
      Effect.promise(async () => {
        server.close()
        server.closeAllConnections()
      })
  ).pipe(Effect.map(({ port }) => port))
}
