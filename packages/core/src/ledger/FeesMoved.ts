import { Schema } from "effect"
import { CompanyId } from "../base/CompanyId.ts"

/**
 * The company's fees changed after the Change was calculated and before it was committed. Nothing was held.
 */
export class FeesMoved extends Schema.TaggedError<FeesMoved>()("FeesMoved", { companyId: CompanyId }) {}
