import "@satrail/bitcoin/checkRuntime"

export * as Document from "./checkout/Document.ts"
export * as Files from "./Files.ts"
export * as Html from "./Html.ts"
export * as State from "./checkout/State.ts"
export * as Words from "./checkout/Words.ts"
