import { OfferReads } from "@satrail/core/features/offers/OfferReads"
import * as Feature from "../Feature.ts"
import { make } from "./Reads.ts"
import { tables } from "./Tables.ts"

export const offers = Feature.make({ tables, reads: Feature.reads(OfferReads, make) })
