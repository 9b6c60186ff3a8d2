// A bundled host that mounts the handler: reads the API, a payment page, and a file that the page loads.
import { satrail } from "satrail"

const main = async () => {
  const pay = await satrail({ database: "memory" })
  const shop = await pay.companies.create({ name: "Shop" })
  const { url } = await pay.checkouts.create({ company: shop.id, amount: 21_000, description: "tea" })
  const at = (path) => pay.handler(new Request(new URL(path, "http://localhost")))
  const page = await (await at(new URL(url).pathname)).text()
  const [file = "missing"] = /\/ui\/[\w.-]+\.js/.exec(page) ?? []
  const statuses = await Promise.all(["/healthz", file, "/docs/api"].map(async (path) => (await at(path)).status))
  await pay.close()
  console.log(statuses.join())
}
main()
