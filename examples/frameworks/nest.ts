import {
  Body,
  Controller,
  HttpCode,
  HttpException,
  Module,
  Post,
  type RawBodyRequest,
  Redirect,
  Req
} from "@nestjs/common"
import { NestFactory } from "@nestjs/core"
import type { IncomingMessage } from "node:http"
import { checkout, receive } from "./shop.ts"

@Controller()
class Shop {
  @Post("buy")
  @Redirect()
  async buy(@Body("order") order: string) {
    return { url: await checkout(order), statusCode: 303 }
  }

  @Post("webhooks")
  @HttpCode(204)
  async receive(@Req() { headers, rawBody = Buffer.alloc(0) }: RawBodyRequest<IncomingMessage>) {
    const status = await receive({ headers, body: rawBody })
    if (status !== 204) throw new HttpException("not a webhook of satrail", status)
  }
}

@Module({ controllers: [Shop] })
class App {}

export const app = await NestFactory.create(App, { rawBody: true, logger: false })
