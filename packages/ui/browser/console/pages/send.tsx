import { useSignal } from "@preact/signals"
import { Amount, amountOf } from "../amount.tsx"
import { call } from "../api.ts"
import { Frozen } from "../frozen.tsx"
import { Facts, Field, Form, Page, Sats } from "../parts.tsx"
import { go } from "../route.ts"
import { pretended } from "../session.ts"
import type { ConfirmWithdrawal, WithdrawalEstimate } from "../wire.ts"

interface Asked {
  readonly body: ConfirmWithdrawal
  readonly estimate: WithdrawalEstimate
  /** The same for every attempt at this withdrawal: it is made once, however often it is asked for. */
  readonly once: string
}

const Destination = () => {
  const made = useSignal("")
  const make = async () => {
    const { data } = await call("POST /sandbox/destination", { body: { type: "lightning_invoice", amount_sats: 1000 } })
    made.value = data.destination
  }
  return (
    <>
      <Field
        label="To"
        name="destination"
        required
        value={made.value}
        hint="A Lightning invoice or address, an LNURL, or a bitcoin address"
      />
      {pretended.value.length > 0 && (
        <button type="button" onClick={() => void make().catch(() => undefined)}>
          Use an invoice of the sandbox, over 1,000 sats
        </button>
      )}
    </>
  )
}

/** First what it would cost; then, with the key shown again, it is sent. */
export const Send = () => {
  const asked = useSignal<Asked | null>(null)
  const estimate = async (text: (name: string) => string) => {
    const amount = amountOf(text("amount"))
    const body = { destination: text("destination"), ...(amount !== null && { amount, currency: text("currency") }) }
    const { data } = await call("POST /v1/bitcoin/withdraw/estimate", { body })
    asked.value = { body, estimate: data, once: crypto.randomUUID() }
  }
  const confirm = async ({ body, once }: Asked) => {
    const { data } = await call("POST /v1/bitcoin/withdraw/confirm", { body, once })
    go(`withdrawal/${data.id}`)
  }
  const now = asked.value
  return (
    <Page title="Send">
      <Frozen />
      {now === null ? (
        <Form button="What does it cost?" act={estimate}>
          <Destination />
          <Amount hint="Empty for an invoice that has one" />
        </Form>
      ) : (
        <Form button={`Send ${now.estimate.amount_sats} sats`} act={() => confirm(now)}>
          <Facts
            of={[
              ["To", <code>{now.estimate.recipient}</code>],
              ["Amount", <Sats amount={now.estimate.amount_sats} />],
              ["Fee at most", <Sats amount={now.estimate.fee_sats} />],
              ["Fee of the service", <Sats amount={now.estimate.service_fee_sats} />]
            ]}
          />
          <button type="button" onClick={() => void (asked.value = null)}>
            Change it
          </button>
        </Form>
      )}
    </Page>
  )
}
