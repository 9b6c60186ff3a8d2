import { allowed, operatorName } from "@satrail/ui/console/operator/Common"
import type { OperatorVisit } from "@satrail/ui/console/Page"
import { body, link, panel, timeline } from "@satrail/ui/console/Parts"
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
