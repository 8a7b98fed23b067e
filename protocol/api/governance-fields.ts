import Type from 'typebox';
import { RECORD_ID_PATTERN } from '../ids.ts';
import { TextShape } from './fields.ts';

/** A name or staff id. */
export const PersonShape = TextShape(1, 256);
/** What should be an id of ours. */
export const IdTextShape = TextShape(1, 64);
/** Id of something that a record made, in an answer: the record's id under another prefix. */
export const ObjectIdShape = Type.String({ pattern: RECORD_ID_PATTERN });
export const WordShape = TextShape(0, 64);
export const ParagraphShape = TextShape(0, 1000);
export const PageShape = TextShape(0, 4000);

const MAX_ENTRIES = 100;
const MAX_ENTRY = 2000;

/** Up to 100 texts of up to 2,000 characters. */
export function TextListShape(minItems: number) {
  return Type.Array(TextShape(1, MAX_ENTRY), { minItems, maxItems: MAX_ENTRIES });
}

/** A list of exactly these. */
export function ListOf(...values: readonly string[]) {
  return Type.Array(Type.Enum([...values]), { minItems: values.length, maxItems: values.length, uniqueItems: true });
}
