import Type from 'typebox';

/** `key_eu_01J…`: names an API key and says nothing about its text. */
export type KeyId = string & { readonly __brand: 'KeyId' };

const KEY_ID_PATTERN = '^key_[a-z]{2}[0-9]{0,2}_[0-7][0-9A-HJKMNP-TV-Z]{25}$';

export const KeyIdShape = Type.Unsafe<KeyId>(Type.String({ pattern: KEY_ID_PATTERN }));

const KEY_ID = new RegExp(KEY_ID_PATTERN);

export function isKeyId(text: string): text is KeyId {
  return KEY_ID.test(text);
}
