import * as Feature from "../Feature.ts"
import * as Records from "./Records.ts"

export const audit = Feature.make({ money: {}, other: {}, records: Records.other, subjects: {} })
