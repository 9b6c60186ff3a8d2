import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import * as Msat from "@satrail/bitcoin/Msat"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import type { Behaviour } from "@satrail/contracts/LightningSender"
import { Result } from "effect"
import { createHash, randomBytes } from "node:crypto"
import { once } from "node:events"
import { createServer } from "node:http"
import type { Socket } from "node:net"
import { setTimeout as pass } from "node:timers/promises"

// A simulated lightningd. It has lightningd's commands, error codes and pitfalls, such as an error from xpay
// while a part is still in flight.

const key = new Uint8Array(32).fill(3)
const payeeKey = new Uint8Array(32).fill(5)

export const rune = "rune-of-the-tests"
/** Allows every command except paying. */
export const readOnlyRune = "read-only-rune-of-the-tests"
/** Routing fee to any payee, in msat. */
export const routeFee = 1_000n

class Failed extends Error {
  readonly code: number
  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

interface Invoice {
  readonly label: string
  readonly bolt11: string
  readonly payment_hash: string
  /** Undefined if the payer chooses the amount. */
  readonly amount: bigint | undefined
  readonly preimage: string
  readonly expiresAtMillis: number
  paid?: { readonly index: number; readonly amount: bigint; readonly at: number }
}

interface Payee {
  readonly preimage: string
  readonly behaviour: Behaviour | "retry"
  received: bigint
}

interface Part {
  readonly hash: string
  readonly groupid: number
  readonly amount: bigint
  readonly created_at: number
  status: "pending" | "complete" | "failed"
}

const sha256 = (hex: string) => createHash("sha256").update(hex, "hex").digest("hex")
const text = (value: unknown) => String(value ?? "")
const number = (value: unknown) => Number(value ?? 0)

const issue = (
  privateKey: Uint8Array,
  ask: { preimage: string; amount?: bigint | undefined; description: string; expirySeconds: number }
) =>
  Result.getOrThrow(
    Bolt11.encode(
      {
        network: "regtest",
        ...(ask.amount !== undefined && { amount: Msat.make(ask.amount) }),
        timestampSeconds: Math.floor(Date.now() / 1000),
        paymentHash: PaymentHash.make(sha256(ask.preimage)),
        paymentSecret: randomBytes(32).toString("hex"),
        description: ask.description,
        expirySeconds: ask.expirySeconds,
        minFinalCltvExpiry: 80
      },
      Bolt11.signWith(privateKey)
    )
  )

/** Starts a daemon that keeps all of its state in this process. */
export const make = async () => {
  const invoices = new Map<string, Invoice>()
  const notes = new Map<string, string>()
  const payees = new Map<string, Payee>()
  const parts: Array<Part> = []
  const retries = new Map<string, () => void>()
  let payIndex = 0
  let commands = 0
  let isCut = false
  const sockets = new Set<Socket>()

  const rowOf = (invoice: Invoice) => ({
    label: invoice.label,
    bolt11: invoice.bolt11,
    payment_hash: invoice.payment_hash,
    ...(invoice.amount !== undefined && { amount_msat: Number(invoice.amount) }),
    ...(invoice.paid === undefined
      ? { status: Date.now() > invoice.expiresAtMillis ? "expired" : "unpaid" }
      : {
          status: "paid",
          pay_index: invoice.paid.index,
          amount_received_msat: Number(invoice.paid.amount),
          paid_at: invoice.paid.at,
          payment_preimage: invoice.preimage
        })
  })

  const nodeId = Result.getOrThrow(Bolt11.decode(issue(key, { preimage: "00".repeat(32), description: "", expirySeconds: 60 }))).payee

  const begin = (hash: string, amount: bigint): Part => {
    const part: Part = { hash, groupid: parts.length + 1, amount, created_at: Math.floor(Date.now() / 1000), status: "pending" }
    parts.push(part)
    return part
  }
  const settle = (part: Part, payee: Payee) => {
    part.status = "complete"
    payee.received += part.amount
    return { payment_preimage: payee.preimage, amount_msat: Number(part.amount), amount_sent_msat: Number(part.amount + routeFee) }
  }

  const xpay = async (asked: Readonly<Record<string, unknown>>) => {
    commands++
    const invoice = Result.getOrThrow(Bolt11.decode(text(asked["invstring"])))
    const hash = invoice.paymentHash
    const payee = payees.get(hash)
    if (parts.some((part) => part.hash === hash && part.status === "complete")) throw new Failed(219, "Already paid")
    if (payee === undefined || number(asked["maxfee"]) < Number(routeFee)) throw new Failed(205, "No path found")
    const amount = invoice.amount ?? BigInt(number(asked["amount_msat"]))
    const part = begin(hash, amount)
    await pass(20)
    switch (payee.behaviour) {
      case "settle":
        return settle(part, payee)
      case "fail":
        part.status = "failed"
        throw new Failed(203, "Destination refuses")
      case "hold":
        throw new Failed(209, "Timed out, and a part is still pending")
      case "retry": {
        part.status = "failed"
        await new Promise<void>((resolve) => {
          retries.set(hash, resolve)
        })
        return settle(begin(hash, amount), payee)
      }
    }
  }

  const carryOut = async (command: string, asked: Readonly<Record<string, unknown>>): Promise<unknown> => {
    switch (command) {
      case "getinfo":
        return { id: nodeId, version: "v26.06.10", network: "regtest" }
      case "invoice": {
        const label = text(asked["label"])
        if ([...invoices.values()].some((one) => one.label === label)) throw new Failed(900, "Duplicate label")
        const preimage = text(asked["preimage"])
        const amount = asked["amount_msat"] === "any" ? undefined : BigInt(number(asked["amount_msat"]))
        const hash = sha256(preimage)
        if (invoices.has(hash)) throw new Failed(901, "Preimage already used")
        const expirySeconds = number(asked["expiry"])
        const bolt11 = issue(key, { preimage, amount, description: text(asked["description"]), expirySeconds })
        const expiresAtMillis = Date.now() + expirySeconds * 1000
        invoices.set(hash, { label, bolt11, payment_hash: hash, amount, preimage, expiresAtMillis })
        return { payment_hash: hash, bolt11 }
      }
      case "listinvoices": {
        const found = [...invoices.values()].filter(
          ({ label, payment_hash }) => label === asked["label"] || payment_hash === asked["payment_hash"]
        )
        return { invoices: found.map(rowOf) }
      }
      case "delinvoice": {
        const found = [...invoices.values()].find(({ label }) => label === asked["label"])
        if (found === undefined) throw new Failed(905, "Unknown invoice")
        if (rowOf(found).status !== asked["status"]) throw new Failed(906, "Invoice status is not that")
        invoices.delete(found.payment_hash)
        return rowOf(found)
      }
      case "datastore":
        notes.set(JSON.stringify(asked["key"]), text(asked["string"]))
        return {}
      case "listdatastore": {
        const note = notes.get(JSON.stringify(asked["key"]))
        return { datastore: note === undefined ? [] : [{ key: asked["key"], string: note }] }
      }
      case "waitanyinvoice": {
        for (const endsAtMillis = Date.now() + number(asked["timeout"]) * 1000; Date.now() < endsAtMillis; await pass(10)) {
          const paid = [...invoices.values()].filter((one) => (one.paid?.index ?? 0) > number(asked["lastpay_index"]))
          const [first] = paid.toSorted((one, other) => (one.paid?.index ?? 0) - (other.paid?.index ?? 0))
          if (first !== undefined) return rowOf(first)
        }
        throw new Failed(904, "Timed out")
      }
      case "xpay":
        return xpay(asked)
      case "listsendpays":
        return {
          payments: parts
            .filter(({ hash }) => hash === asked["payment_hash"])
            .map(({ hash, status, groupid, amount, created_at }) => ({
              payment_hash: hash,
              status,
              groupid,
              created_at,
              amount_msat: Number(amount),
              amount_sent_msat: Number(amount + routeFee),
              ...(status === "complete" && { payment_preimage: payees.get(hash)?.preimage })
            }))
        }
      case "waitsendpay":
        throw new Failed(203, "Destination refuses")
      case "getroutes": {
        const isKnown = asked["destination"] === payeeId
        if (!isKnown || number(asked["maxfee_msat"]) < Number(routeFee)) throw new Failed(205, "No path found")
        const amount_msat = number(asked["amount_msat"]) + Number(routeFee)
        return { probability_ppm: 950_000, routes: [{ path: [{ amount_msat }, { amount_msat: number(asked["amount_msat"]) }] }] }
      }
      default:
        throw new Failed(-32601, `Unknown command '${command}'`)
    }
  }

  const payeeId = Result.getOrThrow(Bolt11.decode(issue(payeeKey, { preimage: "00".repeat(32), description: "", expirySeconds: 60 }))).payee

  const server = createServer((request, response) => {
    let body = ""
    request.setEncoding("utf8").on("data", (part: string) => (body += part))
    request.once("end", async () => {
      try {
        const command = (request.url ?? "").replace("/v1/", "")
        const isAllowed = request.headers["rune"] === rune || (request.headers["rune"] === readOnlyRune && command !== "xpay")
        if (!isAllowed) throw new Failed(1501, "Not authorized")
        const answer = await carryOut(command, JSON.parse(body))
        response.writeHead(201, { "content-type": "application/json" }).end(JSON.stringify(answer))
      } catch (error) {
        const { code, message } = error instanceof Failed ? error : { code: -1, message: String(error) }
        response.writeHead(500, { "content-type": "application/json" }).end(JSON.stringify({ code, message }))
      }
    })
  })
  server.on("connection", (socket: Socket) => {
    if (isCut) socket.destroy()
    sockets.add(socket)
    socket.once("close", () => sockets.delete(socket))
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0

  return {
    url: `http://127.0.0.1:${port}`,
    commands: () => commands,
    /** Pays one of the node's invoices as an external payer. */
    pay: (bolt11: string, amount?: bigint): void => {
      const { paymentHash } = Result.getOrThrow(Bolt11.decode(bolt11))
      const invoice = invoices.get(paymentHash)
      const sent = amount ?? invoice?.amount
      if (invoice === undefined || sent === undefined || rowOf(invoice).status !== "unpaid" || sent < (invoice.amount ?? 1n))
        throw new Error("incorrect_or_unknown_payment_details")
      invoice.paid = { index: ++payIndex, amount: sent, at: Math.floor(Date.now() / 1000) }
    },
    /** Creates an invoice from an external payee. */
    payee: (behaviour: Payee["behaviour"], amount?: bigint): string => {
      const preimage = randomBytes(32).toString("hex")
      payees.set(sha256(preimage), { preimage, behaviour, received: 0n })
      return issue(payeeKey, { preimage, ...(amount !== undefined && { amount }), description: "", expirySeconds: 3600 })
    },
    /** Creates an invoice from a payee that no route reaches. */
    hermit: (amount: bigint): string =>
      issue(new Uint8Array(32).fill(9), { preimage: randomBytes(32).toString("hex"), amount, description: "", expirySeconds: 3600 }),
    received: (hash: string): bigint => payees.get(hash)?.received ?? 0n,
    release: (hash: string, outcome: "settle" | "fail"): void => {
      const payee = payees.get(hash)
      for (const part of parts) {
        if (part.hash !== hash || part.status !== "pending" || payee === undefined) continue
        if (outcome === "settle") settle(part, payee)
        else part.status = "failed"
      }
    },
    /** Returns whether a failed payment is waiting for `retry`, which makes the second attempt. */
    waits: (hash: string): boolean => retries.has(hash),
    retry: (hash: string): void => retries.get(hash)?.(),
    cut: (): void => {
      isCut = true
      for (const socket of sockets) socket.destroy()
    },
    mend: (): void => {
      isCut = false
    },
    end: (): void => {
      for (const socket of sockets) socket.destroy()
      server.close()
    }
  }
}
