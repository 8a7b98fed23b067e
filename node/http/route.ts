import type { Readable } from 'node:stream';
import type { Context } from 'koa';
import type { TSchema } from 'typebox';
import type { JsonObject, JsonValue } from '../../protocol/json/value.ts';
import type { WalletAddress } from '../../protocol/payments/payment.ts';
import type { ServiceName } from '../../protocol/payments/prices.ts';
import type { Caller } from '../accounts/caller.ts';
import type { Scope } from '../accounts/scopes.ts';
import type { PaidRecording } from '../payments/paid-recording.ts';
import type { PaidAnswer } from '../payments/paid-request.ts';
import type { BodyLimits } from './body.ts';
import type { ProblemCode } from './problem-codes.ts';

/**
 * One endpoint. `key` routes are called with the caller whose API key came with the request, `paid` ones once a payment
 * holds.
 */
export type Route = FreeRoute | KeyRoute | PaidRoute;

interface RoutePath {
  readonly method: 'DELETE' | 'GET' | 'POST' | 'PUT';
  /** Below the API root, e.g. `/v1/status/:id`. */
  readonly path: string;
}

/** Reached through the socket in the node's home: no part of the API. */
export interface OperatorRoute extends RoutePath {
  readonly access: 'free';
  /** Whether callers without a key are bounded by their address. Default true. */
  readonly limited?: boolean;
  answer(call: Call): Promise<Answer>;
}

/** A page for people, or a file of one: no part of the API and of its document. */
export interface PageRoute extends OperatorRoute {
  /** Pages with a form of their own take what it sends. */
  readonly method: 'GET' | 'POST';
  readonly isPage: true;
  /** Whether somebody must be signed in who sees it. Default false. */
  readonly isSignedIn?: boolean;
}

export interface FreeRoute extends OperatorRoute {
  readonly documentation: Documentation;
  /** Whether pages of any origin may call it. Default: where it is a GET. */
  readonly crossOrigin?: boolean;
  answer(call: Call): Promise<Answer>;
}

export interface KeyRoute extends RoutePath {
  readonly access: 'key';
  readonly documentation: Documentation;
  /** What the key must be allowed to do; null: any valid key will do. */
  readonly scope: Scope | null;
  /** Records that one accepted call makes, or the fewest: they count against the daily cap. Default 0. */
  readonly records?: number;
  /** Whether it takes an `Idempotency-Key` though it makes no records. Default: false. */
  readonly idempotent?: boolean;
  /** What those are answered who send no key: bounded by their address, as callers of free routes. Default: 401. */
  withoutKey?(call: Call): Promise<Answer>;
  answer(call: Call, caller: Caller): Promise<Answer>;
}

export interface PaidRoute extends RoutePath {
  readonly access: 'paid';
  /** What is sold; the price is that of the one price table. */
  readonly service: ServiceName;
  readonly documentation: Documentation;
  /** Bounds on the body of a POST. Default: those of every body. */
  readonly body?: BodyLimits;
  /** What the path alone rules out, before any price is named. Throws `Problem` 404 or 400. */
  checkPath?(call: Call): Promise<void> | void;
  /**
   * Throws where it is known that nothing can be sold at present, so that no price is named and no payment looked at,
   * unless it was taken on before.
   */
  requireReady?(): void;
  /**
   * Checks a request that shows a payment, and hands over the work. `body`: that of a POST, else empty; each of its
   * `items` stands in it as a zero. Throws `Problem` 400 and the like: nothing is charged, and the payment stays as good
   * as it was. Nothing may be done or recorded here.
   */
  prepare(call: Call, body: JsonObject, items: BodyItems): Promise<PaidWork> | PaidWork;
}

/** The items of the long member of a body, until the call is answered. */
export interface BodyItems {
  /**
   * Parses each and hands it over, in order and in slices: of a wallet that may have no money nothing more is held.
   * Throws `Problem` `invalid-json`, which names the item, and what `work` throws.
   */
  each(work: (value: JsonValue, index: number) => void): Promise<void>;
}

/**
 * Does what is paid for, after the payment was verified and before it is settled. What it throws is not charged. It
 * runs once for a payment, unless it failed, its caller went away, or the node stopped before its result was on the
 * disk.
 */
export type PaidWork = (paid: PaidCall) => Promise<PaidAnswer>;

export interface PaidCall {
  readonly payer: WalletAddress;
  /** Account that its records are made under: the tenant's whose API key came along, else one of the wallet. */
  readonly account: string;
  /** The tenant whose API key came along and may record; null where none did. */
  readonly caller: Caller | null;
  /** The only way to make records in a paid call: they are prepared, and made once the call is settled. */
  readonly recording: PaidRecording;
  /**
   * Aborted once the work is worth nothing any more: it took too long, or nobody waits for it. Work may throw its
   * reason.
   */
  readonly signal: AbortSignal;
}

export interface Call {
  readonly context: Context;
  /** Path parameters, percent-decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /**
   * To be called once the records of the call are made: its place, and what it held of the daily cap, are let go of.
   */
  readonly counted: () => void;
  /**
   * Holds room of the daily cap for so many records, in the place of what is held: the route's `records`, or nothing
   * where the request has an `Idempotency-Key`. Throws `LimitError` `daily-cap-exceeded` where they do not all fit.
   */
  readonly reserve: (records: number) => Promise<void>;
  /** Takes a place of the route's class for anyone who asks, before a body is read. Rejects with `Problem` 503. */
  readonly enter: () => Promise<Disposable>;
}

/** Status 200 unless it says otherwise. */
export interface Answer {
  readonly status?: number;
  /** `Cache-Control` is `no-store` unless it is among them. */
  readonly headers?: Readonly<Record<string, string>>;
  /** `bodyHash` of a body that the route keeps. Default: computed where it is needed. */
  readonly bodyHash?: string;
  /** A stream is sent as it comes; the caller must not have to wait for its first piece to know of a refusal. */
  readonly body: JsonObject | string | Uint8Array | Readable;
}

/** The words, schemas and examples that the OpenAPI document is made of. */
export interface Documentation {
  readonly summary: string;
  readonly description?: string;
  readonly params?: Readonly<Record<string, ParameterDocumentation>>;
  readonly query?: Readonly<Record<string, ParameterDocumentation>>;
  readonly request?: RequestDocumentation;
  /**
   * A schema for JSON (`application/json` unless it says otherwise), or the content type of anything else. `others`:
   * examples by further content types.
   */
  readonly answer:
    | { readonly shape: TSchema; readonly example: JsonObject; readonly contentType?: string }
    | { readonly contentType: string; readonly example: string; readonly others?: Readonly<Record<string, string>> };
  /** Headers that this answer may carry beside those of its access. */
  readonly headers?: readonly AnswerHeaderName[];
  /** Statuses besides 200 that come with the same form of answer, and when. */
  readonly otherStatuses?: Readonly<Record<number, string>>;
  /** What it refuses with, beside the refusals of every route of its access. */
  readonly problems: readonly ProblemCode[];
}

export interface RequestDocumentation {
  readonly shape: TSchema;
  readonly example: JsonValue;
  /** The body may be left out. */
  readonly optional?: boolean;
  /** Set where a list is also taken as JSON lines, one item a line: an example. */
  readonly lines?: string;
}

export interface ParameterDocumentation {
  readonly description: string;
  readonly shape: TSchema;
  readonly example: string;
  readonly required?: boolean;
}

/** Headers that answers of some routes carry and the document of the API describes. */
export type AnswerHeaderName =
  | 'Accept-Ranges'
  | 'Content-Disposition'
  | 'Content-Range'
  | 'X-Linked-Truncated'
  | 'X-Proof-Window-Ends-At';
