import { Brand, Schema } from "effect"
import * as Id from "./Id.ts"

/** The id of a company: whose something is. Not any other id, so that `withdrawal(companyId, id)` cannot be asked with the two swapped. */
export const CompanyId = Schema.String.annotate({ kind: "uuid" }).pipe(Schema.brand("CompanyId"))
export type CompanyId = typeof CompanyId.Type

/** Names an id as a company's. It is not checked. */
export const make = Brand.nominal<CompanyId>()

/** No company: owner of what belongs to the operator alone. */
export const operator: CompanyId = make(Id.nil)
