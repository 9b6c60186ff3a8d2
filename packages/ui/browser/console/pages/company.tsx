import { useSignal } from "@preact/signals"
import { call } from "../api.ts"
import { Act, Choice, Facts, Field, Form, Loaded, Page, Sats, Secret, Ticks, useLoaded, When } from "../parts.tsx"
import type { CompanyFees, FeeRate } from "../wire.ts"
import { expiryOf, fromWords, KeyFacts, KeyTable } from "./keys.tsx"
import { WalletApp } from "./wallet.tsx"
import { CompanyWebhooks } from "./webhooks.tsx"
import { LimitForm, limitWords, listOf, remainingWords } from "./limits.tsx"

// What an operator does with a company: its plan, fees and limits, its keys, and whether it may send.

const ways = [
  ["lightning", "Lightning"],
  ["on_chain", "On-chain"],
  ["internal", "To a company of this service"]
] as const

const rateWords = ({ base_sats, parts_per_million }: FeeRate) => `${base_sats} sats + ${parts_per_million / 10_000} %`

const Fees = ({
  of: { fees, own },
  put
}: {
  readonly of: CompanyFees
  readonly put: (text: (name: string) => string) => Promise<void>
}) => (
  <>
    <Facts of={ways.map(([way, label]) => [label, `${rateWords(fees[way])}${own[way] === null ? " (the plan's)" : ""}`] as const)} />
    <Form key={JSON.stringify(own)} button="Set the fees" act={put}>
      <p class="soft">All of them are replaced. Where both fields are empty, it pays what its plan says.</p>
      {ways.map(([way, label]) => (
        <fieldset key={way}>
          <legend>{label}</legend>
          <Field
            label="Sats each"
            name={`${way}_base`}
            inputMode="decimal"
            pattern="[0-9]+([.][0-9]+)?"
            initial={own[way]?.base_sats.toString()}
          />
          <Field
            label="Millionths of the amount"
            name={`${way}_rate`}
            inputMode="numeric"
            pattern="[0-9]+"
            initial={own[way]?.parts_per_million.toString()}
          />
        </fieldset>
      ))}
    </Form>
  </>
)

const feesOf = (text: (name: string) => string) =>
  Object.fromEntries(
    ways.flatMap(([way]) => {
      const [base, rate] = [text(`${way}_base`), text(`${way}_rate`)]
      return base === "" && rate === "" ? [] : [[way, { base_sats: Number(base), parts_per_million: Number(rate) }] as const]
    })
  )

const scopes = ["read", "receive", "send", "approve", "webhooks", "admin"] as const

const Freeze = ({ params, again }: { readonly params: { readonly id: string }; readonly again: () => void }) => {
  const freeze = async (text: (name: string) => string) => {
    const body = { reason: text("reason"), pending: text("pending") === "wait" ? ("wait" as const) : ("go_on" as const) }
    await call("POST /operator/companies/{id}/freeze", { params, body })
    again()
  }
  return (
    <>
      <h2>Freeze</h2>
      <Form button="Freeze the company" act={freeze}>
        <Field label="Reason" name="reason" required maxLength={200} />
        <Choice
          label="What is pending"
          name="pending"
          options={[
            ["go_on", "goes on"],
            ["wait", "waits"]
          ]}
        />
      </Form>
      <Act label="Unfreeze" act={() => call("POST /operator/companies/{id}/unfreeze", { params }).then(again)} />
    </>
  )
}

export const Company = ({ id }: { readonly id: string }) => {
  const params = { id }
  const made = useSignal("")
  const once = useSignal(crypto.randomUUID())
  const loaded = useLoaded(
    () =>
      Promise.all([
        call("GET /operator/companies/{id}", { params }),
        call("GET /operator/companies/{id}/api-keys", { params, query: { limit: 100 } }),
        call("GET /operator/companies/{id}/limits", { params }),
        call("GET /operator/companies/{id}/fees", { params })
      ]),
    id
  )
  const plan = async (text: (name: string) => string) => {
    await call("PATCH /operator/companies/{id}", { params, body: { plan: text("plan") === "paid" ? "paid" : "free" } })
    loaded.again()
  }
  const fees = async (text: (name: string) => string) => {
    await call("PUT /operator/companies/{id}/fees", { params, body: feesOf(text) })
    loaded.again()
  }
  const issue = async (text: (name: string) => string) => {
    const body = { name: text("name"), scopes: scopes.filter((scope) => text(scope) !== ""), ...expiryOf(text("expires")) }
    made.value = (await call("POST /operator/companies/{id}/api-keys", { params, body, once: once.value })).data.key
    once.value = crypto.randomUUID()
    loaded.again()
  }
  const revoke = (key: string) => call("DELETE /operator/api-keys/{id}", { params: { id: key } }).then(loaded.again)
  return (
    <Page title="Company">
      <Secret title="The new key" text={made.value} />
      <Loaded of={loaded}>
        {([{ data }, keys, { data: limits }, { data: charged }]) => (
          <>
            <Facts
              of={[
                ["Name", data.name],
                ["Id", <code>{data.id}</code>],
                ["Plan", data.plan],
                [
                  "Sending",
                  data.frozen === null ? (
                    "active"
                  ) : (
                    <strong role="status">
                      frozen since <When at={data.frozen.since} />: {data.frozen.reason}
                    </strong>
                  )
                ],
                ["Available", <Sats amount={data.available_sats} />],
                ["Held", <Sats amount={data.held_sats} />],
                ["Limits", limitWords(limits.limits)],
                ["Left of them now", remainingWords(limits.remaining)]
              ]}
            />
            <h2>Plan</h2>
            <Form key={data.plan} button="Change the plan" act={plan}>
              <Choice
                label="Plan"
                name="plan"
                initial={data.plan}
                options={[
                  ["free", "free"],
                  ["paid", "paid"]
                ]}
              />
            </Form>
            <h2>Fees</h2>
            <Fees of={charged} put={fees} />
            <h2>Limits</h2>
            <LimitForm
              of={limits.limits}
              put={(body) => call("PUT /operator/companies/{id}/limits", { params, body }).then(loaded.again)}
            />
            <h2>Webhook endpoints</h2>
            <CompanyWebhooks companyId={id} />
            <h2>API keys</h2>
            <KeyTable rows={keys.data} revoke={revoke} />
          </>
        )}
      </Loaded>
      <h2>Issue a key</h2>
      <p class="soft">A key with send, approve or admin needs a second operator's approval, unless the company is new.</p>
      <Form button="Issue the key" act={issue}>
        <Field label="Name" name="name" required maxLength={100} />
        <Ticks label="Scopes" options={scopes} initial={["read"]} />
        <Field label="Last day" name="expires" type="date" hint="Empty for no end" />
      </Form>
      <Freeze params={params} again={loaded.again} />
    </Page>
  )
}

/** One key, for the operator. */
export const OperatorKey = ({ id }: { readonly id: string }) => {
  const params = { id }
  const made = useSignal("")
  const once = useSignal(crypto.randomUUID())
  const loaded = useLoaded(() => call("GET /operator/api-keys/{id}", { params }), id)
  const confine = async (text: (name: string) => string) => {
    const ranges = listOf(text("ranges"))
    const kind = text("for") === "sending" ? ("sending" as const) : ("everything" as const)
    const body = { allowed_from: ranges.length === 0 ? null : { for: kind, ranges } }
    await call("PUT /operator/api-keys/{id}/allowed-from", { params, body })
    loaded.again()
  }
  const rotate = async (text: (name: string) => string) => {
    const body = { overlap_seconds: Number(text("overlap")) * 3600 }
    const { data } = await call("POST /operator/api-keys/{id}/rotate", { params, body, once: once.value })
    once.value = crypto.randomUUID()
    made.value = data.key
    loaded.again()
  }
  return (
    <Page title="API key">
      <Secret title="The key in its place" text={made.value} />
      <Loaded of={loaded}>
        {({ data }) => (
          <>
            <KeyFacts of={data} />
            <p>
              <a href={`#/company/${data.company_id}`}>Its company</a>
            </p>
            {data.approval === "pending" && data.revoked_at === null && (
              <>
                <p>An operator requested this key, and it opens nothing yet. Another operator approves it, or revokes it.</p>
                <Act
                  label="Approve the key"
                  sure={`Approve ${data.name}`}
                  act={() => call("POST /operator/api-keys/{id}/approve", { params }).then(loaded.again)}
                />
              </>
            )}
            <h2>Limits</h2>
            <LimitForm of={data.limits} put={(body) => call("PUT /operator/api-keys/{id}/limits", { params, body }).then(loaded.again)} />
            <h2>Addresses</h2>
            <Form key={fromWords(data.allowed_from)} button="Set the addresses" act={confine}>
              <Field
                label="Addresses and ranges"
                name="ranges"
                hint="Such as 203.0.113.0/24, separated by spaces; empty for anywhere"
                initial={data.allowed_from?.ranges.join(" ")}
              />
              <Choice
                label="For"
                name="for"
                initial={data.allowed_from?.for}
                options={[
                  ["everything", "everything"],
                  ["sending", "sending"]
                ]}
              />
            </Form>
            <WalletApp id={id} isRevoked={data.revoked_at !== null} again={loaded.again} />
            <h2>Replace</h2>
            <Form button="Replace the key" act={rotate}>
              <Field label="Hours that the old one goes on" name="overlap" required inputMode="numeric" pattern="[0-9]+" initial="24" />
            </Form>
          </>
        )}
      </Loaded>
    </Page>
  )
}
