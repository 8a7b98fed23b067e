import Type, { type Static, type TObject } from 'typebox';
import { Compile } from '../shape-check.ts';
import { decodeBase64url, encodeBase64url, utf8 } from '../bytes.ts';
import { canonicalize } from '../json/canonical.ts';
import { parseCanonical } from '../json/parse.ts';
import { parseText } from '../json/text.ts';
import type { JsonValue } from '../json/value.ts';
import { shapeFault } from '../shape-fault.ts';
import { type Base64url, Base64urlShape, Closed } from '../shapes.ts';
import type { Signer, SigningContext, Suite } from '../suite/suite.ts';

/** A statement as it travels: the exact canonical text that was signed, and the signature over its UTF-8 bytes. */
export const SignedStatementShape = Closed(
  { statement: Type.String(), signature: Base64urlShape },
  { title: 'SignedStatement' },
);
export type SignedStatement = Static<typeof SignedStatementShape>;

export class StatementError extends Error {
  override readonly name = 'StatementError';
}

/** One kind of canonical statement: its closed shape, and the context its signatures are made in. */
export interface StatementKind<Value> {
  readonly name: string;
  readonly context: SigningContext;
  /** Value of a canonical text. Throws `StatementError` where the text is not canonical or not of this shape. */
  parse(text: string): Value;
  /** Canonical text of a value. */
  write(value: Value): string;
}

export function statementKind<Shape extends TObject>(
  name: string,
  context: SigningContext,
  shape: Shape,
): StatementKind<Static<Shape>> {
  const { parse, write } = canonicalText(name, shape);
  return { name, context, parse, write };
}

/** Reader and writer of a closed, canonical JSON text: what every signed, hashed or anchored text is. */
export function canonicalText<Shape extends TObject>(name: string, shape: Shape) {
  const compiled = Compile(shape);
  const read = (text: string, parse: (text: string) => JsonValue): Static<Shape> => {
    let value: JsonValue;
    try {
      value = parse(text);
    } catch (error) {
      throw new StatementError(`${name}: ${error instanceof Error ? error.message : 'unreadable'}`);
    }
    if (compiled.Check(value)) return value;
    const { pointer, message } = shapeFault(compiled, value);
    throw new StatementError(`${name}: ${pointer} ${message}`);
  };
  return {
    parse: (text: string): Static<Shape> => read(text, parseCanonical),
    /** The same of a text that was found canonical before: that is not looked at again. */
    reread: (text: string): Static<Shape> => read(text, parseText),
    write(value: Static<Shape>): string {
      // A static type of a JSON schema is JSON; the compiler cannot see through the branded members.
      return canonicalize(value as JsonValue);
    },
  };
}

export async function signStatement<Value>(
  kind: StatementKind<Value>,
  value: Value,
  signer: Signer,
): Promise<SignedStatement> {
  const statement = kind.write(value);
  return { statement, signature: encodeSignature(await signer.sign(utf8(statement), kind.context)) };
}

/** Whether the signature over the statement's text holds in its kind's context. Never throws on bad encodings. */
export function signatureHolds(
  suite: Suite,
  kind: { readonly context: SigningContext },
  signed: SignedStatement,
  publicKey: Uint8Array,
): boolean {
  if (suite.holds !== undefined) return suite.holds(publicKey, signed, kind.context);
  try {
    return suite.verify(publicKey, utf8(signed.statement), decodeBase64url(signed.signature), kind.context);
  } catch {
    return false;
  }
}

export function encodeSignature(bytes: Uint8Array): Base64url {
  const text = encodeBase64url(bytes);
  if (!isBase64url(text)) throw new StatementError('an empty signature');
  return text;
}

export function isBase64url(text: string): text is Base64url {
  return text.length > 0 && /^[A-Za-z0-9_-]+$/.test(text);
}
