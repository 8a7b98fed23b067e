export type JsonPrimitive = null | boolean | number | string;
export type JsonValue = JsonPrimitive | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  readonly [member: string]: JsonValue;
}

export type JsonErrorCode =
  | 'syntax'
  | 'duplicate-key'
  | 'lone-surrogate'
  | 'non-finite'
  | 'inexact-integer'
  | 'too-deep'
  | 'too-many-values'
  | 'not-canonical';

export class JsonError extends Error {
  override readonly name = 'JsonError';
  readonly code: JsonErrorCode;

  constructor(code: JsonErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isJsonArray(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}
