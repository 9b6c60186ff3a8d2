// The documentation: buttons that copy code, and a search while the reader types. Both pages work without it.

const shownMillis = 2000
const pauseMillis = 150

for (const block of document.querySelectorAll<HTMLElement>("main pre")) {
  const frame = document.createElement("div")
  frame.className = "code"
  const button = document.createElement("button")
  button.type = "button"
  button.textContent = "Copy"
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(block.textContent ?? "")
    button.textContent = "Copied"
    setTimeout(() => {
      button.textContent = "Copy"
    }, shownMillis)
  })
  block.replaceWith(frame)
  frame.append(block, button)
}

const form = document.querySelector<HTMLFormElement>("form[role=search]")
const input = form?.querySelector("input")
if (form && input) {
  const results = document.createElement("div")
  results.className = "results"
  results.setAttribute("role", "status")
  results.hidden = true
  form.append(results)
  let timer: ReturnType<typeof setTimeout> | undefined
  let asked = 0
  const look = async () => {
    const mine = ++asked
    const text = input.value.trim()
    if (text === "") {
      results.hidden = true
      return
    }
    const response = await fetch(`${form.action}?q=${encodeURIComponent(text)}`, {
      headers: { accept: "text/html" }
    })
    const page = new DOMParser().parseFromString(await response.text(), "text/html")
    const found = page.querySelector("main > :last-child")
    if (mine !== asked || found === null) return
    // The links of the results are relative to the first page, to which the form leads.
    for (const link of found.querySelectorAll("a"))
      link.href = new URL(link.getAttribute("href") ?? "", form.action).href
    results.replaceChildren(document.importNode(found, true))
    results.hidden = false
  }
  input.addEventListener("input", () => {
    clearTimeout(timer)
    timer = setTimeout(() => void look().catch(() => undefined), pauseMillis)
  })
  input.addEventListener("keydown", ({ key }) => {
    if (key === "Escape") results.hidden = true
  })
}
