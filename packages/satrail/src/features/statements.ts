import { Companies } from "@satrail/core/accounts/Companies"
import { Statements } from "@satrail/features/statements/core/Statements"
import * as Http from "@satrail/features/statements/http/Statements"
import { Effect } from "effect"
import type { Id, Of } from "../Sharing.ts"
import { company, named, text } from "../Fields.ts"

export const parameters = { statements: { get: [company, named("month", text)] } } as const

export const shared = (of: Of) => ({
  statements: {
    get: (companyId: Id, month: string) =>
      Effect.all({ month: of(Statements).get(companyId, month), company: of(Companies).get(companyId) }).pipe(
        Effect.map(({ month, company }) => ({ ...month, company }))
      )
  }
})
export const views = { statements: { get: Http.view.of } } as const
