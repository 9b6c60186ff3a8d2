import { Choice, Field } from "./parts.tsx"

/** What is sent as an amount: a number, or nothing for any. */
export const amountOf = (text: string): number | null => (text === "" ? null : Number(text))

/** An amount and its currency. `hint` says what it is to leave it empty. */
export const Amount = ({ hint }: { readonly hint: string }) => (
  <>
    <Field label="Amount" name="amount" inputMode="decimal" pattern="[0-9]+([.][0-9]+)?" hint={hint} />
    <Choice
      label="Currency"
      name="currency"
      options={[
        ["sats", "sats"],
        ["EUR", "EUR"],
        ["USD", "USD"]
      ]}
    />
  </>
)
