import { useSignal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { call } from "../api.ts"
import { Act, Facts, Field, Form, Link, Loaded, Page, Secret, Status, Table, useLoaded, When } from "../parts.tsx"
import { go } from "../route.ts"
import type { WebhookEndpoint, WebhookEndpointSettings } from "../wire.ts"
import { listOf } from "./limits.tsx"

const settingsOf = (text: (name: string) => string): WebhookEndpointSettings => ({
  url: text("url"),
  description: text("description"),
  types: listOf(text("types")),
  ...(text("header") !== "" && { signature_header: text("header") })
})

const Settings = ({ of: endpoint }: { readonly of?: WebhookEndpoint }) => (
  <>
    <Field label="URL" name="url" type="url" required initial={endpoint?.url} />
    <Field label="Description" name="description" maxLength={200} initial={endpoint?.description} />
    <Field
      label="Types of events"
      name="types"
      hint="Separated by commas, such as invoice.settled or deposit.*; empty for all"
      initial={endpoint?.types.join(", ")}
    />
    <Field
      label="Header of a plain signature"
      name="header"
      hint="Such as X-Shop-Signature; empty for none"
      initial={endpoint?.signature_header ?? undefined}
    />
  </>
)

/** An enabled endpoint whose latest deliveries all failed is shown as failing. */
const standing = ({ status, failing_since }: Pick<WebhookEndpoint, "status" | "failing_since">): string =>
  status === "enabled" && failing_since !== null ? "failing" : status

const Endpoints = ({
  rows,
  url
}: {
  readonly rows: ReadonlyArray<WebhookEndpoint>
  readonly url: (one: WebhookEndpoint) => ComponentChildren
}) => (
  <Table
    caption="Webhook endpoints"
    none="There is no endpoint yet."
    rows={rows}
    columns={[
      { title: "URL", cell: url },
      { title: "Events", cell: ({ types }) => (types.length === 0 ? "all" : types.join(", ")) },
      { title: "Status", cell: (one) => <Status of={standing(one)} /> },
      { title: "Failing since", cell: ({ failing_since }) => <When at={failing_since} /> }
    ]}
  />
)

/** Those of a company, for an operator. */
export const CompanyWebhooks = ({ companyId }: { readonly companyId: string }) => {
  const loaded = useLoaded(() => call("GET /operator/companies/{companyId}/webhook-endpoints", { params: { companyId } }), companyId)
  return <Loaded of={loaded}>{({ data }) => <Endpoints rows={data} url={({ url }) => url} />}</Loaded>
}

export const Webhooks = () => {
  const loaded = useLoaded(() => call("GET /v1/webhook-endpoints"))
  const secret = useSignal("")
  const create = async (text: (name: string) => string) => {
    secret.value = (await call("POST /v1/webhook-endpoints", { body: settingsOf(text) })).data.secret
    loaded.again()
  }
  return (
    <Page title="Webhooks">
      <Secret title="The endpoint's secret" text={secret.value} />
      <Loaded of={loaded}>
        {({ data }) => <Endpoints rows={data} url={({ id, url }) => <Link path={`webhook/${id}`}>{url}</Link>} />}
      </Loaded>
      <h2>New endpoint</h2>
      <Form button="Create the endpoint" act={create}>
        <Settings />
      </Form>
    </Page>
  )
}

const Deliveries = ({ id }: { readonly id: string }) => {
  const loaded = useLoaded(() => call("GET /v1/webhook-endpoints/{id}/deliveries", { params: { id }, query: { limit: 100 } }), id)
  return (
    <>
      <h2>Deliveries</h2>
      <Act label="Look again" act={() => Promise.resolve(loaded.again())} />
      <Loaded of={loaded}>
        {({ data }) => (
          <Table
            caption="Deliveries, the newest first"
            none="Nothing was sent there yet."
            rows={data}
            columns={[
              { title: "When", cell: ({ created_at }) => <When at={created_at} /> },
              { title: "Event", cell: ({ event_type }) => <code>{event_type}</code> },
              { title: "Id", cell: ({ event_id }) => <code>{event_id}</code> },
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
    </>
  )
}

export const Webhook = ({ id }: { readonly id: string }) => {
  const params = { id }
  const at = "/v1/webhook-endpoints/{id}"
  const loaded = useLoaded(() => call(`GET ${at}`, { params }), id)
  const secret = useSignal("")
  const change = async (text: (name: string) => string) => {
    await call(`PUT ${at}`, { params, body: settingsOf(text) })
    loaded.again()
  }
  const rotate = async (text: (name: string) => string) => {
    const body = { overlap_seconds: Number(text("overlap")) * 3600 }
    secret.value = (await call(`POST ${at}/rotate-secret`, { params, body })).data.secret
  }
  const replay = async (text: (name: string) => string) => {
    await call(`POST ${at}/replay`, { params, body: { replay_from: text("from") } })
    loaded.again()
  }
  const test = async () => {
    const { message } = await call(`POST ${at}/test`, { params })
    loaded.again()
    return message
  }
  const turn = (how: "enable" | "disable") =>
    (how === "enable" ? call(`POST ${at}/enable`, { params, body: {} }) : call(`POST ${at}/disable`, { params })).then(loaded.again)
  return (
    <Page title="Webhook endpoint">
      <Secret title="The endpoint's new secret" text={secret.value} />
      <Loaded of={loaded}>
        {({ data }) => (
          <>
            <Facts
              of={[
                ["URL", <code>{data.url}</code>],
                ["Status", <Status of={standing(data)} />],
                ...(data.disabled_reason === null ? [] : [["Disabled by", data.disabled_reason] as const]),
                ["Failing since", <When at={data.failing_since} />],
                ["Created", <When at={data.created_at} />]
              ]}
            />
            <p class="acts">
              {data.status === "enabled" ? (
                <Act label="Disable" act={() => turn("disable")} />
              ) : (
                <Act label="Enable" act={() => turn("enable")} />
              )}
              <Act label="Send a test" act={() => test()} />
              <Act label="Delete" sure="Delete the endpoint" act={() => call(`DELETE ${at}`, { params }).then(() => go("webhooks"))} />
            </p>
            <h2>Settings</h2>
            <Form key={data.updated_at} button="Change the endpoint" act={change}>
              <Settings of={data} />
            </Form>
          </>
        )}
      </Loaded>
      <h2>Rotate the secret</h2>
      <Form button="Rotate the secret" act={rotate}>
        <Field label="Hours that the old one signs too" name="overlap" required inputMode="numeric" pattern="[0-9]+" initial="24" />
      </Form>
      <h2>Replay</h2>
      <Form button="Send everything after it again" act={replay}>
        <Field label="After the event" name="from" required hint="Its id, such as one of the deliveries below" />
      </Form>
      <Deliveries id={id} />
    </Page>
  )
}
