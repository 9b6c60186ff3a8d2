import { useSignal } from "@preact/signals"
import { call } from "../api.ts"
import { Act, Choice, Facts, Field, Form, Link, Loaded, Page, Sats, Status, Table, useLoaded, When } from "../parts.tsx"

export const Companies = () => {
  const search = useSignal("")
  const loaded = useLoaded(
    () => call("GET /operator/companies", { query: { limit: 100, ...(search.value !== "" && { search: search.value }) } }),
    search.value
  )
  const open = async (text: (name: string) => string) => {
    await call("POST /operator/companies", { body: { name: text("name"), plan: text("plan") === "paid" ? "paid" : "free" } })
    loaded.again()
  }
  return (
    <Page title="Companies">
      <Field label="Search" name="search" type="search" onChange={(value) => void (search.value = value)} />
      <Loaded of={loaded}>
        {({ data }) => (
          <Table
            caption="Companies"
            none="No company is found."
            rows={data}
            columns={[
              { title: "Name", cell: ({ id, name }) => <Link path={`company/${id}`}>{name}</Link> },
              { title: "Plan", cell: ({ plan }) => plan },
              { title: "Sending", cell: ({ frozen }) => (frozen === null ? "active" : <strong>frozen</strong>) },
              { title: "Available", cell: ({ available_sats }) => <Sats amount={available_sats} />, isNumber: true },
              { title: "Held", cell: ({ held_sats }) => <Sats amount={held_sats} />, isNumber: true },
              { title: "Keys", cell: ({ api_keys }) => api_keys, isNumber: true },
              { title: "Last seen", cell: ({ last_seen_at }) => <When at={last_seen_at} /> }
            ]}
          />
        )}
      </Loaded>
      <h2>Open a company</h2>
      <Form button="Open it" act={open}>
        <Field label="Name" name="name" required maxLength={100} />
        <Choice
          label="Plan"
          name="plan"
          options={[
            ["free", "free"],
            ["paid", "paid"]
          ]}
        />
      </Form>
    </Page>
  )
}

export const Health = () => {
  const loaded = useLoaded(() =>
    Promise.all([call("GET /operator/status"), call("GET /operator/reconciliation"), call("GET /operator/pause")])
  )
  return (
    <Page title="Health">
      <Loaded of={loaded}>
        {([{ data: status }, { data: reconciliation }, { data: paused }]) => (
          <>
            <Facts
              of={[
                ["Version", status.version ?? "unknown"],
                ["Network", status.network],
                ["Database", status.database ?? "unknown"],
                ["Chain", status.chain ?? "unknown"],
                ["Events behind", `${status.events_lag_seconds} s`],
                ["Webhooks behind", `${status.webhooks_lag_seconds} s`]
              ]}
            />
            <h2>Checks</h2>
            <Table
              caption="Checks of this process"
              none="There is none."
              rows={status.checks}
              columns={[
                { title: "What", cell: ({ name }) => name },
                { title: "Standing", cell: ({ reason }) => reason ?? "as it should be" }
              ]}
            />
            <h2>Roles</h2>
            <Table
              caption="What one process of all does at a time"
              none="There is none."
              rows={status.roles}
              columns={[
                { title: "Role", cell: ({ role }) => role },
                { title: "Held until", cell: ({ held_until }) => (held_until === null ? "no process has it" : <When at={held_until} />) },
                { title: "Taken up", cell: ({ claims }) => claims, isNumber: true }
              ]}
            />
            <h2>Reconciliation</h2>
            {reconciliation.report === null ? <p>It has not run yet.</p> : <pre>{JSON.stringify(reconciliation.report, null, 2)}</pre>}
            <h2>Pause</h2>
            {(["sending", "receiving"] as const).map((what) => {
              const since = paused[what]
              const act = since === null ? ("POST /operator/pause" as const) : ("POST /operator/resume" as const)
              return (
                <p key={what} class="acts">
                  {what}:{" "}
                  {since === null ? (
                    "goes on"
                  ) : (
                    <>
                      paused since <When at={since} />
                    </>
                  )}{" "}
                  <Act
                    label={since === null ? `Pause ${what}` : `Resume ${what}`}
                    act={() => call(act, { body: { what } }).then(loaded.again)}
                  />
                </p>
              )
            })}
          </>
        )}
      </Loaded>
    </Page>
  )
}

export const Backlog = () => {
  const loaded = useLoaded(() =>
    Promise.all([call("GET /operator/backlog"), call("GET /operator/withdrawals", { query: { status: "pending", limit: 100 } })])
  )
  return (
    <Page title="Backlog">
      <Loaded of={loaded}>
        {([{ data }, withdrawals]) => (
          <>
            <Table
              caption="What waits"
              none="Nothing waits."
              rows={Object.entries(data)}
              columns={[
                { title: "What", cell: ([name]) => name.replaceAll("_", " ") },
                { title: "How many", cell: ([, { count }]) => count, isNumber: true },
                { title: "Amount", cell: ([, { amount_sats }]) => <Sats amount={amount_sats} />, isNumber: true },
                { title: "Oldest", cell: ([, { oldest_at }]) => (oldest_at === null ? "none" : <When at={oldest_at} />) }
              ]}
            />
            <h2>Pending withdrawals</h2>
            <Table
              caption="Pending withdrawals"
              none="None is pending."
              rows={withdrawals.data}
              columns={[
                { title: "Created", cell: ({ created_at }) => <When at={created_at} /> },
                { title: "Amount", cell: ({ amount_sats }) => <Sats amount={amount_sats} />, isNumber: true },
                { title: "Waits for", cell: ({ waits_for }) => waits_for ?? "nothing" },
                { title: "Next look", cell: ({ next_look_at }) => <When at={next_look_at} /> },
                { title: "Status", cell: ({ status }) => <Status of={status} /> }
              ]}
            />
          </>
        )}
      </Loaded>
    </Page>
  )
}

export const Suspense = () => {
  const loaded = useLoaded(() => call("GET /operator/suspense", { query: { limit: 100 } }))
  const assign = async (text: (name: string) => string) => {
    await call("POST /operator/suspense/{id}/assign", { params: { id: text("id") }, body: { company_id: text("company") } })
    loaded.again()
  }
  return (
    <Page title="Suspense">
      <Loaded of={loaded}>
        {({ data }) => (
          <Table
            caption="Payments that are nobody's yet"
            none="There is none."
            rows={data}
            columns={[
              { title: "Id", cell: ({ id }) => <code>{id}</code> },
              { title: "When", cell: ({ created_at }) => <When at={created_at} /> },
              { title: "Amount", cell: ({ received_sats }) => <Sats amount={received_sats} />, isNumber: true },
              { title: "Why", cell: ({ reason }) => reason },
              { title: "Assigned to", cell: ({ assigned_to }) => assigned_to ?? "nobody" }
            ]}
          />
        )}
      </Loaded>
      <h2>Assign a payment</h2>
      <Form button="Assign it" act={assign}>
        <Field label="Payment" name="id" required />
        <Field label="Company" name="company" required hint="The id of the company" />
      </Form>
    </Page>
  )
}
