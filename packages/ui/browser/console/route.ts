import { signal } from "@preact/signals"

/** Where one is: `transactions`, `deposit/0191…`. Behind the `#`, which the browser sends to nobody; no other address is ever gone to. */
export const route = signal(location.hash.replace(/^#\/?/, ""))
addEventListener("hashchange", () => {
  route.value = location.hash.replace(/^#\/?/, "")
})

export const to = (path: string): string => `#/${path}`
export const go = (path: string): void => {
  location.hash = to(path)
}
