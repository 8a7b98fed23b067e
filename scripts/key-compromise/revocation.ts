import { hashText } from '../../protocol/hash.ts';
import { nobleSuite } from '../../protocol/suite/noble.ts';
import { timestampOf } from '../../protocol/time.ts';
import type { Bundle, RevocationsFile } from '../../protocol/verdict/bundle.ts';
import type { Verdict } from '../../protocol/verdict/verdict.ts';
import { verifyBundle } from '../../protocol/verdict/verify.ts';
import { readKeyFile } from '../../node/keys/key-file.ts';
import { nativeSigner } from '../../node/keys/native-suite.ts';
import { keyDirectory } from '../../node/keys/node-keys.ts';
import {
  RevocationsAnswerShape,
  RevokeSigningKeyAnswerShape,
  SigningKeysAnswerShape,
} from '../../node/operator/signing-key-forms.ts';
import type { LocalCluster } from '../bench/local-cluster.ts';
import { until } from '../bench/until.ts';
import { ask } from '../key/ask.ts';
import type { StepReport } from './step-report.ts';
import { OperatedNode, type NodeVerdict } from './operated-node.ts';
import { postToTopic } from './ledger-post.ts';
import { forge } from './forged-bundle.ts';

/** Callers that go on attesting while the key is revoked. */
const CALLERS = 8;
/** Records that the load has had accepted before the revocation, and again after it. */
const WARM_RECORDS = 40;
const PATIENCE_MS = 30_000;
/** The second of the five: any would do. */
const VICTIM = 1;

/**
 * A signing key is copied and used to forge; its operator revokes it. What the node made before stands, what it made
 * after the theft falls, at every node and offline, and the node's callers notice nothing. The attacker's own never
 * counted: no account of a member named it on the ledger.
 */
export async function rehearseKeyCompromise(
  cluster: LocalCluster,
  report: StepReport,
  signal: AbortSignal,
): Promise<void> {
  const nodes = cluster.plan.nodes.map((node) => new OperatedNode(cluster, node, signal));
  const victim = nodes[VICTIM];
  if (victim === undefined) throw new Error('the drill needs more nodes');
  const before = await victim.confirmed({ input: 'before the theft', decision: 'approve' });
  const honest = await victim.bundle(before);
  await everywhere(nodes, signal, 'the honest record', (node) => node.verify(before), isVerified);
  report.check('an honest record is verified at every node', true);

  const stolen = nativeSigner(await readKeyFile(keyDirectory(victim.home), 'signing'));
  const since = timestampOf(Date.now());
  report.say(`the signing key of ${victim.id} is copied by an attacker, at ${since}`);
  const between = await victim.confirmed({ input: 'after the theft, before anyone knew', decision: 'approve' });
  const forged = await forgery(cluster, honest, stolen, 1, signal);
  await judgeAll(
    report,
    nodes,
    'the forgery, named by a stranger, is refused',
    (node) => node.verifyBundle(forged),
    isRefused,
  );

  const load = new Load(victim);
  await until('some load', PATIENCE_MS, signal, () => load.accepted > WARM_RECORDS);
  await revoke(nodes, victim, since, report, signal);
  const atRevocation = load.accepted;
  await until('more load', PATIENCE_MS, signal, () => load.accepted > atRevocation + WARM_RECORDS);
  await load.stop();
  report.check(`${load.accepted} records beside it, refused ${load.refused}`, load.refused === 0);

  await everywhere(nodes, signal, 'the record between', (node) => node.verify(between), isRevoked);
  await judgeAll(report, nodes, 'the forgery falls', (node) => node.verifyBundle(forged), isRevoked);
  const late = await forgery(cluster, honest, stolen, 2, signal);
  await judgeAll(report, nodes, 'another forgery, made since, falls', (node) => node.verifyBundle(late), isRevoked);
  await judgeAll(report, nodes, 'the honest record before the theft stands', (node) => node.verify(before), isVerified);
  await judgeAll(report, nodes, 'one between theft and revocation falls', (node) => node.verify(between), isRevoked);
  const after = await victim.confirmed({ input: 'after the revocation', decision: 'approve' });
  await everywhere(nodes, signal, 'the new key', (node) => node.verify(after), isVerified);
  report.check('a record by the new key is verified at every node', true);

  const pin = hashText(nobleSuite, honest.rosters[0]?.text ?? '');
  const offline = (bundle: Bundle, known?: RevocationsFile) =>
    offlineVerdict(verifyBundle(nobleSuite, bundle, { pin, ...(known === undefined ? {} : { revocations: known }) }));
  const { file } = await ask(victim.target, { method: 'GET', path: '/revocations', answer: RevocationsAnswerShape });
  report.check(
    'offline, with the revocations at hand: both forgeries fall',
    [forged, late].every((bundle) => isRevoked(offline(bundle, file))),
  );
  report.check(
    'offline, the bundle made before stands, with and without them',
    isVerified(offline(honest)) && isVerified(offline(honest, file)),
  );
  report.check(
    'offline, the bundles of today say the same as the nodes',
    isVerified(offline(await victim.bundle(before))) &&
      isVerified(offline(await victim.bundle(after))) &&
      isRevoked(offline(await victim.bundle(between))),
  );
}

/** A forged bundle whose batch is named on the real ledger: anyone who pays may write there. */
async function forgery(
  cluster: LocalCluster,
  honest: Bundle,
  stolen: ReturnType<typeof nativeSigner>,
  number: number,
  signal: AbortSignal,
): Promise<Bundle> {
  const { bundle, message } = await forge(honest, stolen, number);
  await postToTopic(cluster, message, signal);
  return bundle;
}

/** Revokes the key in use at its node; resolves once all nodes and the ledger have the revocation. */
async function revoke(
  nodes: readonly OperatedNode[],
  victim: OperatedNode,
  since: string,
  report: StepReport,
  signal: AbortSignal,
): Promise<void> {
  const started = performance.now();
  const passed = () => `${Math.round(performance.now() - started)} ms`;
  const { keyId, replacedBy } = await ask(victim.target, {
    method: 'POST',
    path: '/signing-keys/revoke',
    body: { compromisedSince: since, note: 'stolen, a drill' },
    answer: RevokeSigningKeyAnswerShape,
  });
  report.check('the key is revoked and another signs in its place', replacedBy !== null, passed());
  await until('every node to know', PATIENCE_MS, signal, async () => {
    return (await Promise.all(nodes.map((node) => node.knowsRevoked(keyId)))).every((knows) => knows);
  });
  report.check('every node knows of it', true, passed());
  await until('it to be in force on the ledger', PATIENCE_MS, signal, async () => {
    const { keys } = await ask(victim.target, { method: 'GET', path: '/signing-keys', answer: SigningKeysAnswerShape });
    return keys.some((key) => key.keyId === keyId && key.revoked?.inForceSince !== null);
  });
  report.check('it is in force on the ledger', true, passed());
}

type Judge = (node: OperatedNode) => Promise<NodeVerdict>;

/** Waits until every node says so. */
async function everywhere(
  nodes: readonly OperatedNode[],
  signal: AbortSignal,
  what: string,
  judge: Judge,
  holds: (verdict: NodeVerdict) => boolean,
): Promise<void> {
  await until(`${what} at every node`, PATIENCE_MS, signal, async () =>
    (await Promise.all(nodes.map(judge))).every(holds),
  );
}

async function judgeAll(
  report: StepReport,
  nodes: readonly OperatedNode[],
  what: string,
  judge: Judge,
  holds: (verdict: NodeVerdict) => boolean,
): Promise<void> {
  const verdicts = await Promise.all(nodes.map(judge));
  const odd = nodes.filter((_, i) => !verdicts.slice(i, i + 1).every(holds)).map(({ id }) => id);
  report.check(`${what} at every node`, odd.length === 0, odd.join(' '));
}

function isVerified({ verified }: NodeVerdict): boolean {
  return verified;
}

function isRefused({ verified }: NodeVerdict): boolean {
  return !verified;
}

function isRevoked({ verified, sigValid }: NodeVerdict): boolean {
  return !verified && !sigValid;
}

function offlineVerdict({ verified, facts: { witnessed }, checks }: Verdict): NodeVerdict {
  return { verified, witnessed, sigValid: checks.sigValid };
}

/** Callers that attest one record after the other. */
class Load {
  accepted = 0;
  refused = 0;
  #stopping = false;
  readonly #callers: Promise<void>[];

  constructor(node: OperatedNode) {
    this.#callers = Array.from({ length: CALLERS }, (_, caller) => this.#run(node, caller));
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    await Promise.all(this.#callers);
  }

  async #run(node: OperatedNode, caller: number): Promise<void> {
    for (let i = 0; !this.#stopping; i++) {
      const id = await node.attest({ input: `${caller}/${i}`, decision: 'approve' });
      if (id === null) this.refused++;
      else this.accepted++;
    }
  }
}
