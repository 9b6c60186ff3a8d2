import { OfferReads } from "../core/OfferReads.ts"
import * as Feature from "@satrail/postgres/client/Feature"
import { make } from "./Reads.ts"
import { tables } from "./Tables.ts"

export const offers = Feature.make({ tables, reads: Feature.reads(OfferReads, make) })
