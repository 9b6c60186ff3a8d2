import type { AnyVisit, Elsewhere, Page, Shown } from "./Page.ts"
import { text } from "./Page.ts"
import { elided } from "./pages/Rows.ts"

// The search box sends its text in the body of a request. Browsers and proxies keep addresses, and a person can
// paste a secret, such as the link of a voucher.

/**
 * Matches secrets that this service issues: LNURLs, links that pay or sign in their holder, app connections, keys, tokens,
 * invitations and webhook secrets. A link can contain them percent-encoded.
 */
const issued = /lnurl|walletconnect|(?:k1|secret|join|link)(?:=|%3d)|\b(?:sr|op|inv)_[\w-]{20}|\bwhsec_/i
/**
 * Matches other secrets: a wallet's words, private keys of Nostr and BIP 32, lnd's macaroons in hex or base64, and preimages,
 * which look like hashes.
 */
const others =
  /^(?:[a-z]{3,8}\s+){11,}[a-z]{3,8}$|^[0-9a-f]{64}$|\b(?:nsec1|[xyztuv]prv)\w{20}|0201036c6e64|AgEDbG5k/i

/** Maximum length of an address with the text. Proxies limit the size of a response's headers, often to 4 KB. */
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
    const redirect = `search?${new URLSearchParams({ q }).toString()}`
    return redirect.length > longest || issued.test(q) || others.test(q)
      ? results(visit, q, elided(q, 16))
      : { redirect }
  }
})
