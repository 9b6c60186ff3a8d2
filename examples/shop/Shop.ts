// A shop that takes bitcoin through its own payments service, and ships when a webhook reports that an order is paid. One file stores the shop's
// state across restarts: its orders, its webhook secret, and the events it has handled.
import { Webhooks } from "@satrail/service/http"
import { readFileSync, renameSync, writeFileSync } from "node:fs"
import { createServer, type IncomingMessage, type Server } from "node:http"

interface Kept {
  endpointId: string | null
  secret: string
  readonly orders: Record<string, { readonly item: string; shipped: number }>
  readonly done: Array<string>
}

const nothing: Kept = { endpointId: null, secret: "", orders: {}, done: [] }

export interface Options {
  readonly service: string
  readonly apiKey: string
  readonly file: string
  /** The webhook endpoint has a fixed URL, so a restarted shop must use the same port again. */
  readonly port: number
}

const textOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Array<Uint8Array> = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString("utf8")
}

export const open = async ({ service, apiKey, file, port }: Options) => {
  const read = (): Kept => {
    try {
      return JSON.parse(readFileSync(file, "utf8"))
    } catch {
      return structuredClone(nothing)
    }
  }
  const kept = read()
  // Write another file and rename it, so that the file is always complete.
  const save = () => {
    writeFileSync(`${file}.new`, JSON.stringify(kept))
    renameSync(`${file}.new`, file)
  }

  const ask = async (path: string, body: unknown, key: string) => {
    const response = await fetch(`${service}${path}`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${apiKey}`,
        "content-type": "application/json",
        "idempotency-key": key
      },
      body: JSON.stringify(body)
    })
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    return ((await response.json()) as { readonly data: Readonly<Record<string, string>> }).data
  }

  /** Handles a webhook. Returns 2xx only once the event is on disk. A repeated event changes nothing. */
  const receive = (headers: IncomingMessage["headers"], body: string): number => {
    const event = Webhooks.verify(headers, body, kept.secret)
    if (kept.done.includes(event.id)) return 204
    if (event.type === "invoice.settled") {
      const order = kept.orders[event.data.metadata["order"] ?? ""]
      if (order !== undefined) order.shipped++
    }
    kept.done.push(event.id)
    save()
    return 204
  }

  /** Creates an order and returns its invoice. The order's id is the idempotency key, so clicking twice buys once. */
  const buy = async (order: string, item: string): Promise<string> => {
    kept.orders[order] ??= { item, shipped: 0 }
    save()
    const invoice = { amount: 1000, currency: "sats", description: item, metadata: { order } }
    return (
      (await ask("/v1/bitcoin/deposit/lightning-invoice", invoice, `order-${order}`))["payment_request"] ?? ""
    )
  }

  const server: Server = createServer((request, response) => {
    const answer = async () => {
      if (request.url !== "/webhooks" || request.method !== "POST") return 404
      return receive(request.headers, await textOf(request))
    }
    answer().then(
      (status) => response.writeHead(status).end(),
      (error) => response.writeHead(error instanceof Webhooks.WebhookRefused ? 400 : 500).end()
    )
  })
  // Register before listening: without a secret, the shop cannot verify a webhook.
  if (kept.endpointId === null) {
    const url = `http://127.0.0.1:${port}/webhooks`
    const endpoint = await ask("/v1/webhook-endpoints", { url, types: ["invoice.settled"] }, "shop-webhooks")
    kept.endpointId = endpoint["id"] ?? null
    kept.secret = endpoint["secret"] ?? ""
    save()
  }
  await new Promise<void>((resolve) => {
    server.listen(port, "127.0.0.1", resolve)
  })
  return {
    buy,
    shipped: (order: string): number => kept.orders[order]?.shipped ?? 0,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
  }
}
