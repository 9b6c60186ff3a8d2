import { ChainUnavailable } from "@satrail/core/nodes/ChainSource"

/** A problem of a node or server, in words without secrets, and the operator's remedy. */
export class Outage extends Error {
  readonly remedy: string
  constructor(reason: string, remedy: string) {
    super(reason)
    this.remedy = remedy
  }
  /** Both as one sentence without the final period. */
  get sentence(): string {
    return `${this.message}. ${this.remedy.replace(/\.$/, "")}`
  }
}

/** The failure of an operation, with the problem's description if there is one. */
export const away =
  (operation: string) =>
  (cause: unknown): ChainUnavailable =>
    new ChainUnavailable({ operation, cause, ...(cause instanceof Outage && { reason: cause.message, remedy: cause.remedy }) })
