import { useEffect, useState } from "preact/hooks"
import { page, urlOf } from "../api.ts"
import { tick } from "../live.ts"
import { Choice, failed, Field, Link, Page, Problem, Sats, Status, When } from "../parts.tsx"
import { Virtual } from "../virtual.tsx"
import type { Operations, Transaction } from "../wire.ts"

type Query = Operations["GET /v1/transactions"]["query"]
const perPage = 1000

const types = [
  ["", "All"],
  ["deposit", "Deposits"],
  ["withdrawal", "Withdrawals"]
] as const
const statuses = [
  ["", "All"],
  ["pending_approval", "Waiting for approval"],
  ["pending", "Pending"],
  ["settled", "Settled"],
  ["failed", "Failed"]
] as const
const rails = [
  ["", "All"],
  ["lightning", "Lightning"],
  ["on_chain", "On-chain"]
] as const

/** What was chosen; undefined where all is to be seen. */
const oneOf = <const A extends string>(options: ReadonlyArray<readonly [A, string]>, text: string): Exclude<A, ""> | undefined => {
  const isSome = (value: A): value is Exclude<A, ""> => value !== ""
  return options
    .map(([value]) => value)
    .filter(isSome)
    .find((value) => value === text)
}

/** What is searched for, by what it looks like: a payment hash, a transaction id's or an invoice's text, or `key=value` of the metadata. */
const searching = (text: string): Query => {
  const [key = "", value] = text.split("=")
  if (text === "") return {}
  if (value !== undefined) return { metadata_key: key, metadata_value: value }
  if (/^ln/i.test(text)) return { payment_request: text }
  if (/^[0-9a-f]{64}$/i.test(text)) return { payment_hash: text }
  return { lightning_invoice_id: text }
}

/** The rows of a query: the first page again whenever something happened, and further ones as they are asked for. */
const useRows = (query: Query) => {
  const [rows, setRows] = useState<ReadonlyArray<Transaction>>([])
  const [cursor, setCursor] = useState<string>()
  const [problem, setProblem] = useState("")
  const [shown] = useState({ key: "", isBusy: false })
  const key = JSON.stringify(query)

  /** The first page. What is new goes on top, and what was scrolled to stays; where nothing is in both, there may be a gap, and it begins anew. */
  const first = async (isOver: () => boolean) => {
    const { answer, cursor } = await page("GET /v1/transactions", { query })
    if (isOver()) return
    const isOther = key !== shown.key
    shown.key = key
    const known = new Set(answer.data.map(({ id }) => id))
    setRows((before) => {
      const follows = !isOther && before.some(({ id }) => known.has(id))
      return [...answer.data, ...(follows ? before.filter(({ id }) => !known.has(id)) : [])]
    })
    setCursor((before) => (isOther || before === undefined ? cursor : before))
    setProblem("")
  }

  const next = async (cursor: string) => {
    const found = await page("GET /v1/transactions", { query: { ...query, cursor } })
    if (key !== shown.key) return
    setRows((before) => [...before, ...found.answer.data])
    setCursor(found.cursor)
  }

  useEffect(() => {
    let isOver = false
    first(() => isOver).catch((error: unknown) => setProblem(failed(error)))
    return () => {
      isOver = true
    }
  }, [key, tick.value])

  const more = () => {
    if (shown.isBusy || cursor === undefined) return
    shown.isBusy = true
    next(cursor)
      .catch((error: unknown) => setProblem(failed(error)))
      .finally(() => {
        shown.isBusy = false
      })
  }
  return { rows, problem, more: cursor === undefined ? undefined : more }
}

export const Transactions = () => {
  const [filter, setFilter] = useState<Query>({})
  const [search, setSearch] = useState("")
  const { rows, problem, more } = useRows({ ...filter, ...searching(search), limit: perPage })
  return (
    <Page title="Transactions">
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <Choice label="Type" name="type" options={types} onInput={(value) => setFilter({ ...filter, type: oneOf(types, value) })} />
        <Choice
          label="Status"
          name="status"
          options={statuses}
          onInput={(value) => setFilter({ ...filter, status: oneOf(statuses, value) })}
        />
        <Choice label="Over" name="rail" options={rails} onInput={(value) => setFilter({ ...filter, rail_type: oneOf(rails, value) })} />
        <Field
          label="Search"
          name="search"
          type="search"
          hint="A payment hash, an invoice or its id, or key=value of the metadata"
          onChange={setSearch}
        />
        <a class="button" href={urlOf("/v1/transactions/export?format=csv").href} download>
          Export all as CSV
        </a>
      </form>
      <Problem text={problem} />
      <p class="soft" role="status">
        {rows.length === 0 ? "Nothing found" : `${rows.length}${more === undefined ? "" : " and more"}`}
      </p>
      <Virtual
        label="Transactions"
        rows={rows}
        keyOf={({ id }) => id}
        more={more}
        columns={[
          { title: "When", cell: ({ created_at }) => <When at={created_at} /> },
          { title: "What", cell: ({ type, id }) => <Link path={`${type}/${id}`}>{type}</Link> },
          { title: "Amount", cell: ({ amount_sats }) => <Sats amount={amount_sats} />, isNumber: true },
          { title: "Fee", cell: ({ fee_sats }) => <Sats amount={fee_sats} />, isNumber: true },
          { title: "Over", cell: ({ rail_type }) => (rail_type === "on_chain" ? "on-chain" : "Lightning") },
          { title: "Status", cell: ({ status }) => <Status of={status} /> },
          {
            title: "Recipient",
            cell: ({ recipient }) => (
              <span class="cut" title={recipient}>
                {recipient}
              </span>
            )
          }
        ]}
      />
    </Page>
  )
}
