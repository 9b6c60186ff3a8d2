import { crc32, deflateSync } from "node:zlib"

// Pictures as browsers make and show them, in base64. All of the small ones have 5 by 3 pixels.

export const small = {
  png: "iVBORw0KGgoAAAANSUhEUgAAAAUAAAADCAIAAADUVFKvAAAAEElEQVR42mMwTjuDjBgI8AHtUBTs0iJbmgAAAABJRU5ErkJggg==",
  jpeg: "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDACgcHiMeGSgjISMtKygwPGRBPDc3PHtYXUlkkYCZlo+AjIqgtObDoKrarYqMyP/L2u71////m8H////6/+b9//j/2wBDASstLTw1PHZBQXb4pYyl+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj/wAARCAADAAUDASIAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAAAAP/xAAUEAEAAAAAAAAAAAAAAAAAAAAA/8QAFQEBAQAAAAAAAAAAAAAAAAAAAwT/xAAUEQEAAAAAAAAAAAAAAAAAAAAA/9oADAMBAAIRAxEAPwCICsL/2Q==",
  webpLossy: "UklGRjIAAABXRUJQVlA4ICYAAABwAQCdASoFAAMABUB8JaACdAFAAAD+3hJ9tvqT8q805ZnCvpAAAA==",
  webpLossless: "UklGRh4AAABXRUJQVlA4TBEAAAAvBIAAAAdQs86Uuf+BiOh/AAA=",
  webpExtended: "UklGRkQAAABXRUJQVlA4WAoAAAAAAAAABAAAAgAAVlA4ICYAAABwAQCdASoFAAMABUB8JaACdAFAAAD+3hJ9tvqT8q805ZnCvpAAAA=="
} as const

/** One chunk of a PNG. */
export const chunk = (type: string, data: Uint8Array): Buffer => {
  const bytes = Buffer.concat([Buffer.alloc(4), Buffer.from(type, "latin1"), data, Buffer.alloc(4)])
  bytes.writeUInt32BE(data.length)
  bytes.writeUInt32BE(crc32(bytes.subarray(4, -4)), bytes.length - 4)
  return bytes
}

type Pixel = readonly [red: number, green: number, blue: number, alpha: number]

/** The chunks of a PNG, behind its first eight bytes. */
export const chunksOf = (width: number, height: number, at: (x: number, y: number) => Pixel): ReadonlyArray<Buffer> => {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width)
  header.writeUInt32BE(height, 4)
  header.set([8, 6], 8)
  const rows = Array.from({ length: height }, (_, y) => [0, ...Array.from({ length: width }, (_, x) => at(x, y)).flat()])
  return [chunk("IHDR", header), chunk("IDAT", deflateSync(Uint8Array.from(rows.flat()))), chunk("IEND", Buffer.alloc(0))]
}

export const pngOf = (chunks: ReadonlyArray<Buffer>): string =>
  Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), ...chunks]).toString("base64")

/** A dark ring on nothing, as wide as three of it. */
export const logo = (): string => {
  const [radius, thick] = [40, 12]
  const ink: Pixel = [24, 24, 60, 255]
  const none: Pixel = [0, 0, 0, 0]
  const isInk = (x: number, y: number) => {
    const far = Math.hypot((x % (2 * radius)) - radius, y - radius)
    return far < radius - 2 && far > radius - 2 - thick
  }
  return pngOf(chunksOf(6 * radius, 2 * radius, (x, y) => (isInk(x, y) ? ink : none)))
}
