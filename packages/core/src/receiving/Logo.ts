import { Schema } from "effect"
import * as CompanyId from "../base/CompanyId.ts"
import * as Noun from "../ledger/Noun.ts"
import type { Written } from "../ledger/Written.ts"
import { Picture } from "./Picture.ts"

/** The picture on the pages of a company's checkouts. A company has one record of it at most, whose id is the company's. */
export const Logo = Schema.Struct({
  id: Noun.Id,
  companyId: CompanyId.CompanyId,
  /** What its address is made of: 128 random bits, which say nothing of the company. */
  publicId: Schema.String,
  /** null: it was taken away. */
  picture: Schema.NullOr(Picture),
  createdAtMillis: Schema.Int,
  updatedAtMillis: Schema.Int
})
export interface Logo extends Schema.Schema.Type<typeof Logo> {}

export const noun = Noun.make("logos", Logo, { moving: ["picture", "updatedAtMillis"], unique: [["publicId"]] })

/** Its life: what is there last, is there. */
export const life = {
  changed: Noun.move(noun, "changed", { sets: ["picture"], stamps: ["updatedAtMillis"], again: { same: ["picture"] } })
}

export interface LogoCreated extends Written<"LogoCreated", readonly [Noun.InsertOf<typeof noun>]> {}
export interface LogoChanged extends Written<"LogoChanged", readonly [Noun.TransitionOf<typeof life.changed>]> {}

const of = ({ id, companyId }: Logo, atMillis: number) => ({ id, companyId, atMillis, legs: [] })

export const created = (logo: Logo): LogoCreated => ({
  _tag: "LogoCreated",
  ...of(logo, logo.createdAtMillis),
  writes: [Noun.insert(noun, logo)]
})

/** Another picture, or none. */
export const changed = (logo: Logo, picture: Picture | null, atMillis: number): LogoChanged => ({
  _tag: "LogoChanged",
  ...of(logo, atMillis),
  writes: [Noun.step(life.changed, logo, { picture })]
})
