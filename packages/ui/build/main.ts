// `npm run ui`: writes the files built by Bundle.ts.
import { readdirSync, rmSync, writeFileSync } from "node:fs"
import path from "node:path"
import { assets, files } from "./Bundle.ts"

const made = await files()
for (const name of readdirSync(assets)) if (!made.has(name)) rmSync(path.join(assets, name))
for (const [name, text] of made) writeFileSync(path.join(assets, name), text)
