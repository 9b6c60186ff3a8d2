import { allowed, operatorName } from "../../operator/Common.ts"
import type { OperatorVisit } from "../../Page.ts"
import { body, link, panel, timeline } from "../../Parts.ts"
import { verbWords } from "./Audit.ts"

export const companyAside = async ({ api, say, to }: OperatorVisit, id: string) => {
  const entries = await allowed(api.call("GET /operator/audit", { query: { company_id: id, limit: 6 } }))
  if (entries === undefined || entries.length === 0) return null
  const who = (name: string) => (name === "" ? "" : ` by ${operatorName(name)}`)
  return panel(
    "What happened",
    { beside: link(to(`audit?company_id=${id}`), "All") },
    body(
      timeline(
        say,
        entries.toReversed().map(({ verb, outcome, actor_name, created_at }) => ({
          text: `${outcome === "done" ? "" : "Refused: "}${verbWords(verb)}${who(actor_name)}`,
          ...(outcome !== "done" && { tone: "bad" as const }),
          atMillis: Date.parse(created_at)
        }))
      )
    )
  )
}
