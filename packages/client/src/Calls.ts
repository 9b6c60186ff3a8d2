/** A company, or its id. */
export type CompanyRef = string | { readonly id: string }

/** Options of every call, in addition to its own members. */
export interface CallOptions {
  /** The company that the client's key must belong to, or for which its function returns the key. */
  readonly company?: CompanyRef | undefined
  readonly signal?: AbortSignal | undefined
}

export interface CreateOptions extends CallOptions {
  /**
   * By default a new one per request. The same key with the same request takes effect once, even after your
   * program restarts.
   */
  readonly idempotencyKey?: string | undefined
}

/** A page of a list. `next` is the `cursor` of the next page, undefined on the last. */
export interface Page<A> {
  readonly items: ReadonlyArray<A>
  readonly next: string | undefined
}

/** A list: `await` returns its first page, and `for await` reads all pages. */
export interface List<A> extends PromiseLike<Page<A>>, AsyncIterable<A> {}

/** A list whose pages `read` fetches. Nothing is requested until the caller reads it. */
export const list = <A>(read: (cursor: string | undefined) => Promise<Page<A>>): List<A> => {
  let first: Promise<Page<A>> | undefined
  const start = () => (first ??= read(undefined))
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
