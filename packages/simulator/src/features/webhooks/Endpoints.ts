import type { Deliveries, Known } from "./Deliveries.ts"
import { claim } from "../../checks/Violation.ts"
import type { Company, Customers } from "../../story/Customers.ts"
import { member, text } from "../../story/Json.ts"
import { type Acts, latest } from "../../story/Made.ts"
import type { Stage } from "../../story/Stage.ts"

/** The webhook endpoints of companies, and what they do about them. */
export interface Endpoints {
  readonly acts: Acts<"CreateEndpoint" | "Webhook" | "Receive">
  /** Servers answer as they should, and their owners have everything sent again that was not sent. */
  readonly recover: () => Promise<void>
  /** What companies were sent is what they can read. Only while nothing happens. */
  readonly compare: () => Promise<void>
}

const path = "/v1/webhook-endpoints"
const wanted: ReadonlyArray<ReadonlyArray<string>> = [[], [], ["deposit.*", "withdrawal.*"], ["invoice.settled"]]

const listOf = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

export const make = (stage: Stage, customers: Customers, deliveries: Deliveries): Endpoints => {
  const { receivers } = stage.world
  const { endpoints } = deliveries
  let count = 0

  const post = ({ id, bearer }: Known, slot: number, action: string, body?: object, made?: (data: unknown) => void) =>
    customers.ask({ slot, method: "POST", path: `${path}/${id}/${action}`, bearer, body: body && JSON.stringify(body) }, made)

  /** What a company reads of its events, from the oldest. */
  const feedOf = async ({ bearer }: Company): Promise<ReadonlyArray<unknown>> => {
    const feed: Array<unknown> = []
    for (let cursor = ""; ;) {
      let page: unknown
      stage.ask({ slot: 0, method: "GET", path: `/v1/events?limit=1000${cursor}`, bearer }, (answer) => {
        claim(answer?.status === 200, `whoever asks is answered: events got ${answer?.text}`)
        page = JSON.parse(answer?.text ?? "null")
      })
      await stage.pass(0)
      const events = listOf(member(page, "data"))
      if (events.length === 0) return feed
      feed.push(...events)
      cursor = `&cursor=${text(events.at(-1), "id")}`
    }
  }

  return {
    acts: {
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
          endpoints.push({ id: text(data, "id"), companyId, bearer, url, types, secrets: [text(data, "secret")] })
        })
      },
      Webhook: ({ slot, which, what }) => {
        const endpoint = latest(endpoints, which)
        if (endpoint === undefined) return
        const { id, bearer, url } = endpoint
        switch (what) {
          case "enable":
            return post(endpoint, slot, "enable", {})
          case "rotate":
            return post(endpoint, slot, "rotate-secret", {}, (data) => void endpoint.secrets.push(text(data, "secret")))
          case "replay": {
            // After one that arrived: nothing that the endpoint never wanted comes then.
            const from = latest(deliveries.received(url), which)
            return from === undefined ? undefined : post(endpoint, slot, "replay", { replay_from: from })
          }
          case "resend":
            return customers.ask({ slot, method: "GET", path: `${path}/${id}/deliveries?limit=5`, bearer }, (data) => {
              const delivery = text(latest(listOf(data), which), "id")
              if (delivery !== "") customers.ask({ slot, method: "POST", path: `/v1/webhook-deliveries/${delivery}/resend`, bearer })
            })
          case "delete":
            return customers.ask({ slot, method: "DELETE", path: `${path}/${id}`, bearer })
          case "disable":
          case "test":
            return post(endpoint, slot, what)
        }
      },
      Receive: ({ which, behaviour, times }) => {
        const url = latest(endpoints, which)?.url
        if (url !== undefined) receivers.behave(url, behaviour, times)
      }
    },
    recover: async () => {
      receivers.recover()
      const closed: Array<Known> = []
      for (const endpoint of endpoints) if (!(await deliveries.isOpen(endpoint))) closed.push(endpoint)
      // All are read first: nothing is asked of a store that is at work.
      for (const endpoint of closed) post(endpoint, 0, "enable", {})
    },
    compare: async () => {
      for (const company of customers.companies) await deliveries.close(company.id, await feedOf(company))
    }
  }
}
