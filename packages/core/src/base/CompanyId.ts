import { Brand, Schema } from "effect"
import * as Id from "./Id.ts"

/**
 * Id of a company. Branded, so that `withdrawal(companyId, id)` does not compile with the two ids swapped.
 */
export const CompanyId = Schema.String.annotate({ kind: "uuid" }).pipe(Schema.brand("CompanyId"))
export type CompanyId = typeof CompanyId.Type

/** Brands an id as a company's without checking it. */
export const make = Brand.nominal<CompanyId>()

/** Owner of records that belong to the operator and to no company. */
export const operator: CompanyId = make(Id.nil)
