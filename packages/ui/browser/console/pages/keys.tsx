import { useSignal } from "@preact/signals"
import { call } from "../api.ts"
import { Act, Facts, Field, Form, Link, Loaded, Page, Secret, Table, Ticks, useLoaded, When } from "../parts.tsx"
import { session } from "../session.ts"
import type { AllowedFrom, ApiKey, LimitedApiKey } from "../wire.ts"
import { limitWords, remainingWords } from "./limits.tsx"

export const fromWords = (allowed: AllowedFrom | null): string =>
  allowed === null ? "anywhere" : `${allowed.ranges.join(", ")}${allowed.for === "sending" ? " to send" : ""}`

/** Whether a key opens anything, in words. */
const Standing = ({ of: key }: { readonly of: ApiKey }) =>
  key.revoked_at !== null ? (
    <>
      revoked <When at={key.revoked_at} />
    </>
  ) : key.approval === "pending" ? (
    <strong>waits for a second operator's approval</strong>
  ) : key.expires_at !== null ? (
    <>
      until <When at={key.expires_at} />
    </>
  ) : (
    <>open</>
  )

export const KeyTable = (props: { readonly rows: ReadonlyArray<ApiKey>; readonly revoke: (id: string) => Promise<void> }) => (
  <Table
    caption="API keys, the newest first"
    none="There is none."
    rows={props.rows}
    columns={[
      { title: "Name", cell: ({ id, name }) => <Link path={`key/${id}`}>{name === "" ? id : name}</Link> },
      { title: "Id", cell: ({ id }) => <code>{id}</code> },
      { title: "Scopes", cell: ({ scopes }) => scopes.join(", ") },
      { title: "Limits", cell: ({ limits }) => limitWords(limits) },
      { title: "From", cell: ({ allowed_from }) => fromWords(allowed_from) },
      { title: "Last used", cell: ({ last_used_at }) => <When at={last_used_at} /> },
      { title: "Standing", cell: (key) => <Standing of={key} /> },
      {
        title: "Revoke",
        cell: ({ id, name, revoked_at }) =>
          revoked_at === null ? <Act label="Revoke" sure={`Revoke ${name}`} act={() => props.revoke(id)} /> : null
      }
    ]}
  />
)

export const KeyFacts = ({ of: key }: { readonly of: LimitedApiKey }) => (
  <Facts
    of={[
      ["Name", key.name],
      ["Id", <code>{key.id}</code>],
      ["Scopes", key.scopes.join(", ")],
      ["Limits", limitWords(key.limits)],
      ["Left of them now", remainingWords(key.remaining)],
      ["May be used from", fromWords(key.allowed_from)],
      ["Created", <When at={key.created_at} />],
      ["Last used", <When at={key.last_used_at} />],
      ["Standing", <Standing of={key} />]
    ]}
  />
)

/** What a form's field for an end says: a day, at whose end (UTC) it is. Nothing: for ever. */
export const expiryOf = (day: string): { readonly expires_at?: string } => (day === "" ? {} : { expires_at: `${day}T23:59:59.000Z` })

const ownScopes = ["read", "receive", "webhooks"] as const

/** A company's own keys. What it makes sends nothing; keys that do are the operator's to issue. */
export const Keys = () => {
  const loaded = useLoaded(() => call("GET /v1/api-keys", { query: { limit: 100 } }))
  const made = useSignal("")
  const once = useSignal(crypto.randomUUID())
  const create = async (text: (name: string) => string) => {
    const scopes = ownScopes.filter((scope) => text(scope) !== "")
    const body = { name: text("name"), scopes, ...expiryOf(text("expires")) }
    made.value = (await call("POST /v1/api-keys", { body, once: once.value })).data.key
    once.value = crypto.randomUUID()
    loaded.again()
  }
  const revoke = (id: string) => call("DELETE /v1/api-keys/{id}", { params: { id } }).then(loaded.again)
  return (
    <Page title="API keys">
      <Secret title="The new key" text={made.value} />
      <Loaded of={loaded}>{({ data }) => <KeyTable rows={data} revoke={revoke} />}</Loaded>
      {session.value?.scopes.includes("admin") && (
        <>
          <h2>New key</h2>
          <p class="soft">It can receive and read, and sends nothing: keys that send or approve are issued by the operator.</p>
          <Form button="Create the key" act={create}>
            <Field label="Name" name="name" required maxLength={100} hint="Where it is used, such as till 3" />
            <Ticks label="Scopes" options={ownScopes} initial={["receive"]} />
            <Field label="Last day" name="expires" type="date" hint="Empty for as long as the key that makes it" />
          </Form>
        </>
      )}
    </Page>
  )
}

export const Key = ({ id }: { readonly id: string }) => {
  const loaded = useLoaded(() => call("GET /v1/api-keys/{id}", { params: { id } }), id)
  return (
    <Page title="API key">
      <Loaded of={loaded}>{({ data }) => <KeyFacts of={data} />}</Loaded>
    </Page>
  )
}
