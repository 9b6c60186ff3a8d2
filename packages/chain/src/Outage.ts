import { ChainUnavailable } from "@satrail/core/nodes/ChainSource"

/** A problem of a node or server, described without secrets, and what the operator can do about it. */
export class Outage extends Error {
  readonly remedy: string
  constructor(reason: string, remedy: string) {
    super(reason)
    this.remedy = remedy
  }
  /** The problem and its remedy as one text, without the final period. */
  get sentence(): string {
    return `${this.message}. ${this.remedy.replace(/\.$/, "")}`
  }
}

/** Returns the failure of an operation, with the outage's reason and remedy if the cause is one. */
export const away =
  (operation: string) =>
  (cause: unknown): ChainUnavailable =>
    new ChainUnavailable({
      operation,
      cause,
      ...(cause instanceof Outage && { reason: cause.message, remedy: cause.remedy })
    })
