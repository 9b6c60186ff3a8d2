import type { AnyVisit, Elsewhere, Page, Shown } from "./Page.ts"
import { text } from "./Page.ts"
import { elided } from "./pages/Rows.ts"

// The search box sends its text in the body of a request. Browsers and proxies keep addresses, and a person can
// paste a secret, such as the link of a voucher.

/** Matches LNURLs, links that pay or sign in their holder, app connections, keys, tokens and invitations. */
const secrets = /lnurl|k1=|secret=|#(?:join|link)=|\b(?:sr|op|inv)_\w{20}/i

/** Maximum length of a text in an address. Proxies limit the size of a response's headers, often to 4 KB. */
const longest = 1000

/** Makes the page of a console's search. `shown` is the text as the page may show it. */
export const searchPage = <V extends AnyVisit>(
  results: (visit: V, sought: string, shown: string) => Promise<Shown | Elsewhere>
): Page<V> => ({
  path: "search",
  nav: "",
  get: (visit) => {
    const sought = (visit.query.get("q") ?? "").trim()
    return results(visit, sought, elided(sought, 60))
  },
  post: async (visit) => {
    const q = text(visit, "q")
    return q.length > longest || secrets.test(q)
      ? results(visit, q, elided(q, 16))
      : { redirect: `search?${new URLSearchParams({ q }).toString()}` }
  }
})
