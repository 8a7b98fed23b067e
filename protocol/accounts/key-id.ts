import Type from 'typebox';
import { idPattern } from '../ids.ts';

/** `key_eu_01J…`: names an API key and says nothing about its text. */
export type KeyId = string & { readonly __brand: 'KeyId' };

const KEY_ID_PATTERN = idPattern('key');

export const KeyIdShape = Type.Unsafe<KeyId>(Type.String({ pattern: KEY_ID_PATTERN }));

const KEY_ID = new RegExp(KEY_ID_PATTERN);

export function isKeyId(text: string): text is KeyId {
  return KEY_ID.test(text);
}
