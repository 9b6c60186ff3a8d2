import { call } from "../api.ts"
import { type Column, Loaded, Page, Table, useLoaded, When } from "../parts.tsx"
import type { OperatorAuditEntry } from "../wire.ts"

type Entry = Pick<OperatorAuditEntry, "created_at" | "actor_name" | "verb" | "outcome" | "ip_address" | "changes">

const columns: ReadonlyArray<Column<Entry>> = [
  { title: "When", cell: ({ created_at }) => <When at={created_at} /> },
  { title: "Who", cell: ({ actor_name }) => actor_name },
  { title: "What", cell: ({ verb }) => <code>{verb}</code> },
  {
    title: "Changes",
    cell: ({ changes }) =>
      changes.map(({ id, field, before, after }) => (
        <div key={`${id} ${field}`}>
          {field}: <code>{before ?? "none"}</code> → <code>{after ?? "none"}</code>
        </div>
      ))
  },
  { title: "Outcome", cell: ({ outcome }) => outcome },
  { title: "From", cell: ({ ip_address }) => ip_address }
]

const AuditTable = ({ ask }: { readonly ask: () => Promise<{ readonly data: ReadonlyArray<Entry> }> }) => {
  const loaded = useLoaded(ask)
  return (
    <Page title="Audit log">
      <Loaded of={loaded}>
        {({ data }) => <Table caption="Who did what, the newest first" none="Nothing is written down yet." rows={data} columns={columns} />}
      </Loaded>
    </Page>
  )
}

export const Audit = () => <AuditTable ask={() => call("GET /v1/audit", { query: { limit: 100 } })} />
export const OperatorAudit = () => <AuditTable ask={() => call("GET /operator/audit", { query: { limit: 100 } })} />
