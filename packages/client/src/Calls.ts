/** A company, or its id. */
export type CompanyRef = string | { readonly id: string }

/** Options that every call accepts, in addition to its own fields. */
export interface CallOptions {
  /**
   * The company whose key the client uses. If the client's option `key` is a function, it receives this
   * company; otherwise the key must belong to this company.
   */
  readonly company?: CompanyRef | undefined
  readonly signal?: AbortSignal | undefined
}

export interface CreateOptions extends CallOptions {
  /**
   * Defaults to a new key per call. If you send a request again with the same key, it takes effect only once,
   * even if your program restarted in between. Undefined is refused, because a missing header would pay twice.
   */
  readonly idempotencyKey?: string
}

/** A page of a list. `next` is the `cursor` of the next page, or undefined on the last page. */
export interface Page<A> {
  readonly items: ReadonlyArray<A>
  readonly next: string | undefined
}

/** A list. `await` returns its first page, and `for await` iterates over the items of all pages. */
export interface List<A> extends PromiseLike<Page<A>>, AsyncIterable<A> {}

/** Returns a list whose pages are fetched by `read`. Nothing is requested until the caller reads the list. */
export const list = <A>(read: (cursor?: string) => Promise<Page<A>>): List<A> => {
  let first: Promise<Page<A>> | undefined
  const start = () => (first ??= read())
  return {
    // oxlint-disable-next-line unicorn/no-thenable -- `await` returns the first page
    then: (resolve, reject) => start().then(resolve, reject),
    async *[Symbol.asyncIterator]() {
      for (let page = await start(); ; page = await read(page.next)) {
        yield* page.items
        if (page.next === undefined) return
      }
    }
  }
}
