import type { Context } from 'koa';
import type { JsonObject } from '../../protocol/json/value.ts';
import type { Account } from '../accounts/accounts.ts';

/** One endpoint. `key` routes are called with the account whose API key came with the request. */
export type Route = FreeRoute | KeyRoute;

interface RoutePath {
  readonly method: 'GET' | 'POST';
  /** Below the API root, e.g. `/v1/status/:id`. */
  readonly path: string;
}

export interface FreeRoute extends RoutePath {
  readonly access: 'free';
  answer(call: Call): Promise<Answer>;
}

export interface KeyRoute extends RoutePath {
  readonly access: 'key';
  answer(call: Call, account: Account): Promise<Answer>;
}

export interface Call {
  readonly context: Context;
  /** Path parameters, percent-decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
}

/** Status 200 unless it says otherwise. */
export interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: JsonObject | string;
}
