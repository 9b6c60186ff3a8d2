/** Formats recognized by their beginning that cannot be paid, in lower case. */
const formats: ReadonlyArray<readonly [beginning: RegExp, message: string]> = [
  [/^ln[ri]1/, "BOLT 12 invoices and invoice requests cannot be paid. Ask for an offer or a BOLT 11 invoice"],
  [/^t?sp1/, "Silent payment addresses cannot be paid yet. Ask for an ordinary bitcoin address"],
  [/^0[23][0-9a-f]{64}$/, "A node's key cannot be paid. Ask for an invoice"],
  [/^[xyztuv](?:pub|prv)/, "An extended key is not an address. Ask for an address"],
  [
    /^(?:nostr:)?(?:npub|nprofile|nsec|note|nevent|naddr)1/,
    "A Nostr identifier cannot be paid. Use the Lightning address in the profile"
  ],
  [/^cashu[ab]/, "A Cashu token is money, not a payee. Redeem it in a Cashu wallet"],
  [
    /^(?:0x[0-9a-f]{40}$|t?ltc1|lq1|ex1|(?:bitcoincash|bchtest|ethereum|litecoin|dogecoin|dash|zcash|monero|solana|tron|ripple|cardano|liquidnetwork):)/,
    "This is for another currency. This service pays only bitcoin"
  ],
  [/^https?:/, "A web address cannot be paid. Use the LNURL or the Lightning address"]
]

/** Returns why a text without its scheme cannot be paid, if its beginning shows it. */
export const reason = (text: string): string | undefined => {
  const lower = text.toLowerCase()
  return formats.find(([beginning]) => beginning.test(lower))?.[1]
}
