import type { JsonObject } from '../../protocol/json/value.ts';
import type { Holder } from '../accounts/limits/holder-counts.ts';
import { PROBLEM_KINDS, type ProblemCode } from './problem-codes.ts';

export type { ProblemCode } from './problem-codes.ts';

/** A bound on calls at the same time: their places, their bytes in memory, or one holder's share of either. */
export const BOUND_REASONS = ['memory', 'places', 'share'] as const;

export type BoundReason = (typeof BOUND_REASONS)[number];

/**
 * One field that was refused. `field` is a dotted path, `pointer` the same as a JSON Pointer fragment (RFC 6901 §6).
 */
export interface FieldError {
  readonly field: string;
  readonly pointer: string;
  readonly code: string;
  readonly message: string;
}

export interface ProblemOptions {
  readonly errors?: readonly FieldError[];
  /** Response headers, as `Retry-After` or `Allow`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Further members of the body; they never replace a standard one. */
  readonly extra?: JsonObject;
  /** For the log only; a caller never sees it. */
  readonly cause?: unknown;
  /** The node answers as it was set up to: no fault, whatever the status, and none fills the log by asking. */
  readonly expected?: boolean;
  /** What was used up, where the code does not say so. */
  readonly reason?: BoundReason;
  /** Whose allowance is used up. Default: that of anyone who asks. */
  readonly holder?: Holder;
}

/** Who was refused what, in words that name nobody. */
export interface RefusedWork {
  readonly class: string;
  readonly holder: string;
}

/** The request that a problem answers. */
export interface ProblemOccurrence {
  /** Public address of the node, without a slash at its end. */
  readonly baseUrl: string;
  /** Path of the request, without its query. */
  readonly instance: string;
  readonly requestId: string;
  /** Of a 429 or 503. */
  readonly refused?: RefusedWork;
}

export const PROBLEM_CONTENT_TYPE = 'application/problem+json';

const INTERNAL_DETAIL = 'The request could not be completed because of an internal error.';

/** A refusal that the caller is told about: its detail and members are public. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly code: ProblemCode;
  readonly status: number;
  readonly detail: string;
  readonly errors: readonly FieldError[];
  readonly headers: Readonly<Record<string, string>>;
  readonly extra: JsonObject;
  readonly reason: BoundReason | undefined;
  readonly holder: Holder | undefined;
  readonly #expected: boolean;

  constructor(code: ProblemCode, detail: string, options: ProblemOptions = {}) {
    super(detail, options.cause === undefined ? {} : { cause: options.cause });
    this.code = code;
    this.status = PROBLEM_KINDS[code].status;
    this.detail = detail;
    this.errors = options.errors ?? [];
    this.headers = options.headers ?? {};
    this.extra = options.extra ?? {};
    this.reason = options.reason;
    this.holder = options.holder;
    this.#expected = options.expected ?? false;
  }

  /** The node did not do what it is there for, and its operator is told. */
  get isFault(): boolean {
    return this.status >= 500 && !this.#expected;
  }
}

/** Whatever was thrown, as a problem. Anything but a `Problem` becomes `internal`, its text kept only as the cause. */
export function toProblem(thrown: unknown): Problem {
  return thrown instanceof Problem ? thrown : new Problem('internal', INTERNAL_DETAIL, { cause: thrown });
}

/** The body of an error answer: RFC 9457 members, and `success`, `code`, `error`, `requestId`, `errors` beside them. */
export function problemBody(thrown: unknown, { baseUrl, instance, requestId, refused }: ProblemOccurrence): JsonObject {
  const { code, status, detail, errors, extra } = toProblem(thrown);
  return {
    ...extra,
    ...refused,
    type: `${baseUrl}/problems/${code}`,
    title: PROBLEM_KINDS[code].title,
    status,
    detail,
    instance,
    success: false,
    code,
    error: detail,
    requestId,
    errors: errors.map(({ field, pointer, code: reason, message }) => ({ field, pointer, code: reason, message })),
  };
}

/** A refusal of one named field. `path` holds member names and array indexes. */
export function fieldError(path: readonly (string | number)[], code: string, message: string): FieldError {
  const pointer = path.map((part) => `/${pointerToken(String(part))}`).join('');
  return { field: path.join('.'), pointer: `#${pointer}`, code, message };
}

/** A refusal for one named field, whose detail is the field's name and what is wrong with it. */
export function fieldProblem(
  field: string,
  reason: string,
  message: string,
  code: ProblemCode = 'invalid-field',
): Problem {
  return new Problem(code, `${field} ${message}`, { errors: [fieldError([field], reason, message)] });
}

/** A name that came from the caller may hold a lone surrogate, which no URI can. */
function pointerToken(name: string): string {
  return encodeURIComponent(name.toWellFormed().replaceAll('~', '~0').replaceAll('/', '~1'));
}
