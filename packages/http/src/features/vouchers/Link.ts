import * as Lnurl from "@satrail/bitcoin/Lnurl"
import { Redacted } from "effect"

/** The link as LUD-01 and LUD-17 write it. */
export const link = (url: Redacted.Redacted) => ({
  lnurl: Lnurl.encode(Redacted.value(url)),
  lnurlw: Redacted.value(url).replace(/^https?:/, "lnurlw:")
})
