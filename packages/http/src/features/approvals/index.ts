import * as Feature from "../Feature.ts"
import * as Approvals from "./Approvals.ts"

/** Its operations are those of the section `send`: see Sections.ts. */
export const approvals = Feature.make({ errors: Approvals.errors })
