import { type Canary } from "../Canary.ts"

export const canaries: ReadonlyArray<Canary> = [
  {
    name: "description-is-markup",
    bug: "the checkout page renders its company's text as markup",
    file: "packages/ui/src/checkout/Bill.ts",
    in: "bill",
    find: `h("p", { class: "what" }, bdi(page.description))`,
    replace: `h("p", { class: "what", dangerouslySetInnerHTML: { __html: page.description } })`,
    test: "packages/http/test/corpus.test.ts",
    titles: "corpus:"
  }
]
