import { isJsonArray, isJsonObject, type JsonValue } from '../../../protocol/json/value.ts';

export interface Place {
  /** JSON pointer (RFC 6901, for names without `/` and `~`). */
  readonly pointer: string;
  readonly value: JsonValue;
}

/** Every value in a JSON value, itself first. */
export function placesOf(value: JsonValue, pointer = ''): Place[] {
  const inner = isJsonArray(value) || isJsonObject(value) ? Object.entries(value) : [];
  return [{ pointer, value }, ...inner.flatMap(([name, member]) => placesOf(member, `${pointer}/${name}`))];
}

export function stringsOf(value: JsonValue): { readonly pointer: string; readonly text: string }[] {
  return placesOf(value).flatMap(({ pointer, value: text }) => (typeof text === 'string' ? [{ pointer, text }] : []));
}

/** The value with another one at `pointer`, or with nothing there where `replacement` is undefined. */
export function replaceAt(value: JsonValue, pointer: string, replacement: JsonValue | undefined): JsonValue {
  if (pointer === '') return replacement ?? null;
  const end = pointer.indexOf('/', 1);
  const name = pointer.slice(1, end < 0 ? undefined : end);
  const rest = end < 0 ? '' : pointer.slice(end);
  const changed = (member: JsonValue) => (rest === '' ? replacement : replaceAt(member, rest, replacement));
  if (isJsonArray(value)) {
    return value.flatMap((item, i) => {
      const next = String(i) === name ? changed(item) : item;
      return next === undefined ? [] : [next];
    });
  }
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([own, member]) => {
      const next = own === name ? changed(member) : member;
      return next === undefined ? [] : [[own, next]];
    }),
  );
}
