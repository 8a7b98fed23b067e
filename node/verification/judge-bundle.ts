import { EncodingError } from '../../protocol/bytes.ts';
import { envelopeStatement } from '../../protocol/chain/envelope.ts';
import { readHead, recordLeaf } from '../../protocol/chain/record.ts';
import { type Sha256Hash, writeSha256 } from '../../protocol/hash.ts';
import type { NodeId } from '../../protocol/ids.ts';
import { parseJson, type ParseOptions } from '../../protocol/json/parse.ts';
import { isJsonObject, JsonError } from '../../protocol/json/value.ts';
import { checkpointStatement } from '../../protocol/log/checkpoint.ts';
import { decisionText } from '../../protocol/log/decision.ts';
import type { Base64url } from '../../protocol/shapes.ts';
import { StatementError } from '../../protocol/statement/statement.ts';
import type { Suite } from '../../protocol/suite/suite.ts';
import type { Timestamp } from '../../protocol/time.ts';
import type { Bundle } from '../../protocol/verdict/bundle.ts';
import { FileError } from '../../protocol/verdict/file-reader.ts';
import { parseBundle } from '../../protocol/verdict/parse.ts';
import type { Verdict } from '../../protocol/verdict/verdict.ts';
import { verifyBundle } from '../../protocol/verdict/verify.ts';
import { isUnclear, type LogAnswers, type LogQuestions, logViewOf } from './log-knowledge.ts';
import { keysSigning } from './signing-keys.ts';

/** What the one who judges goes by. */
export interface JudgingTerms {
  /** What its own log says of all that the bundle names. */
  readonly log: LogAnswers;
  readonly at: Timestamp;
  readonly limits: ParseOptions;
}

/** What a bundle asks a node's log about, and the receipt that it shows. */
export interface BundleQuestions extends LogQuestions {
  /** Null where the record cannot be read. */
  readonly receipt: GivenReceipt | null;
}

const EARLIER_FORMAT = 'meridian-bundle/1';
const REPLACED = 'is of release 0.1 and is read no more: fetch the bundle of its record anew from a node';

/**
 * What a bundle that anyone brings asks a node's log about. Throws `JsonError` where it is no JSON, `FileError` where
 * it is malformed.
 */
export function questionsOf(suite: Suite, text: string, limits: ParseOptions): BundleQuestions {
  const bundle = readBundle(text, limits);
  const { decision, batch, checkpoints, revocations, rosters, linked = [] } = bundle;
  const proofs = [{ decision, batch }, ...linked];
  const decisions = [...proofs, ...revocations, ...rosters].flatMap((each) => each.decision ?? []);
  const envelopes = proofs.flatMap((proof) => (proof.batch === null ? [] : [proof.batch.envelope]));
  return {
    places: unique(decisions.flatMap((each) => read(() => decisionText.parse(each.text).index))),
    sizes: unique(checkpoints.flatMap((each) => read(() => checkpointStatement.parse(each.text).size))),
    batches: unique(envelopes).flatMap((envelope) => read(() => envelopeStatement.parse(envelope))),
    receipt: givenReceipt(suite, bundle),
  };
}

/**
 * The verdict on a bundle that anyone brings, pinned to the node's own federation. Throws what `questionsOf` throws.
 */
export function judgeBundle(suite: Suite, text: string, { log, at, limits }: JudgingTerms): Verdict {
  const bundle = readBundle(text, limits);
  const { batch, receipt, linked = [] } = bundle;
  const signing = [{ batch, receipt }, ...linked].flatMap((proof) => read(() => keysSigning([proof])).flat());
  const isOpen = isUnclear(log, signing);
  const checkpoints = bundle.checkpoints.filter((signed) => {
    return (
      !isOpen &&
      !isUnclear(
        log,
        read(() => checkpointStatement.parse(signed.text)),
      )
    );
  });
  const known = isOpen ? { ...log, checkpoints: [] } : log;
  return verifyBundle(suite, { ...bundle, checkpoints }, { log: logViewOf(known), at });
}

function readBundle(text: string, limits: ParseOptions): Bundle {
  const value = parseJson(text, { ...limits, exactIntegers: true });
  if (!isJsonObject(value)) throw new JsonError('syntax', 'it is no object');
  if (value.format === EARLIER_FORMAT) throw new FileError('malformed', '/format', REPLACED);
  return parseBundle(value);
}

/** What a text says; nothing where it cannot be read, for the verdict to refuse. */
function read<Value>(parse: () => Value): readonly Value[] {
  try {
    return [parse()];
  } catch (error) {
    if (error instanceof StatementError) return [];
    throw error;
  }
}

function unique<Value>(values: readonly Value[]): readonly Value[] {
  return [...new Set(values)];
}

/**
 * A receipt that somebody shows, of which nothing was checked: a node's word that a record with this leaf is its
 * `seq`-th.
 */
export interface GivenReceipt {
  readonly node: NodeId;
  readonly seq: number;
  readonly leaf: Sha256Hash;
  readonly statement: string;
  readonly signature: Base64url;
  /** From the leaf to the root of the receipt. */
  readonly path: readonly Sha256Hash[];
}

/** The receipt of a bundle's own record; null where the record cannot be read. */
export function givenReceipt(
  suite: Suite,
  { record, receipt }: Pick<Bundle, 'receipt' | 'record'>,
): GivenReceipt | null {
  try {
    const { node, seq } = readHead(record.head);
    return { node, seq, leaf: writeSha256(recordLeaf(suite, record.head)), ...receipt };
  } catch (error) {
    if (error instanceof StatementError || error instanceof EncodingError) return null;
    throw error;
  }
}
