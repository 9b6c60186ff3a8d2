import type { Customers } from "../../story/Customers.ts"
import { listOf, text } from "../../story/Json.ts"
import { type Acts, latest, type Made } from "../../story/Made.ts"
import type { Outsiders } from "../../story/Outsiders.ts"
import type { World } from "../../world/World.ts"
import { path } from "./Plot.ts"

const wanted: ReadonlyArray<ReadonlyArray<string>> = [
  [],
  [],
  ["deposit.*", "withdrawal.*"],
  ["invoice.settled"]
]

/** Requests by endpoint owners, and the behavior of their servers. */
export const acts = (
  customers: Customers,
  _outsiders: Outsiders,
  { endpoints, received }: Made,
  { receivers }: World
): Acts<"CreateEndpoint" | "Webhook" | "Receive"> => {
  let count = 0
  return {
    CreateEndpoint: ({ company, slot, which }) => {
      const owner = latest(customers.companies, company)
      if (owner === undefined) return
      const url = `https://shop${count++}.example/webhooks`
      const types = latest(wanted, which) ?? []
      const ask = {
        slot,
        method: "POST",
        path,
        bearer: owner.bearer,
        once: customers.freshKey(),
        body: JSON.stringify({ url, types })
      } as const
      customers.ask(ask, (data) => {
        const { id: companyId, bearer } = owner
        endpoints.push({
          id: text(data, "id"),
          companyId,
          bearer,
          url,
          types,
          secrets: [text(data, "secret")]
        })
      })
    },
    Webhook: ({ slot, which, what }) => {
      const endpoint = latest(endpoints, which)
      if (endpoint === undefined) return
      const { id, bearer, url } = endpoint
      const post = (action: string, body?: object, made?: (data: unknown) => void) =>
        customers.ask(
          {
            slot,
            method: "POST",
            path: `${path}/${id}/${action}`,
            bearer,
            body: body && JSON.stringify(body)
          },
          made
        )
      switch (what) {
        case "enable":
          return post("enable", {})
        case "rotate":
          return post("rotate-secret", {}, (data) => void endpoint.secrets.push(text(data, "secret")))
        case "replay": {
          // Replay from an event that has arrived, because earlier events may be of types to which the endpoint
          // was not subscribed.
          const from = latest([...(received.get(url) ?? [])], which)
          return from === undefined ? undefined : post("replay", { replay_from: from })
        }
        case "resend":
          return customers.ask(
            { slot, method: "GET", path: `${path}/${id}/deliveries?limit=5`, bearer },
            (data) => {
              const delivery = text(latest(listOf(data), which), "id")
              if (delivery !== "")
                customers.ask({
                  slot,
                  method: "POST",
                  path: `/v1/webhook-deliveries/${delivery}/resend`,
                  bearer
                })
            }
          )
        case "delete":
          return customers.ask({ slot, method: "DELETE", path: `${path}/${id}`, bearer })
        case "disable":
        case "test":
          return post(what)
      }
    },
    Receive: ({ which, behaviour, times }) => {
      const url = latest(endpoints, which)?.url
      if (url !== undefined) receivers.behave(url, behaviour, times)
    }
  }
}
