import { Compile } from '../../protocol/shape-check.ts';
import { type SignedStatement, SignedStatementShape } from '../../protocol/statement/statement.ts';
import { jsonCodec } from './table.ts';

const compiled = Compile(SignedStatementShape);

/** Rows that are a signed statement: the exact text that was signed and its signature. */
export const statementCodec = jsonCodec((value: unknown): value is SignedStatement => compiled.Check(value));
