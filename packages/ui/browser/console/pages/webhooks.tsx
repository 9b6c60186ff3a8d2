import { useSignal } from "@preact/signals"
import { call } from "../api.ts"
import { Act, Copy, Field, Form, Link, Loaded, Page, Status, Table, useLoaded, When } from "../parts.tsx"

export const Webhooks = () => {
  const loaded = useLoaded(() => call("GET /v1/webhook-endpoints"))
  const secret = useSignal("")
  const create = async (text: (name: string) => string) => {
    const types = text("types")
      .split(/[\s,]+/)
      .filter((one) => one !== "")
    const { data } = await call("POST /v1/webhook-endpoints", { body: { url: text("url"), ...(types.length > 0 && { types }) } })
    secret.value = data.secret
    loaded.again()
  }
  return (
    <Page title="Webhooks">
      {secret.value !== "" && (
        <section class="card" role="status">
          <h2>The endpoint's secret</h2>
          <p>It is shown now, and never again: what is sent there is signed with it.</p>
          <code class="long">{secret.value}</code>
          <Copy text={secret.value} label="Copy" />
        </section>
      )}
      <Loaded of={loaded}>
        {({ data }) => (
          <Table
            caption="Webhook endpoints"
            none="There is no endpoint yet."
            rows={data}
            columns={[
              { title: "URL", cell: ({ id, url }) => <Link path={`webhook/${id}`}>{url}</Link> },
              { title: "Status", cell: ({ status }) => <Status of={status} /> },
              { title: "Failing since", cell: ({ failing_since }) => <When at={failing_since} /> },
              {
                title: "Test",
                cell: ({ id }) => (
                  <Act
                    label="Send a test"
                    act={() => call("POST /v1/webhook-endpoints/{id}/test", { params: { id } }).then(() => "Sent")}
                  />
                )
              }
            ]}
          />
        )}
      </Loaded>
      <h2>New endpoint</h2>
      <Form button="Create the endpoint" act={create}>
        <Field label="URL" name="url" type="url" required />
        <Field label="Types of events" name="types" hint="Separated by commas, such as invoice.settled; empty for all" />
      </Form>
    </Page>
  )
}

export const Webhook = ({ id }: { readonly id: string }) => {
  const params = { id }
  const loaded = useLoaded(() => call("GET /v1/webhook-endpoints/{id}/deliveries", { params, query: { limit: 100 } }), id)
  return (
    <Page title="Deliveries">
      <p class="acts">
        <Act label="Enable" act={() => call("POST /v1/webhook-endpoints/{id}/enable", { params, body: {} }).then(() => "Enabled")} />
        <Act label="Disable" act={() => call("POST /v1/webhook-endpoints/{id}/disable", { params }).then(() => "Disabled")} />
        <Act label="Look again" act={() => Promise.resolve(loaded.again())} />
      </p>
      <Loaded of={loaded}>
        {({ data }) => (
          <Table
            caption="Deliveries, the newest first"
            none="Nothing was sent there yet."
            rows={data}
            columns={[
              { title: "When", cell: ({ created_at }) => <When at={created_at} /> },
              { title: "Event", cell: ({ event_type }) => <code>{event_type}</code> },
              { title: "Status", cell: ({ status }) => <Status of={status} /> },
              { title: "Attempts", cell: ({ attempts }) => attempts, isNumber: true },
              { title: "Answer", cell: ({ response_status }) => response_status ?? "none" },
              {
                title: "Again",
                cell: (row) =>
                  row.status === "pending" ? null : (
                    <Act
                      label="Send again"
                      act={() => call("POST /v1/webhook-deliveries/{id}/resend", { params: { id: row.id } }).then(loaded.again)}
                    />
                  )
              }
            ]}
          />
        )}
      </Loaded>
    </Page>
  )
}
