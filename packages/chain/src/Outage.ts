import { ChainUnavailable } from "@satrail/core/nodes/ChainSource"

/** What is wrong with a node or server, in words that anybody may read, and what its operator does about it. */
export class Outage extends Error {
  readonly remedy: string
  constructor(reason: string, remedy: string) {
    super(reason)
    this.remedy = remedy
  }
  /** Both, for a text that goes on after it. */
  get sentence(): string {
    return `${this.message}. ${this.remedy.replace(/\.$/, "")}`
  }
}

/** The failure of an operation: with the words of what is wrong, where it has any. */
export const away =
  (operation: string) =>
  (cause: unknown): ChainUnavailable =>
    new ChainUnavailable({ operation, cause, ...(cause instanceof Outage && { reason: cause.message, remedy: cause.remedy }) })
