import { nativeSuite } from '../../node/keys/native-suite.ts';
import { envelopeStatement } from '../../protocol/chain/envelope.ts';
import { hashText } from '../../protocol/hash.ts';
import { decisionText } from '../../protocol/log/decision.ts';
import { type LedgerMessage, parseLedgerMessage } from '../../protocol/log/message.ts';
import { StatementError } from '../../protocol/statement/statement.ts';
import type { Bundle, DecisionProof, LinkedProof } from '../../protocol/verdict/bundle.ts';
import { linkedProofsOf } from '../../protocol/verdict/linked.ts';
import { type SingleProof, proofOf } from '../../protocol/verdict/opened-proof.ts';
import { revocationProofs, rosterEntries, sizesOf } from '../fixtures/federation-log-bundle.ts';
import type { Corpus } from './corpus.ts';
import type { Answer, Said } from './judge.ts';

/** Problems that a revocation makes. */
const FALLEN = ['decision-impossible', 'key-compromised'];

/** What a node has to answer on a bundle, by what a stranger answers on two others. */
export interface Knowing {
  /**
   * The bundle with all that the node's log adds: every roster and revocation in force, the newest checkpoint of every
   * member, and paths of what was decided. Where the log has the decision of a record otherwise, without it.
   */
  readonly full: Bundle;
  /** The same with no other revocations than the bundle's own. */
  readonly told: Bundle;
  /** Whether the log has its rosters otherwise: then everything in it is contradicted. */
  readonly rosters: boolean;
  /** Whether the log has the decision of its own record otherwise, and of each linked one. */
  readonly own: boolean;
  readonly linked: readonly boolean[];
}

/** What a stranger's answers are on the two bundles of a `Knowing`. */
export interface Strangers {
  readonly full: Answer;
  readonly told: Answer;
}

/**
 * Of a bundle of another federation: a node adds nothing to it, and does not look for its own genesis among its
 * rosters.
 */
export function knowingOf(corpus: Corpus, bundle: Bundle): Knowing {
  const { home, besides } = corpus;
  const genesis = home.roster(1).text;
  if (bundle.rosters[0]?.text !== genesis) {
    const foreign = { ...bundle, rosters: bundle.rosters.filter(({ text }) => text !== genesis) };
    return { full: foreign, told: foreign, rosters: false, own: false, linked: [] };
  }
  const rosters = areRostersOtherwise(corpus, bundle);
  const [own, others] = [proofOf(bundle), linkedProofsOf(bundle)];
  const [ownOtherwise, linked] = [isOtherwise(corpus, own), others.map((proof) => isOtherwise(corpus, proof))];
  const sizes = [...new Set([...sizesOf(besides.checkpoints), ...readableSizes(bundle)])];
  const place = (decision: DecisionProof) => placed(corpus, decision, sizes);
  const known = rosterEntries(home, sizes);
  const shown = bundle.revocations.map((one) => ({ ...one, decision: place(one.decision) }));
  const told: Bundle = {
    ...bundle,
    decision: own.decision === null || ownOtherwise ? null : place(own.decision),
    checkpoints: [...besides.checkpoints, ...bundle.checkpoints],
    keys: [...besides.keys, ...bundle.keys],
    revocations: shown,
    rosters: [...known, ...(rosters ? [] : bundle.rosters.slice(known.length))],
    ...(bundle.linked === undefined
      ? {}
      : { linked: others.map((proof, i) => linkedOf(proof, linked[i] === true, place)) }),
  };
  const full = { ...told, revocations: [...revocationProofs(home, home.revocations, sizes), ...shown] };
  return { full, told, rosters, own: ownOtherwise, linked };
}

/**
 * Why a node's answer is not what its log makes of the bundle; null where it is: a stranger's who was brought all that
 * the node knows. Only where the log has rosters or a decision otherwise, or a record falls by a revocation that the
 * bundle does not show, is it `contradicted`; `not-signed` alone comes before that.
 */
export function faultOfNode(node: Answer, { full, told }: Strangers, { rosters, own, linked }: Knowing): string | null {
  const isFree = (isKnown: boolean, i: (of: Answer) => Said | undefined) =>
    !rosters && !isKnown && !falls(i(full), i(told));
  const faults = [
    faultOf(node, full, told, rosters || own),
    ...full.linked.map((of, i) => faultOf(node.linked[i], of, told.linked[i], rosters || linked[i] === true)),
  ];
  const fault = faults.find((found) => found !== null);
  if (fault !== undefined) return fault;
  const isFreeOfAll = [
    isFree(own, (of) => of),
    ...full.linked.map((_, i) => isFree(linked[i] === true, (of) => of.linked[i])),
  ];
  if (isFreeOfAll.includes(false) || node.rest === full.rest) return null;
  return `its log comes to ${full.rest}\nand the node to ${node.rest}`;
}

function faultOf(node: Said | undefined, full: Said, told: Said | undefined, isKnown: boolean): string | null {
  const said = `and the node ${JSON.stringify([node?.word, node?.codes])}`;
  if (!isKnown && !falls(full, told)) {
    const isSame = node?.word === full.word && node.codes.join() === full.codes.join();
    return isSame ? null : `its log says ${JSON.stringify([full.word, full.codes])}, ${said}`;
  }
  const word = told?.word === 'not-signed' ? 'not-signed' : 'contradicted';
  const code = isKnown ? ['known-otherwise'] : ['known-otherwise', 'key-compromised'];
  const isSaid = node?.codes.some((one) => code.includes(one)) === true;
  return node?.word === word && isSaid ? null : `its log says ${word} for ${code.join(' or ')}, ${said}`;
}

/** Whether it falls by revocations that the bundle does not show. */
function falls(full: Said | undefined, told: Said | undefined): boolean {
  return FALLEN.some((code) => full?.codes.includes(code) === true && told?.codes.includes(code) === false);
}

function areRostersOtherwise({ home }: Corpus, { rosters }: Bundle): boolean {
  return rosters.some(({ text, decision }, i) => {
    const known = home.rosters[i];
    if (known === undefined) return decision !== null && standsOtherwise(home.decisions, decision.text);
    const decided = known.index === null ? undefined : home.decisions[known.index];
    return text !== known.text || decision?.text !== decided;
  });
}

function isOtherwise({ home }: Corpus, { batch, decision }: SingleProof): boolean {
  const envelope = batch && read(() => envelopeStatement.parse(batch.text));
  if (batch === null || envelope === null) return false;
  const decided = home.decisions.find((text) => namesBatch(text, envelope));
  const hash = read(() => hashText(nativeSuite, batch.text));
  if (decided !== undefined && messageOf(decided)?.envelope !== hash) return true;
  if (decision === null || read(() => decisionText.parse(decision.text)) === null) return false;
  return (decided !== undefined && decided !== decision.text) || standsOtherwise(home.decisions, decision.text);
}

function standsOtherwise(decisions: readonly string[], text: string): boolean {
  const value = read(() => decisionText.parse(text));
  const standing = value === null ? undefined : decisions[value.index];
  return standing !== undefined && standing !== text;
}

function namesBatch(text: string, { node, batch }: { readonly node: string; readonly batch: number }): boolean {
  const message = messageOf(text);
  return message?.node === node && message.batch === batch;
}

function messageOf(text: string): Extract<LedgerMessage, { type: 'batch' }> | null {
  const message = parseLedgerMessage(decisionText.parse(text).message);
  return message.type === 'batch' ? message : null;
}

/** What was decided, with its paths; anything else as it is. */
function placed({ home }: Corpus, decision: DecisionProof, sizes: readonly number[]): DecisionProof {
  const index = home.decisions.indexOf(decision.text);
  if (index < 0) return decision;
  const { text, paths } = decision;
  return { text, paths: [...home.decisionProof(index, sizes).paths, ...paths] };
}

function linkedOf(
  { record, receipt, batch, decision, disclosure }: SingleProof,
  isKnownOtherwise: boolean,
  place: (decision: DecisionProof) => DecisionProof,
): LinkedProof {
  const signature = (of: { readonly signature: LinkedProof['receipt']['signature'] | null }) => {
    return of.signature === null || of.signature === undefined ? {} : { signature: of.signature };
  };
  return {
    record,
    receipt: { statement: receipt.text, ...signature(receipt), path: [...receipt.path] },
    batch: batch && { envelope: batch.text, ...signature(batch), path: [...batch.path] },
    decision: decision === null || isKnownOtherwise ? null : place(decision),
    ...(disclosure === undefined ? {} : { disclosure }),
  };
}

function readableSizes({ checkpoints }: Bundle): readonly number[] {
  return checkpoints.flatMap((one) => read(() => sizesOf([one])) ?? []);
}

function read<Value>(parse: () => Value): Value | null {
  try {
    return parse();
  } catch (error) {
    if (error instanceof StatementError || error instanceof SyntaxError || error instanceof TypeError) return null;
    throw error;
  }
}
