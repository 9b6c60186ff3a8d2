import { h } from "preact"
import { may, type Visit } from "../../Page.ts"
import { body, confirm, type Fact, factPanel, form, panel } from "../../Parts.ts"

// Parts shared by the pages of vouchers and of refunds, which payers claim in the same way.

/** The facts, and a form to cancel a link that has not been claimed. */
export const record = (visit: Visit, cancels: readonly [path: string, words: string] | false, of: ReadonlyArray<Fact | null>) => [
  factPanel("Details", of),
  cancels !== false &&
    may(visit, "send") &&
    form(
      visit.to(cancels[0]),
      { class: "form-side" },
      panel(
        cancels[1],
        {},
        body(h("p", null, "The link stops working, and the amount and its fee are released.")),
        confirm(cancels[1], { isConfirmed: visit.user.isConfirmed, kind: "danger" })
      )
    )
]
