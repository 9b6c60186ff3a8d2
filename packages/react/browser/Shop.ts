// The page of a shop, for tests in a real browser (packages/server/test/browser).
import { createElement, StrictMode, useState } from "react"
import { createRoot } from "react-dom/client"
import { Checkout } from "../src/index.ts"

const Shop = () => {
  const [paid, setPaid] = useState<ReadonlyArray<number>>([])
  const id = new URLSearchParams(location.search).get("id") ?? ""
  return createElement(
    "main",
    null,
    createElement(Checkout, {
      id,
      onPaid: ({ receivedSats }) => setPaid((before) => [...before, receivedSats])
    }),
    createElement("output", null, `paid: ${paid.join()}`)
  )
}

createRoot(document.body.appendChild(document.createElement("div"))).render(
  createElement(StrictMode, null, createElement(Shop))
)
