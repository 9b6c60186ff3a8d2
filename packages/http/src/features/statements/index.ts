import * as OfCompany from "../../api/OfCompany.ts"
import * as Feature from "../Feature.ts"
import * as Statements from "./Statements.ts"

/** Its operation is one of the section `read`: see `Sections.ts`. */
export const statements = Feature.make({ ofCompany: [OfCompany.read(Statements.get)] })
