import { assert, describe, it } from "@effect/vitest"
import { chunk, chunksOf, logo, pngOf, small } from "@satrail/testing/Pictures"
import { Result } from "effect"
import * as Picture from "@satrail/core/receiving/Picture"

const types = {
  png: "image/png",
  jpeg: "image/jpeg",
  webpLossy: "image/webp",
  webpLossless: "image/webp",
  webpExtended: "image/webp"
} as const
const names = ["png", "jpeg", "webpLossy", "webpLossless", "webpExtended"] as const

const bytesOf = (data: string): Buffer => Buffer.from(data, "base64")
/** What is wrong with it, and with which member. */
const wrong = (type: Picture.ContentType, data: Uint8Array | string): readonly [path: string, message: string] => {
  const read = Picture.read(type, typeof data === "string" ? data : Buffer.from(data).toString("base64"))
  return Result.isFailure(read) ? [read.failure.path, read.failure.message] : assert.fail("it was taken")
}
/** The same bytes, but for some of them. */
const patched = (data: string, at: number, ...bytes: ReadonlyArray<number>): Buffer => {
  const copy = bytesOf(data)
  copy.set(bytes, at)
  return copy
}

describe("A picture that is shown to payers", () => {
  for (const name of names)
    it(`picture: ${name} is what its first bytes say, of the size that its header says`, () => {
      const picture = Result.getOrThrow(Picture.read(types[name], small[name]))
      const { contentType, width, height, data } = picture
      assert.deepStrictEqual([contentType, width, height, data], [types[name], 5, 3, small[name]])
      assert.match(picture.hash, /^[0-9a-f]{64}$/)
    })

  it("picture: another type than its first bytes say is refused, and the right one named", () => {
    for (const name of names)
      for (const type of Picture.ContentType.literals.filter((one) => one !== types[name]))
        assert.deepStrictEqual(wrong(type, small[name]), ["content_type", `${types[name]}, which the picture's first bytes say that it is`])
  })

  it("picture: what is no PNG, JPEG or WebP is refused, whatever is said of it", () => {
    const others = ["<svg xmlns='http://www.w3.org/2000/svg'/>", "GIF89a", "<html>", "", "\x89PNG", "RIFF\0\0\0\0WAVE", "BM", "%PDF-1.7"]
    for (const text of others)
      for (const type of Picture.ContentType.literals)
        assert.deepStrictEqual(wrong(type, Buffer.from(text, "latin1")), [
          "data",
          "A PNG, JPEG or WebP picture, which its first bytes say; no SVG"
        ])
  })

  it("picture: a few bytes that say that they are very many pixels are refused", () => {
    const most = Picture.limits.pixels
    for (const [type, data, width, height] of [
      ["image/png", patched(small.png, 16, 0, 0, 0xff, 0xff), 65_535, 3],
      ["image/png", patched(small.png, 20, 0x80, 0, 0, 0), 5, 2_147_483_648],
      ["image/png", patched(small.png, 16, 0, 0, 4, 1), most + 1, 3],
      ["image/png", patched(small.png, 16, 0, 0, 0, 0), 0, 3],
      ["image/jpeg", patched(small.jpeg, bytesOf(small.jpeg).indexOf("ffc0", "hex") + 5, 0xff, 0xff), 5, 65_535],
      ["image/webp", patched(small.webpLossy, 26, 0xff, 0x3f), 16_383, 3],
      ["image/webp", patched(small.webpLossless, 21, 0xff, 0xbf), 16_384, 3],
      ["image/webp", patched(small.webpExtended, 24, 0xff, 0xff, 0xff), 16_777_216, 3],
      ["image/webp", patched(small.webpExtended, 27, 0, 4, 0), 5, most + 1]
    ] as const)
      assert.deepStrictEqual(wrong(type, data), ["data", `It is ${width} by ${height} pixels: from 1 to ${most} each way are taken`])
    const large = pngOf(chunksOf(most, 1, () => [0, 0, 0, 255]))
    assert.strictEqual(Result.getOrThrow(Picture.read("image/png", large)).width, most)
  })

  it("picture: one that moves is refused", () => {
    const [header, ...rest] = chunksOf(1, 1, () => [0, 0, 0, 255])
    const moving = pngOf([header ?? assert.fail(), chunk("acTL", Buffer.alloc(8)), ...rest])
    assert.match(wrong("image/png", moving)[1], /^It moves/)
    assert.match(wrong("image/webp", patched(small.webpExtended, 20, 2))[1], /^It moves/)
  })

  it("picture: cut short anywhere, or with something behind its end, it is refused or says the same, and nothing breaks", () => {
    for (const name of names) {
      const whole = bytesOf(small[name])
      for (let length = 0; length < whole.length; length++) {
        const read = Picture.read(types[name], whole.subarray(0, length).toString("base64"))
        // The frame of a JPEG is all that is read of it.
        if (Result.isSuccess(read)) assert.deepStrictEqual([name, read.success.width, read.success.height], ["jpeg", 5, 3])
      }
    }
    const behind = (data: string) => Buffer.concat([bytesOf(data), Buffer.from("<script>")])
    assert.deepStrictEqual(wrong("image/png", behind(small.png)), ["data", "A PNG ends with its last chunk"])
    assert.deepStrictEqual(wrong("image/webp", behind(small.webpLossy)), ["data", "A WebP is as long as its header says"])
  })

  it("picture: at most so many bytes, in base64 and nothing else", () => {
    const { bytes } = Picture.limits
    assert.match(wrong("image/png", Buffer.alloc(bytes + 1))[1], /^At most 48000 bytes/)
    for (const data of ["data:image/png;base64,AAAA", "AAA", "AA_-", "AA\nAA", "é", "\ud800"])
      assert.match(wrong("image/png", data)[1], /^The picture's bytes in base64/)
    assert.strictEqual(Result.getOrThrow(Picture.read("image/png", logo())).width, 240)
  })
})
