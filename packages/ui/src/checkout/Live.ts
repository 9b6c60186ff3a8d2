/** Which way to pay is shown. */
export type Tab = "all" | "lightning" | "chain"

/** What only a script can do. Without one the page shows every way to pay, and a link that looks again. */
export interface Live {
  /** How long it may be paid, in milliseconds by the server's clock. */
  readonly leftMillis: number
  readonly tab: Tab
  readonly choose: (tab: Tab) => void
  /** What was copied last. */
  readonly copied: string | null
  readonly copy: (text: string) => void
  /** Nothing is heard from the server. */
  readonly isLost: boolean
  /** Pays the invoice with the browser's own wallet (WebLN); null where it has none. */
  readonly webln: ((invoice: string) => void) | null
  /** Pays it from the sandbox; null where money is real. */
  readonly sandbox: ((way: "lightning" | "chain") => void) | null
  readonly print: () => void
  /** Closes the frame that the page is in; null where it is in none. */
  readonly close: (() => void) | null
}
