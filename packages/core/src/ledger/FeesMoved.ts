import { Schema } from "effect"
import { CompanyId } from "../base/CompanyId.ts"

/** The company's fees are not those that the Change goes by: they were changed before it was committed. Nothing was held. */
export class FeesMoved extends Schema.TaggedError<FeesMoved>()("FeesMoved", { companyId: CompanyId }) {}
