import { compressedTextCodec } from '../../../node/store/compressed-text.ts';
import { del, flipped, type Mutation, put } from './damaged-home.ts';

export const FIRST = '0000000000000001';
export const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();

export const drop =
  (prefix: string, index: number): Mutation =>
  async (rows) => [del((await rows.at(prefix, index))[0])];

export const edit =
  (prefix: string, index: number, change: (value: string) => string): Mutation =>
  async (rows) => {
    const [key, value] = await rows.at(prefix, index);
    // A character a byte: not every row is text throughout.
    return [put(key, Buffer.from(change(Buffer.from(value).toString('latin1')), 'latin1'))];
  };

/** Changes the text of a body row, which is compressed before and after. */
export const editBody =
  (prefix: string, index: number, change: (text: string) => string): Mutation =>
  async (rows) => {
    const [key, value] = await rows.at(prefix, index);
    return [put(key, compressedTextCodec.encode(change(compressedTextCodec.decode(value))))];
  };

export const flip =
  (prefix: string, index: number, at: number): Mutation =>
  async (rows) => {
    const [key, value] = await rows.at(prefix, index);
    return [put(key, flipped(value, at))];
  };

export const swap =
  (prefix: string, a: number, b: number): Mutation =>
  async (rows) => {
    const [keyA, valueA] = await rows.at(prefix, a);
    const [keyB, valueB] = await rows.at(prefix, b);
    return [put(keyA, valueB), put(keyB, valueA)];
  };

export const move =
  (prefix: string, index: number, to: (key: string) => string): Mutation =>
  async (rows) => {
    const [key, value] = await rows.at(prefix, index);
    return [del(key), put(to(key), value)];
  };

/** For `replace`: another hexadecimal digit after what is captured. */
export const otherDigit = (match: string, before: string): string => before + (match.endsWith('0') ? '1' : '0');

export const copyTo =
  (prefix: string, index: number, to: string): Mutation =>
  async (rows) => [put(to, (await rows.at(prefix, index))[1])];

export const resign = (value: string): string =>
  value.replace(/"signature":"(.)/, (_, c) => `"signature":"${c === 'A' ? 'B' : 'A'}`);
