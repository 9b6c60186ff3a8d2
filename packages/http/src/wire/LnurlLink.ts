import * as Lnurl from "@satrail/bitcoin/Lnurl"
import { Redacted } from "effect"

/** Returns the link in the forms of LUD-01 and LUD-17. */
export const link = (url: Redacted.Redacted) => ({
  lnurl: Lnurl.encode(Redacted.value(url)),
  lnurlw: Redacted.value(url).replace(/^https?:/, "lnurlw:")
})
