import * as Forms from "../../packages/core/test/PastedForms.ts"
import * as Destination from "../../packages/core/src/sending/Destination.ts"

/** Writes a form as it is read: the invisible characters by their code points. */
const shown = (form: string): string => {
  const text = form.replaceAll(/[\p{Cc}\p{Default_Ignorable_Code_Point}\u00a0\u3000]/gu, (one) =>
    one === "\n"
      ? "⏎"
      : one === "\r"
        ? ""
        : `⟨U+${one.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0")}⟩`
  )
  const quote = text.includes("`") ? "``" : "`"
  return `${quote}${quote === "``" ? ` ${text} ` : text}${quote}`.replaceAll("|", "\\|")
}

/** Writes each group as a table under its heading, with a row for each result. */
const tables = <A>(
  head: string,
  groups: { readonly [group: string]: ReadonlyArray<A> },
  row: (one: A) => readonly [form: string, result: string]
): string =>
  Object.entries(groups)
    .map(([group, forms]) => {
      const byResult = Map.groupBy(forms.map(row), ([, result]) => result)
      const rows = Array.from(
        byResult,
        ([result, rows]) => `| ${rows.map(([form]) => form).join("<br>")} | ${result} |`
      )
      return `### ${group}\n\n| text | ${head} |\n|---|---|\n${rows.join("\n")}`
    })
    .join("\n\n")

/** Writes the page of everything that can be given as a destination. */
export const page = (): string =>
  [
    "# Destinations",
    "For developers whose users paste or scan what they want to pay. By the end, you will know every form that `destination` takes, so you can pass on the text unchanged. Search, filters and Nostr Wallet Connect read the same forms.",
    "In the tables, `{address}`, `{invoice}`, `{lnurl}` and `{offer}` stand for valid values of the service's network, capital letters for upper case, and `/1` and `/2` for two halves. `⏎` is a line break, and `⟨U+200B⟩` a character by its code point.",
    "## Rules",
    [
      `- **Cleaning.** Removed are invisible characters, percent-encoding, white space inside everything except names, and quotes, brackets, bullets, emoji and punctuation around the text. It may have ${Destination.maxLength} characters. An ellipsis at the end is refused: the text is cut off.`,
      "- **Several methods.** A `bitcoin:` URI, pasted or in a domain's DNS (BIP 353), is paid by the first method that can be paid: offers, then invoices, addresses and LNURLs. Expired, unreadable and other networks' methods are skipped. If none can be paid, the error is that of the first.",
      "- **Never twice.** A URI is refused if one of its invoices was paid, is being paid, or is one of this service's that was canceled. If the payment of an invoice failed, the other methods can be used.",
      "- **Never ambiguous.** A text with more than one payment, or with contradictory amounts, is refused.",
      "- **Parameters.** Unknown ones are ignored, except `req-…`. An amount after `lightning:` must be in bitcoin, with a decimal point, or equal the invoice's own in any unit."
    ].join("\n"),
    "## Accepted",
    tables("payment methods, best first", Forms.accepted, ({ form, methods }) => [
      shown(form),
      methods.map(shown).join(", ")
    ]),
    "## Refused",
    "The reason is the code in the library's `DestinationInvalid`. Over HTTP, `wrong_network`, `unsupported` and `amount_mismatch` are [error codes](errors.md); the others are `malformed` with `path` `destination`.",
    tables("reason", Forms.refused, ({ form, code }) => [shown(form), `\`${code}\``])
  ].join("\n\n") + "\n"
