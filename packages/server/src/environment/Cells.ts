import { isLetter } from "@satrail/core/accounts/ApiKey"
import { Config, type Redacted } from "effect"
import * as Database from "./Database.ts"
import * as Service from "./Service.ts"
import * as Setting from "./Setting.ts"

/** As many cells as there are letters. */
const maxCells = 58

const readOrigins = (text: string): ReadonlyMap<string, string> | undefined => {
  const all = text.split(",").map((one) => {
    const [, letter = "", origin = ""] = /^\s*(.)=(\S+?)\s*$/.exec(one) ?? []
    const url = URL.parse(origin)
    return isLetter(letter) && url !== null && /^https?:$/.test(url.protocol) && url.origin === origin
      ? ([letter, origin] as const)
      : undefined
  })
  const found = all.filter((one) => one !== undefined)
  const origins = new Map(found)
  const isWhole = found.length === all.length && origins.size === all.length && new Set(origins.values()).size === all.length
  return isWhole && all.length >= 2 && all.length <= maxCells ? origins : undefined
}

/** A service that is several deployments, and this one of them: all three, or none. */
export const settings = {
  cell: Setting.optional({
    name: "SATRAIL_CELL",
    meaning:
      "Which of several cells this deployment is: the first letter of the ids of the API keys that it issues, the same in all of its processes and for ever",
    wants: "one letter or digit, other than 0, O, I and l",
    read: (text) => (isLetter(text) ? text : undefined)
  }),
  cells: Setting.optional({
    name: "SATRAIL_CELLS",
    meaning: "Where each cell is reached, this one too, the same in all of them",
    wants: "2 to 58 such as a=https://a.pay.example.com,b=https://b.pay.example.com, each with another letter and another origin",
    read: readOrigins
  }),
  cellRegistry: Setting.optional({
    name: "SATRAIL_CELL_REGISTRY",
    meaning: "The small database that all cells share: it has whose each handle at SATRAIL_DOMAIN is, and no money",
    ...Database.address
  })
}

/** Which of several deployments this one is. */
export interface Cell {
  readonly letter: string
  readonly origins: ReadonlyMap<string, string>
  readonly registry: Redacted.Redacted
}

/** Undefined where this deployment is the whole service. */
const chosen: Config.Config<Cell | undefined> = Config.flatMap(Setting.all(settings), ({ cell, cells, cellRegistry }) => {
  if (cell === undefined && cells === undefined && cellRegistry === undefined) return Config.succeed(undefined)
  const missing = Object.entries({ cell, cells, cellRegistry }).flatMap(([key, value]) => (value === undefined ? [key] : []))
  if (cell === undefined || cells === undefined || cellRegistry === undefined) {
    const names = Object.entries(settings).flatMap(([key, { name }]) => (missing.includes(key) ? [name] : []))
    return Setting.refused(`${names.join(" and ")} must be given too: a cell has SATRAIL_CELL, SATRAIL_CELLS and SATRAIL_CELL_REGISTRY`)
  }
  return cells.has(cell)
    ? Config.succeed({ letter: cell, origins: cells, registry: cellRegistry })
    : Setting.refused(`SATRAIL_CELL must be one of SATRAIL_CELLS (${[...cells.keys()].join(", ")}), got ${JSON.stringify(cell)}`)
})

/** The same, and where its clients reach it: links have to lead to the cell that they are of. */
export const config: Config.Config<{ readonly cell: Cell | undefined; readonly publicUrl: string | undefined }> = Config.flatMap(
  Config.all({ cell: chosen, publicUrl: Service.identity.publicUrl }),
  ({ cell, publicUrl }) => {
    const origin = cell?.origins.get(cell.letter)
    return cell !== undefined && publicUrl !== undefined && publicUrl !== origin
      ? Setting.refused(`SATRAIL_PUBLIC_URL must be ${origin}, this cell's in SATRAIL_CELLS, got ${JSON.stringify(publicUrl)}`)
      : Config.succeed({ cell, publicUrl: publicUrl ?? origin })
  }
)
