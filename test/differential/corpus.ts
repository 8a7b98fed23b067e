import { nativeSigner } from '../../node/keys/native-suite.ts';
import type { Sha256Hash } from '../../protocol/hash.ts';
import type { SignedCheckpoint } from '../../protocol/log/checkpoint.ts';
import type { SignedStatement } from '../../protocol/statement/statement.ts';
import { timestampOf } from '../../protocol/time.ts';
import type { Bundle } from '../../protocol/verdict/bundle.ts';
import { versionDraft } from '../fixtures/account-statement.ts';
import { FederationLog } from '../fixtures/federation-log.ts';
import { recordAt, type SealedBatch } from '../fixtures/federation-log-batch.ts';
import { bundleOf, linkedOf } from '../fixtures/federation-log-bundle.ts';
import { certifyKey, seedOf } from '../fixtures/federation-member.ts';
import { reviewer } from '../protocol/evidence/case.ts';
import { Ledger } from '../trust/ledger.ts';

/** Members whose every key the forger has: fewer than a quorum, and than a majority, of any roster here. */
export const LIARS = ['eu', 'jp'] as const;

/** Of the first roster, and of the second. */
const THREE_OF_FIVE = ['us', 'eu', 'jp'];
const FOUR_OF_SIX = ['us', 'eu', 'jp', 'za'];

const HOUR_MS = 3_600_000;

/** A record of the federation, and how much of the log its bundles may show. */
export interface Subject {
  readonly sealed: SealedBatch;
  readonly i: number;
  /** Place of its decision; null where it was not decided. */
  readonly index: number | null;
}

/** A federation, its records, and complete bundles of them at several sizes of its log. */
export interface Corpus {
  readonly home: FederationLog;
  /** The topic that its log was decided by, for a node to read. */
  readonly ledger: Ledger;
  /** Of each member of the newest roster, over the whole log. */
  readonly newest: readonly SignedCheckpoint[];
  /** The same by keys that have signed nothing else, and their certificates: they certify no record. */
  readonly besides: { readonly checkpoints: readonly SignedCheckpoint[]; readonly keys: readonly SignedStatement[] };
  readonly pin: Sha256Hash;
  readonly subjects: readonly Subject[];
  /** Its batch fell: it was decided after its key was compromised. */
  readonly fallen: SealedBatch;
  /** Sealed in a time that the ledger had not come to when it was decided. */
  readonly misdated: SealedBatch;
  readonly bundles: readonly Bundle[];
  /** Of another federation, and of one that has the same members and another log. */
  readonly foreign: readonly Bundle[];
}

export async function createCorpus(seed: string): Promise<Corpus> {
  const ledger = await Ledger.create({ seed, quorum: 3 });
  const home = ledger.log;
  const made = await history(ledger);
  const subjects = made.batches.flatMap((sealed) =>
    sealed.records.map((_, i) => ({ sealed, i, index: home.indexOf(sealed) })),
  );
  const at = new CheckpointStore(home);
  const bundles: Bundle[] = [];
  for (const subject of subjects) {
    for (const size of sizesFor(home, subject)) bundles.push(await bundleAt(home, at, subject, size));
  }
  await withLinked(home, bundles, made.reviewed, [made.review]);
  await withLinked(home, bundles, made.reviewed, [...made.elsewhere, made.review]);
  for (const silent of [[made.elsewhere[0]], made.elsewhere.slice(2)]) {
    await withLinked(
      home,
      bundles,
      made.reviewed,
      silent.filter((one) => one !== undefined),
    );
  }
  const foreign = await Promise.all([`${seed}/elsewhere`, `${seed}/far`].map((name) => foreignBundle(name)));
  const { fallen, misdated } = made;
  const [newest, besides] = [await at.at(home.size), await byOtherKeys(home)];
  return {
    home,
    ledger,
    newest,
    besides,
    pin: home.genesis,
    subjects,
    fallen,
    misdated,
    bundles,
    foreign: foreign.flat(),
  };
}

/** Three rosters, late and misdated batches, a rotated and a compromised key, and one batch that is not decided. */
async function history(ledger: Ledger) {
  const home = ledger.log;
  const batches: SealedBatch[] = [];
  const record = async (node: string, count = 1, change = {}) => {
    const sealed = await home.seal(
      node,
      Array.from({ length: count }, () => ({ account: `acc_${node}_demo` })),
      change,
    );
    batches.push(sealed);
    return sealed;
  };
  const decided = async (node: string, count = 1, change = {}) => {
    const sealed = await record(node, count, change);
    decide(sealed);
    return sealed;
  };
  const decide = (sealed: SealedBatch) => {
    if (!ledger.name(sealed)) throw new Error('an honest batch was not decided');
  };
  const reviewed = await decided('eu', 3);
  await decided('ca', 2);
  await decided('jp', 2);
  await home.admit('za');
  ledger.enforce(ledger.draftRoster({ members: home.membersWith(['za']) }), ...THREE_OF_FIVE);
  await decided('za');
  await home.rotateKey('eu');
  const original = recordAt(reviewed, 0).id;
  const review = await ledger.record('eu', [{ kind: 'human_override', account: 'acc_eu_demo', links: { original } }]);
  batches.push(review);
  // Before, while and after the account's statement names the node: the first and the last turn no flag.
  const claims = { reviewer: reviewer('a') };
  const foreign = { kind: 'human_override', account: 'acc_eu_demo', links: { original }, claims } as const;
  const elsewhere = [
    await ledger.record('sg', [foreign]),
    await ledger.record('eu', [versionDraft(1, ['eu', 'sg'])]),
    await ledger.record('sg', [foreign]),
    await ledger.record('eu', [versionDraft(2, ['eu'])]),
    await ledger.record('sg', [foreign]),
  ];
  const compromisedSince = home.tick();
  const fallen = await decided('ca');
  ledger.enforce(await ledger.draftRevocation('ca', { reason: 'compromised', compromisedSince }), ...FOUR_OF_SIX);
  await home.rotateKey('ca', 4);
  await decided('ca');
  ledger.enforce(await ledger.draftRevocation('us'), ...FOUR_OF_SIX);
  await home.rotateKey('us');
  const misdated = await decided('jp', 1, { sealedAt: timestampOf(home.now + HOUR_MS) });
  const late = await record('us', 2);
  home.tick(25 * HOUR_MS);
  decide(late);
  ledger.enforce(ledger.draftRoster({ members: home.membersWith([], ['sg']) }), ...FOUR_OF_SIX);
  await decided('jp');
  await decided('eu', 2);
  await record('eu');
  return { batches, reviewed, review, elsewhere, fallen, misdated };
}

/** Checkpoints of every member that was one at a size, by the key that it has now or had then. */
class CheckpointStore {
  readonly #log: FederationLog;
  readonly #made = new Map<string, Promise<SignedCheckpoint>>();

  constructor(log: FederationLog) {
    this.#log = log;
  }

  at(size: number): Promise<SignedCheckpoint[]> {
    const log = this.#log;
    const roster = log.rosters.findLast(({ index }) => index === null || index < size) ?? log.roster(1);
    return Promise.all(
      roster.roster.members.map(({ node }) => {
        const name = `${node} ${size}`;
        const made = this.#made.get(name) ?? log.checkpoint(node, { size }, this.#keyAt(node, size));
        this.#made.set(name, made);
        return made;
      }),
    );
  }

  /** A member that gave up a key signs by the next once the revocation is in the log. */
  #keyAt(node: string, size: number) {
    const { keys } = this.#log.member(node);
    const revoked = this.#log.revocations.filter(({ revocation, index }) => revocation.node === node && index < size);
    return keys[revoked.length] ?? keys[0];
  }
}

async function byOtherKeys(home: FederationLog): Promise<Corpus['besides']> {
  const [checkpoints, keys]: [SignedCheckpoint[], SignedStatement[]] = [[], []];
  for (const { node } of home.roster().roster.members) {
    const signer = nativeSigner(seedOf(`${home.seed}/${node}/besides`));
    const terms = { validFrom: home.tick(), seqFrom: 1 };
    const { signed } = await certifyKey(node, home.member(node).identity, signer, terms);
    checkpoints.push(await home.checkpoint(node, {}, { signer, signed }));
    keys.push(signed);
  }
  return { checkpoints, keys };
}

function sizesFor({ size }: FederationLog, { index }: Subject): readonly number[] {
  const first = (index ?? 0) + 1;
  return [...new Set([first, Math.floor((first + size) / 2), size])];
}

async function bundleAt(
  home: FederationLog,
  checkpointStore: CheckpointStore,
  { sealed, i }: Subject,
  size: number,
): Promise<Bundle> {
  return bundleOf(home, sealed, i, {
    checkpoints: await checkpointStore.at(size),
    rosters: home.rosters.filter(({ index }) => index === null || index < size).length,
    revocations: home.revocations.filter(({ index }) => index < size),
    disclosed: true,
  });
}

/** Gives the newest bundle of a record reviews of it, and versions of its account's statement. */
async function withLinked(
  home: FederationLog,
  bundles: Bundle[],
  reviewed: SealedBatch,
  linked: readonly SealedBatch[],
) {
  const { head } = recordAt(reviewed, 0);
  const own = bundles.findLast(({ record }) => record.head === head);
  if (own !== undefined) bundles.push({ ...own, linked: linked.map((one) => linkedOf(home, one, 0, own)) });
}

async function foreignBundle(seed: string): Promise<Bundle[]> {
  const log = await FederationLog.create({ seed, quorum: 3 });
  const sealed = await log.record('eu', [{}, {}]);
  await log.revoke('sg');
  log.addRoster({ name: 'renamed' });
  return Promise.all([0, 1].map((i) => bundleOf(log, sealed, i, { disclosed: true })));
}
