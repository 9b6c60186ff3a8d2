import { Field, Form, Ticks } from "../parts.tsx"
import type { GivenLimits, Limits, LimitsRemaining } from "../wire.ts"

const amounts = [
  ["per_withdrawal_sats", "Sats for one withdrawal"],
  ["hour_sats", "Sats in any hour"],
  ["day_sats", "Sats in any 24 hours"],
  ["month_sats", "Sats in any 30 days"],
  ["day_count", "Withdrawals in any 24 hours"],
  ["approval_above_sats", "Sats above which another key approves"]
] as const

const recipientTypes = ["lightning_address", "lightning_invoice", "chain_address", "lnurl", "bolt12_offer"] as const

const inWords = (limits: object | null, none: string): string => {
  const given = Object.entries(limits ?? {}).filter(([, value]) => value !== null)
  return given.length === 0 ? none : given.map(([name, value]) => `${name.replaceAll("_", " ")} ${String(value)}`).join(", ")
}
export const limitWords = (limits: Limits | null): string => inWords(limits, "none")
export const remainingWords = (left: LimitsRemaining | null): string => inWords(left, "nothing is counted")

/** Several of one kind in a field, between spaces or commas. */
export const listOf = (text: string): ReadonlyArray<string> => text.split(/[\s,]+/).filter((one) => one !== "")

/** The limits of a company or of a key, all at once: what is empty is no limit. */
export const LimitForm = (props: { readonly of: Limits | null; readonly put: (limits: GivenLimits) => Promise<void> }) => {
  const now = props.of
  const put = (text: (name: string) => string) => {
    const given = amounts.flatMap(([name]) => (text(name) === "" ? [] : [[name, Number(text(name))] as const]))
    const [types, recipients] = [recipientTypes.filter((type) => text(type) !== ""), listOf(text("recipients"))]
    return props.put({
      ...Object.fromEntries(given),
      ...(types.length > 0 && { recipient_types: types }),
      ...(recipients.length > 0 && { recipients })
    })
  }
  return (
    <Form key={JSON.stringify(now)} button="Set the limits" act={put}>
      <p class="soft">All of them are replaced. An empty field limits nothing.</p>
      {amounts.map(([name, label]) => (
        <Field key={name} label={label} name={name} inputMode="numeric" pattern="[0-9]+" initial={now?.[name]?.toString()} />
      ))}
      <Ticks label="Only these kinds of destination (none: all)" options={recipientTypes} initial={now?.recipient_types ?? []} />
      <Field
        label="Only these recipients"
        name="recipients"
        hint="Lightning addresses, LNURLs, BOLT 12 offers and bitcoin addresses, separated by spaces; empty for all"
        initial={now?.recipients?.join(" ")}
      />
    </Form>
  )
}
