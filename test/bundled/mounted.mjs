// A bundled host: runs the program of docs/start.md, then mounts the handler and reads a payment page, a file that the page
// loads, and the reference of the API.
import { satrail } from "satrail"
import { shop } from "./shop.mjs"

const main = async () => {
  await shop()
  const pay = await satrail.test()
  const { id } = await pay.companies.create({ name: "Shop" })
  const { url } = await pay.checkouts.create({ company: id, amount: 21_000, description: "tea" })
  const at = (path) => pay.handler(new Request(new URL(path, "http://localhost")))
  const page = await (await at(new URL(url).pathname)).text()
  const [file = "missing"] = /\/ui\/[\w.-]+\.js/.exec(page) ?? []
  const statuses = await Promise.all(
    ["/healthz", file, "/docs/api"].map(async (path) => (await at(path)).status)
  )
  await pay.close()
  console.log(statuses.join())
}
main()
