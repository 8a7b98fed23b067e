import Type from 'typebox';
import type { JsonObject } from '../json/value.ts';
import type { ShapeWords } from '../shapes.ts';

/** Text without control characters other than tab, line feed and carriage return. Lengths count code points. */
const TEXT_PATTERN = '^[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f]*$';

const MAX_SOURCE_ID = 256;
const MAX_REFERENCE_DATABASES = 20;

export function TextShape(minLength: number, maxLength: number, words: ShapeWords = {}) {
  return Type.String({ minLength, maxLength, pattern: TEXT_PATTERN, ...words });
}

export const SourceIdShape = TextShape(1, MAX_SOURCE_ID);
export const DataShape = Type.Unsafe<JsonObject>(
  Type.Object(
    {},
    { title: 'DecisionData', description: 'Whatever the decision rests on: any members.', additionalProperties: true },
  ),
);

const ReferenceDatabaseShape = Type.Union(
  [
    TextShape(0, 256),
    Type.Object(
      { id: TextShape(0, 256), version: Type.Optional(TextShape(0, 128)), sha256: Type.Optional(TextShape(0, 128)) },
      { additionalProperties: false },
    ),
  ],
  { title: 'ReferenceDatabase' },
);

/** One reference database or several, each by name or by id, version and hash. */
export const ReferenceDatabasesShape = Type.Union(
  [ReferenceDatabaseShape, Type.Array(ReferenceDatabaseShape, { maxItems: MAX_REFERENCE_DATABASES })],
  { title: 'ReferenceDatabases' },
);
