import { hashText, type Sha256Hash, writeSha256, writeSha384 } from '../../../protocol/hash.ts';
import type { NodeId } from '../../../protocol/ids.ts';
import { type Checkpoint, checkpointStatement, type SignedCheckpoint } from '../../../protocol/log/checkpoint.ts';
import { decisionText } from '../../../protocol/log/decision.ts';
import { leafHash } from '../../../protocol/merkle/hash.ts';
import { nextBatch } from '../../../protocol/log/decision-state.ts';
import { writeLedgerMessage } from '../../../protocol/log/message.ts';
import { nameEnvelope } from '../../../protocol/log/naming.ts';
import { inclusionPath, merkleRoot } from '../../../protocol/merkle/tree.ts';
import { signStatement } from '../../../protocol/statement/statement.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { type Bundle, BUNDLE_FORMAT } from '../../../protocol/verdict/bundle.ts';
import { consensusOf } from '../../fixtures/federation-log.ts';
import { proofIn, sealDrafts, type SealedBatch } from '../../fixtures/federation-log-batch.ts';
import { newestKey } from '../../fixtures/federation-log-member.ts';
import { keyedSuite } from '../../fixtures/keyed-suite.ts';
import { NETWORK, TOPIC } from './ledger.ts';
import type { ModelMember } from './member.ts';
import type { Setting } from './setting.ts';

/** What a member does that keeps no rule. It holds its own keys and accounts, and nobody else's. */
export class Liar {
  readonly #setting: Setting;
  readonly #member: ModelMember;

  constructor(setting: Setting, member: ModelMember) {
    this.#setting = setting;
    this.#member = member;
  }

  /**
   * Another envelope for a number that it sealed before, or for its next: some members get it, and the ledger its name.
   */
  async equivocate(to: readonly NodeId[], isNamed: boolean): Promise<void> {
    const own = this.#member.ownBatches();
    const before = own.at(-2);
    const key = newestKey(this.#setting.makerOf(this.#member.node));
    const at = timestampOf(this.#setting.tick());
    const times = { from: at, submittedAt: at, sealedAt: at };
    const rival = await sealDrafts(
      {
        node: this.#member.node,
        batch: Math.max(1, own.length),
        first: before === undefined ? 1 : before.envelope.first + before.envelope.size,
        prev: before === undefined ? null : hashText(keyedSuite, before.signedEnvelope.statement),
        ...times,
        groupKey: key,
        envelopeKey: key,
        changeGroup: {},
        changeEnvelope: {},
      },
      [{ account: `acc_rival_${at}` }],
    );
    for (const node of to) this.#member.send(node, { kind: 'batches', batches: [rival] });
    if (isNamed) {
      this.#pay(nameEnvelope(keyedSuite, this.#setting.federation, rival.envelope, rival.signedEnvelope.statement));
    }
  }

  /** Names envelopes that do not exist for the next batch of a node, its own or another. */
  nameGarbage(node: NodeId): void {
    const { log } = this.#member;
    const known = log.state.members[node] ?? log.state.past[node];
    if (known === undefined) return;
    const { signer } = newestKey(this.#setting.makerOf(node));
    const named = { node, batch: nextBatch(known), keyId: signer.keyId };
    this.#pay(nameEnvelope(keyedSuite, this.#setting.federation, named, `garbage ${this.#setting.truth.length}`));
  }

  /** A roster of its own making, named alone. */
  nameRoster(text: string): void {
    const previous = this.#member.log.state.rosters.at(-1)?.hash ?? this.#setting.federation;
    const { federation } = this.#setting;
    this.#pay({ v: 2, type: 'roster', federation, previous, statement: hashText(keyedSuite, text) });
  }

  /** A point of the topic that never was, where the ledger is or past it. */
  tellFalsely(past: number): void {
    const sequence = Math.max(1, this.#setting.truth.length - 2 + past);
    const runningHash = writeSha384(keyedSuite.sha384(`false ${sequence}`));
    this.#member.tellAll({ kind: 'told', point: { sequence, runningHash } });
  }

  /** A checkpoint over another tree, or over the true one that vouches for what is not there. */
  async checkpointFalsely(isTree: boolean, ahead: number): Promise<void> {
    const { log } = this.#member;
    const size = Math.max(1, log.size + ahead - 1);
    const root = isTree || size > log.size ? writeSha256(keyedSuite.sha256(`root ${size}`)) : await log.rootAt(size);
    const vouched = Object.fromEntries(this.#setting.nodes.map((node) => [node, 1 + log.size]));
    this.#member.tellAll({ kind: 'checkpoint', signed: await this.#sign(size, root, vouched) });
  }

  /**
   * A bundle for a batch that was not decided: a decision made up at the end of its log, or in the place of another
   * one, a checkpoint of its own over that, and all true checkpoints beside it.
   */
  async makeUp(sealed: SealedBatch, isAtEnd: boolean): Promise<Bundle> {
    const { log, checkpointStore } = this.#member;
    const { truth, federation, certificates, genesisText } = this.#setting;
    const entries = [...(await log.entries(0, log.size))];
    const index = isAtEnd ? log.size : Math.max(0, log.size - 1);
    const sequence = isAtEnd ? truth.length + 1 : Math.max(1, truth.length);
    const named = nameEnvelope(keyedSuite, federation, sealed.envelope, sealed.signedEnvelope.statement);
    const text = decisionText.write({
      v: 1,
      type: 'decision',
      index,
      network: NETWORK,
      topicId: TOPIC,
      sequence: String(sequence),
      consensusTimestamp: consensusOf(Date.parse(sealed.envelope.sealedAt) + 1),
      payer: this.#setting.accountOf(sealed.node),
      message: writeLedgerMessage(named),
      runningHash: truth.pointAt(truth.length).runningHash,
    });
    entries[index] = text;
    const leaves = entries.map((entry) => leafHash(keyedSuite, entry));
    const path = inclusionPath(keyedSuite, leaves, index).map(writeSha256);
    const vouched = { [sealed.node]: sealed.batch };
    const own = await this.#sign(leaves.length, writeSha256(merkleRoot(keyedSuite, leaves)), vouched);
    const sizes = new Set([leaves.length, ...checkpointStore.all().map(({ checkpoint }) => checkpoint.size)]);
    return {
      format: BUNDLE_FORMAT,
      ...proofIn(sealed, 0),
      decision: { text, paths: [...sizes].map((size) => ({ size, path })) },
      checkpoints: [own, ...checkpointStore.shown()],
      keys: [...certificates],
      revocations: [],
      rosters: [{ text: genesisText, decision: null }],
    };
  }

  #pay(message: Parameters<typeof writeLedgerMessage>[0]): void {
    this.#setting.pay(this.#setting.accountOf(this.#member.node), message);
  }

  async #sign(size: number, root: Sha256Hash, vouched: Record<string, number>): Promise<SignedCheckpoint> {
    const { signer } = newestKey(this.#setting.makerOf(this.#member.node));
    const { federation } = this.#setting;
    const checkpoint: Checkpoint = {
      v: 1,
      type: 'checkpoint',
      federation,
      node: this.#member.node,
      keyId: signer.keyId,
      size,
      root,
      vouched,
    };
    const { statement: text, signature } = await signStatement(checkpointStatement, checkpoint, signer);
    return { text, signature };
  }
}
