import { type Checkpoint, checkpointStatement, type SignedCheckpoint } from '../log/checkpoint.ts';
import { majorityOf } from '../log/roster.ts';
import type { Suite } from '../suite/suite.ts';
import type { Authority } from '../verdict/authority.ts';
import type { SignatureClaim } from '../verdict/check-signed.ts';
import { type Charge, NoChargeError, type ProofKnown, type Shortfall } from './charge.ts';
import { differs, type Head } from './difference.ts';
import type { FalseCheckpoint, TwoCheckpoints } from './misdeed.ts';

/**
 * Two checkpoints of one member over trees of which neither is the beginning of the other. Throws as `falseCheckpoint`.
 */
export function twoCheckpoints(suite: Suite, { first, second, difference }: TwoCheckpoints): Charge {
  const checkpoints = [first, second].map(({ text }) => checkpointStatement.parse(text));
  const [a, b] = [checkpointStatement.parse(first.text), checkpointStatement.parse(second.text)];
  if (a.node !== b.node) throw new NoChargeError('the two checkpoints are of two members');
  if (!differs(suite, a, b, difference)) throw new NoChargeError('the two checkpoints are not shown to differ');
  return {
    accused: a.node,
    batch: null,
    signed: [claimOf(first, a), claimOf(second, b)],
    judge: (authority) => countedShortfall(authority, checkpoints),
  };
}

/**
 * A checkpoint over another tree than that which a majority of the members signed, or which the verifier built itself
 * (protocol §4). Throws `NoChargeError` and `StatementError`.
 */
export function falseCheckpoint(suite: Suite, { checkpoint: signed, against }: FalseCheckpoint): Charge {
  const checkpoint = checkpointStatement.parse(signed.text);
  if (against.some(({ difference, ...head }) => !differs(suite, checkpoint, head, difference))) {
    throw new NoChargeError('the checkpoint is not shown to differ from what others signed');
  }
  return {
    accused: checkpoint.node,
    batch: null,
    signed: [claimOf(signed, checkpoint)],
    judge: (authority, known) => {
      return countedShortfall(authority, [checkpoint]) ?? treeShortfall(authority, known, checkpoint, against);
    },
  };
}

function claimOf({ text, signature }: SignedCheckpoint, { node, keyId }: Checkpoint): SignatureClaim {
  return { kind: checkpointStatement, text, signature, node, keyId, first: undefined, index: null };
}

/** By a key that was rotated before, a checkpoint says nothing, and so accuses nobody. */
function countedShortfall({ line, withdrawals }: Authority, checkpoints: readonly Checkpoint[]): Shortfall | null {
  if (checkpoints.some(({ federation }) => federation !== line.federation)) {
    return { word: 'no-contradiction', detail: 'a checkpoint is of another federation' };
  }
  if (checkpoints.every(withdrawals.counts)) return null;
  return { word: 'key-revoked', detail: 'the key of a checkpoint was out of use before it' };
}

function treeShortfall(
  { checkpoints, line, withdrawals }: Authority,
  { log }: ProofKnown,
  { node, size, root }: Checkpoint,
  against: readonly Head[],
): Shortfall | null {
  const known = log?.rootAt(size);
  if (known === root) return { word: 'contradicted', detail: 'the tree that is known here has that root' };
  if (known !== undefined) return null;
  const heads = new Set(against.map(nameOf));
  const answers = checkpoints.saying((checkpoint) => heads.has(nameOf(checkpoint)) && withdrawals.counts(checkpoint));
  const isShown = line.countedFor(size - 1).some(({ roster }) => {
    return answers.settledBy({ roster, needed: majorityOf(roster), except: node }).length > 0;
  });
  if (isShown) return null;
  return { word: 'too-few-checkpoints', detail: 'no majority of the members signed another tree' };
}

function nameOf({ size, root }: Head): string {
  return `${size} ${root}`;
}
