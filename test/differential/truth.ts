import { nativeSuite } from '../../node/keys/native-suite.ts';
import { canonicalize } from '../../protocol/json/canonical.ts';
import { checkpointStatement, type SignedCheckpoint } from '../../protocol/log/checkpoint.ts';
import { signatureHolds, StatementError } from '../../protocol/statement/statement.ts';
import type { Bundle } from '../../protocol/verdict/bundle.ts';
import { recordAt } from '../fixtures/federation-log-batch.ts';
import { revocationProofs } from '../fixtures/federation-log-bundle.ts';
import { type Corpus, LIARS, type Subject } from './corpus.ts';

const madeTexts = new WeakMap<Corpus['bundles'], ReadonlySet<string>>();

/**
 * Why a bundle that was called verified may not be; null where it may: head, body, payload, envelope and decision are
 * those of the federation, and a quorum of its members says so. It knows what happened, and asks no code that is under
 * test.
 */
export function faultOfVerified(corpus: Corpus, bundle: Bundle): string | null {
  const isKnown = knowsAll(corpus, bundle);
  const fault = faultOfRecord(corpus, bundle, isKnown);
  const subject = subjectOf(corpus, bundle);
  if (fault !== null || subject === undefined || subject.index === null) return fault;
  return hasQuorum(corpus, bundle, subject, subject.index) ? null : 'it has no quorum';
}

/**
 * The same where a quorum is known to say so: by a node whose log holds every revocation, nothing fallen is verified.
 */
export function faultOfRecord(corpus: Corpus, bundle: Bundle, knowsRevocations = true): string | null {
  const subject = subjectOf(corpus, bundle);
  if (subject === undefined) return 'no such record was made';
  const { sealed, i, index } = subject;
  const { body, payload } = recordAt(sealed, i);
  if (index === null) return 'its batch was not decided';
  if (bundle.record.body !== null && bundle.record.body !== body) return 'another body';
  if (bundle.disclosure !== undefined && canonicalize(bundle.disclosure.payload) !== canonicalize(payload)) {
    return 'another payload';
  }
  if (bundle.batch?.envelope !== sealed.signedEnvelope.statement) return 'another envelope';
  if (bundle.receipt.statement !== sealed.signedGroup.statement) return 'another receipt';
  if (bundle.decision?.text !== corpus.home.decisions[index]) return 'another decision';
  if (sealed === corpus.misdated) return 'it is misdated';
  return sealed === corpus.fallen && knowsRevocations ? 'its batch fell' : null;
}

function subjectOf({ subjects }: Corpus, { record }: Bundle): Subject | undefined {
  return subjects.find(({ sealed, i }) => recordAt(sealed, i).head === record.head);
}

/**
 * Whether it carries every revocation with all that shows it, as the federation has it: then nothing fallen is
 * verified.
 */
function knowsAll({ home, bundles }: Corpus, { revocations, checkpoints, keys }: Bundle): boolean {
  const { size } = home;
  const made = textsOf(bundles);
  const whole = new Set(checkpoints.filter((one) => made.has(JSON.stringify(one)) && sizeOf(one) === size).map(nodeOf));
  return (
    isSameSet(revocations, revocationProofs(home, home.revocations, [size])) &&
    isSameSet(keys, home.certificates) &&
    home.roster().roster.members.every(({ node }) => whole.has(node))
  );
}

/** Of the checkpoints in bundles that nobody changed. Gathered once for the bundles of a corpus. */
function textsOf(bundles: Corpus['bundles']): ReadonlySet<string> {
  const made =
    madeTexts.get(bundles) ??
    new Set(bundles.flatMap(({ checkpoints }) => checkpoints.map((one) => JSON.stringify(one))));
  madeTexts.set(bundles, made);
  return made;
}

function isSameSet(items: readonly unknown[], others: readonly unknown[]): boolean {
  const texts = (list: readonly unknown[]) => JSON.stringify(list.map((item) => JSON.stringify(item)).sort());
  return texts(items) === texts(others);
}

function hasQuorum(corpus: Corpus, { rosters, checkpoints }: Bundle, { sealed }: Subject, index: number): boolean {
  const { home } = corpus;
  const texts = new Set(rosters.map(({ text }) => text));
  const saying = new Set(checkpoints.filter((one) => isSaid(corpus, one, sealed, index)).map(nodeOf));
  // A pin of the genesis trusts each of these rosters, and nobody who is shown no later one can know of it.
  const shown = home.rosters.filter(({ text }) => texts.has(text));
  const inForce = shown.findLastIndex((roster) => roster.index === null || roster.index < index);
  return shown.slice(inForce).some(({ roster }) => {
    const members = roster.members.filter(({ node }) => node !== sealed.node && saying.has(node));
    return members.length >= roster.quorum;
  });
}

/**
 * Whether a member that tells the truth signed it of the federation's tree, past the decision; of a liar, whether it
 * signed.
 */
function isSaid({ home }: Corpus, signed: SignedCheckpoint, { node: origin, batch }: Subject['sealed'], index: number) {
  const checkpoint = read(signed.text);
  const member = home.members.get(checkpoint?.node ?? '');
  if (checkpoint === null || member === undefined || checkpoint.federation !== home.genesis) return false;
  const { node, size, root, vouched } = checkpoint;
  const isTrue = size > index && size <= home.size && root === home.rootAt(size);
  if (!isTrue && !LIARS.some((liar) => liar === node)) return false;
  if ((vouched[origin] ?? 0) < batch) return false;
  const statement = { statement: signed.text, signature: signed.signature };
  return member.keys.some(({ signer }) =>
    signatureHolds(nativeSuite, checkpointStatement, statement, signer.publicKey),
  );
}

function sizeOf({ text }: SignedCheckpoint): number | undefined {
  return read(text)?.size;
}

function nodeOf({ text }: SignedCheckpoint): string | undefined {
  return read(text)?.node;
}

function read(text: string) {
  try {
    return checkpointStatement.parse(text);
  } catch (error) {
    if (error instanceof StatementError) return null;
    throw error;
  }
}
